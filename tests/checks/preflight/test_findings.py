"""Preflight on recorded answers: a good account is ready, and each broken one is named by its defect alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from checks.findings import Exit, Finding, State, exit_status
from checks.preflight import clouds
from tests.checks.preflight.broken import BROKEN
from tests.checks.preflight.recorded import STACKS, answers


def _bad(found: list[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.state in (State.WRONG, State.UNSEEN)]


@pytest.mark.parametrize("cloud", STACKS)
def test_a_good_account_is_ready_and_every_check_says_so(cloud: str) -> None:
    found = clouds.findings(answers(cloud))
    assert _bad(found) == []
    assert exit_status(found) == Exit.READY
    assert {finding.check for finding in found if finding.state == State.OK} == {
        *("machines", "reservations", "quota", "spot", "version", "registered", "permissions", "names", "bucket")
    }
    assert all(finding.source for finding in found)


@pytest.mark.parametrize(
    ("cloud", "name", "spoil", "check", "words"), BROKEN, ids=[f"{row[0]}-{row[1]}" for row in BROKEN]
)
def test_each_broken_account_is_named_by_its_defect_and_nothing_else(
    cloud: str, name: str, spoil: Callable[[dict[str, Any]], Any], check: str, words: tuple[str, ...]
) -> None:
    given = answers(cloud)
    spoil(given.parts)  # type: ignore[arg-type]
    found = _bad(clouds.findings(given))
    assert {(finding.check, finding.state) for finding in found} == {(check, State.WRONG)}, found
    for word in words:
        assert any(word in finding.says for finding in found), (word, found)
    assert all(finding.remedy for finding in found)


def test_there_are_fifteen_broken_accounts_of_a_kind() -> None:
    assert len(BROKEN) >= 15
    assert len({(row[3], row[4]) for row in BROKEN}) == len(BROKEN)


@pytest.mark.parametrize(
    ("cloud", "part", "check"),
    [
        *(
            ("azure", part, check)
            for part, check in {"skus": "machines", "usages": "quota", "versions": "version"}.items()
        ),
        *(("azure", part, check) for part, check in {"providers": "registered", "permissions": "permissions"}.items()),
        *(
            ("gcp", part, check)
            for part, check in {"region": "machines", "project": "quota", "serverConfig": "version"}.items()
        ),
        *(("gcp", part, check) for part, check in {"services": "registered", "granted": "permissions"}.items()),
        *((cloud, "cluster", "names") for cloud in STACKS),
    ],
)
def test_a_missing_right_is_reported_and_never_guessed(cloud: str, part: str, check: str) -> None:
    given = answers(cloud)
    given = replace(given, parts={k: v for k, v in given.parts.items() if k != part}, unseen={part: "403 Forbidden"})
    found = [finding for finding in clouds.findings(given) if finding.state in (State.WRONG, State.UNSEEN)]
    assert {finding.state for finding in found} == {State.UNSEEN}
    assert check in {finding.check for finding in found}
    assert all(f"{part}: 403 Forbidden" in finding.says and finding.remedy for finding in found)
    assert exit_status(clouds.findings(given)) == Exit.UNSEEN


def test_less_than_all_pools_at_their_bounds_is_a_note_and_no_defect() -> None:
    given = answers("azure")
    next(item for item in given.part("usages") if item["name"]["value"] == "lowPriorityCores")["limit"] = 16
    (note,) = [finding for finding in clouds.findings(given) if finding.state == State.NOTE]
    assert note.says == "lowPriorityCores has 16 vCPUs left; t4 at maxNodes need 32"


def test_an_unlisted_quota_is_a_note() -> None:
    given = answers("azure")
    given.part("usages").pop()
    (note,) = [finding for finding in clouds.findings(given) if finding.state == State.NOTE]
    assert note.says.startswith("Standard NCASv3_T4 Family is not listed; t4od draw 4 to 40 vCPUs")


def test_pools_of_a_chain_are_alternatives_for_a_quota() -> None:
    given = answers("gcp")
    for quota in given.part("region")["quotas"]:
        if quota["metric"] == "PREEMPTIBLE_NVIDIA_L4_GPUS":
            quota["limit"] = 1
    (note,) = [finding for finding in clouds.findings(given) if finding.state == State.NOTE]
    assert note.says == (
        "PREEMPTIBLE_NVIDIA_L4_GPUS has 1 GPUs left; one node of each of l4, l4big at the same time needs 2"
    )
