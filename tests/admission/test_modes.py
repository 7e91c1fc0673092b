"""A guard that only warns, and exceptions from the guard in the stack file."""

from collections.abc import Iterator

import pytest

from tests.admission.bed import Bed
from tests.admission.escapes import TOLERANT, pod, with_metadata

pytestmark = pytest.mark.engine

SCORER = {"app": "scorer", "tier": "batch"}
EXCEPTION = {"namespace": "team-a", "selector": SCORER, "reason": "a restart\n  costs a minute"}


@pytest.fixture(scope="module")
def warning(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    guard = {"mode": "warn", "exceptions": [EXCEPTION, {**EXCEPTION, "namespace": "kubeflow", "selector": {"a": "b"}}]}
    with bed.otherwise(tmp_path_factory.mktemp("warning"), scheduling={"guard": guard}):
        yield bed


def test_a_warning_has_the_text_of_the_refusal_and_admits_the_pod(warning: Bed) -> None:
    (warned,) = warning.api.warnings(pod("notebook-0", **TOLERANT))
    assert "rule tolerates-spot: pod team-a/notebook-0" in warned


@pytest.mark.parametrize(
    ("labels", "namespace", "passes"),
    [
        (SCORER, "team-a", True),
        ({**SCORER, "more": "labels"}, "team-a", True),
        ({"app": "scorer"}, "team-a", False),
        ({**SCORER, "tier": "online"}, "team-a", False),
        # The exception is for one namespace; its labels have no effect elsewhere.
        (SCORER, "team-b", False),
        (SCORER, "kubeflow", False),
        ({"a": "b"}, "kubeflow", True),
        ({"a": "b"}, "team-a", False),
    ],
)
def test_an_exception_applies_to_its_namespace_and_all_its_labels(
    warning: Bed, labels: dict[str, str], namespace: str, passes: bool
) -> None:
    body = with_metadata(pod("scorer-0", labels=labels, **TOLERANT), namespace=namespace)
    assert (warning.api.warnings(body) == []) == passes
