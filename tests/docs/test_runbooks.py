"""The form of docs/runbooks.md. Whether its commands answer what it says: tests/stacks/test_runbooks.py."""

import importlib
import shlex

import pytest

from tests.docs.runbooks import runbooks
from tests.docs.test_commands import problem
from tests.stacks import on_call


@pytest.mark.parametrize("alert", runbooks())
def test_a_runbook_has_at_most_three_commands_and_shows_what_they_answer(alert: str) -> None:
    book = runbooks()[alert]
    assert 1 <= len(book.commands) <= 3
    assert book.answers


def test_each_row_of_each_runbook_is_made_or_says_why_not() -> None:
    # Reading the tests notes the states that they make.
    importlib.import_module("tests.stacks.test_runbooks")
    made, left_out = on_call.MADE, on_call.NOT_MADE
    tried = set()
    for alert, book in runbooks().items():
        for signs in [cause.signs or ("",) for cause in book.causes] or [("",)]:
            keys = {(alert, sign) for sign in signs}
            assert keys & (made.keys() | left_out.keys()), keys
            tried |= keys
    assert sorted((made.keys() | left_out.keys()) - tried) == []
    assert sorted(alert for (alert, _), shown in made.items() if shown) == sorted(runbooks())


@pytest.mark.process
def test_the_commands_of_cures_are_ones_that_kubectl_knows() -> None:
    cures = {
        command
        for book in runbooks().values()
        for row in [None, *range(len(book.causes))]
        for command in book.cures(row)
        if command.startswith("kubectl")
    }
    assert len(cures) > 5
    assert [said for command in sorted(cures) if (said := problem(*shlex.split(command)))] == []


def test_answers_are_compared_with_any_text_in_place_of_dots() -> None:
    book = runbooks()["SpotGone"]
    answer = """aks-t4-12345678-vmss
      errorCode:   cloudProviderError
      errorMessage: |-
        failed to increase node group size: PUT https://management.azure.com/...
        ERROR CODE: SkuNotAvailable"""
    assert book.missing(answer) == []
    assert book.missing(answer.replace("aks-t4-", "aks-t5-")) == ["aks-t4-...-vmss"]
    assert [book.cause_of(text) for text in (answer, "LowPriorityCores quota", "timeout", "")] == [1, 0, 2, None]
