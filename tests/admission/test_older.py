"""Kubernetes 1.35, which has no MutatingAdmissionPolicy: pods stay unchanged, and the guard is in force."""

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.tests.api import Refused
from sandbox.tests.subjects import Subject
from tests.admission.additions import Added, added, plain
from tests.admission.bed import Bed, standing
from tests.admission.corpus import corpus

pytestmark = [pytest.mark.engine, pytest.mark.repeats]

REFUSED = {name: golden for name, golden in corpus().items() if golden.expect.refused}


@pytest.fixture(scope="module")
def older(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    with standing(tmp_path_factory.mktemp("older"), "1.35", subject) as bed:
        yield bed


def test_no_default_is_declared_and_none_is_applied(older: Bed) -> None:
    assert not older.serves_mutating_policies()
    kinds = {body["kind"] for body in older.objects}
    assert "ValidatingAdmissionPolicy" in kinds
    assert "MutatingAdmissionPolicy" not in kinds
    container: dict[str, Any] = {"name": "main", "image": "image", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    labels = {"training.kubeflow.org/replica-type": "worker"}
    specs = []
    for namespace in ("unmatched", "team-a"):
        metadata = {"name": "worker", "namespace": namespace, "labels": labels}
        spec = {"restartPolicy": "Never", "containers": [container]}
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        specs.append(plain(older.api.create(pod, dry_run=True)["spec"]))
    assert added(*specs) == Added()


@pytest.mark.parametrize("name", REFUSED)
def test_the_guard_refuses_the_same_pods(name: str, older: Bed) -> None:
    golden = REFUSED[name]
    with pytest.raises(Refused, match=f"rule {golden.expect.refused}: "):
        older.api.create(golden.object, user=golden.user, dry_run=True)
