"""Kubernetes 1.35, which has no MutatingAdmissionPolicy: pods stay unchanged, and the guard is in force."""

from collections.abc import Iterator

import pytest

from sandbox.tests.api import Refused
from sandbox.tests.policies_in_force import serves_mutating_policies
from sandbox.tests.subjects import Subject
from tests.admission.additions import Added, added, plain
from tests.admission.bed import Bed, standing
from tests.admission.corpus import corpus
from tests.admission.escapes import pod, with_container, with_metadata

pytestmark = [pytest.mark.engine, pytest.mark.repeats]

REFUSED = {name: golden for name, golden in corpus().items() if golden.expect.refused}


@pytest.fixture(scope="module")
def older(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    with standing(tmp_path_factory.mktemp("older"), "1.35", subject) as bed:
        yield bed


def test_no_default_is_declared_and_none_is_applied(older: Bed) -> None:
    assert not serves_mutating_policies(older.api)
    kinds = {body["kind"] for body in older.objects}
    assert "ValidatingAdmissionPolicy" in kinds
    assert "MutatingAdmissionPolicy" not in kinds
    worker = pod("worker", restart="Never", labels={"training.kubeflow.org/replica-type": "worker"})
    worker = with_container(worker, resources={"limits": {"nvidia.com/gpu": "1"}})
    bodies = [with_metadata(worker, namespace=namespace) for namespace in ("unmatched", "team-a")]
    before, after = (plain(older.api.create(body, dry_run=True)["spec"]) for body in bodies)
    assert added(before, after) == Added()


@pytest.mark.parametrize("name", REFUSED)
def test_the_guard_refuses_the_same_pods(name: str, older: Bed) -> None:
    golden = REFUSED[name]
    with pytest.raises(Refused, match=f"rule {golden.expect.refused}: "):
        older.api.create(golden.object, user=golden.user, dry_run=True)
