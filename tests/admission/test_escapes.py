"""An editor of a profile can neither bring pods onto spot that must not be evicted, nor take the places of others' pods: each way
around, and what stops it."""

import pytest

from sandbox.tests.api import Refused
from tests.admission.bed import Bed
from tests.admission.escapes import EDITOR, ESCAPES, SPOT, Escape, pod
from tests.admission.intrusions import INTRUSIONS

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("editor")]


@pytest.mark.parametrize("escape", [*ESCAPES, *INTRUSIONS], ids=lambda escape: escape.name)
def test_every_way_is_stopped_or_harmless(bed: Bed, escape: Escape) -> None:
    assert escape.tries(bed) == escape.by


def test_the_refusal_names_rule_object_and_the_setting_to_ask_for(bed: Bed) -> None:
    with pytest.raises(Refused) as refused:
        bed.api.create(pod("notebook-0", tolerations=[SPOT]), user=EDITOR)
    for expected in ("rule tolerates-spot", "pod team-a/notebook-0", "scheduling.guard.exceptions of stack test"):
        assert expected in refused.value.message


@pytest.mark.parametrize("many", [10, 1000, 8000])
def test_the_guard_holds_for_any_number_of_tolerations(bed: Bed, many: int) -> None:
    """CEL has a budget; a policy that exceeds it must not admit the pod."""
    padding = [{"key": f"example.com/{number}", "operator": "Exists"} for number in range(many)]
    with pytest.raises(Refused) as refused:
        bed.api.create(pod("padded", tolerations=[*padding, SPOT]), user=EDITOR)
    assert "kubeflow-spot-test-guard-profiles" in refused.value.message
