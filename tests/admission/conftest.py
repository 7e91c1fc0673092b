"""One control plane a stack for all tests of admission."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.admission.bed import Bed, standing
from tests.admission.corpus import Golden, corpus
from tests.admission.escapes import ADMINISTRATOR, DEPLOYER, EDITOR, NAMESPACE
from tests.admission.observation import observe
from tests.admission.outcome import Outcome
from tests.admission.rights import cluster_role
from tests.admission.webhook import katib
from tests.examples.table import goldens
from tests.subjects import DEV, Subject


@pytest.fixture(scope="session")
def bed(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """The stack's cluster, Kubernetes 1.36. A test deletes the pods and nodes that it creates."""
    with standing(tmp_path_factory.mktemp("bed"), "1.36", subject) as bed:
        yield bed


@pytest.fixture(scope="session")
def outcomes(bed: Bed, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """The outcomes of the golden pods, and of pods of examples, that this run has tests of: all of them in one go."""
    calls = [getattr(item, "callspec", None) for item in request.session.items]
    here = [call.params for call in calls if call and call.params.get("subject") == bed.subject]
    wanted = [corpus()[name] for name in dict.fromkeys(p["name"] for p in here if p.get("name") in corpus())]
    examples = goldens(aks=bed.subject == DEV)
    wanted += [_beside(examples[name]) for name in dict.fromkeys(p.get("example") for p in here) if name in examples]
    trials = frozenset(golden.trial for golden in corpus().values() if golden.trial)
    with katib(bed.api, trials, tmp_path_factory.mktemp("webhook")) as requested:
        outcomes = observe(bed, wanted)
    assert requested or not any(golden.trial for golden in wanted)
    return outcomes


def _beside(golden: Golden) -> Golden:
    """An example's pod beside the golden pods, some of which have its names."""
    metadata = {**golden.object["metadata"], "name": f"example-{golden.object['metadata']['name']}"}
    return replace(golden, name=f"example-{golden.name}", object={**golden.object, "metadata": metadata})


@pytest.fixture(scope="module")
def editor(bed: Bed) -> Iterator[None]:
    """The user who tries, with the necessary rights."""
    group = "rbac.authorization.k8s.io"
    user = {"apiGroup": group, "kind": "User", "name": EDITOR}
    base = {"apiVersion": f"{group}/v1", "metadata": {"name": "editor", "namespace": NAMESPACE}}
    binding = {**base, "kind": "RoleBinding", "subjects": [user]}
    debug = {"apiGroups": [""], "resources": ["pods/ephemeralcontainers"], "verbs": ["patch"]}
    bodies = [
        # Kubernetes' largest role for users of a namespace; Kubeflow's own role for editors allows less.
        {**binding, "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "admin"}},
        # For `kubectl debug`, which many platforms allow.
        {**base, "metadata": {"name": "debug", "namespace": NAMESPACE}, "kind": "Role", "rules": [debug]},
        {
            **binding,
            "metadata": {"name": "debug", "namespace": NAMESPACE},
            "roleRef": {"apiGroup": group, "kind": "Role", "name": "debug"},
        },
        *cluster_role(ADMINISTRATOR, ("", "pods", "create"), ("", "nodes", "update")),
        *cluster_role(DEPLOYER, ("*", "*", "*")),
    ]
    for body in bodies:
        bed.api.create(body)
    yield
    for body in bodies:
        bed.api.delete(body)
