"""One control plane a stack for all tests of admission."""

from collections.abc import Iterator

import pytest

from sandbox.tests.subjects import Subject
from tests.admission.bed import Bed, standing
from tests.admission.escapes import ADMINISTRATOR, DEPLOYER, EDITOR, NAMESPACE
from tests.admission.rights import cluster_role
from tests.examples import crds


@pytest.fixture(scope="package")
def bed(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """Yield the stack's cluster, Kubernetes 1.36. A test deletes the pods and nodes that it creates."""
    with standing(tmp_path_factory.mktemp("bed"), "1.36", subject) as bed:
        yield bed


@pytest.fixture(scope="module")
def editor(bed: Bed) -> Iterator[None]:
    """Give the user who tries the necessary rights."""
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
    with bed.api.created(*bodies):
        yield


@pytest.fixture(scope="module")
def definitions(bed: Bed) -> Iterator[None]:
    """Serve the CustomResourceDefinitions of the examples."""
    crds.install(bed.api)
    yield
    crds.remove(bed.api, list(crds.definitions()))
