"""Preflight on recorded answers: a good account is ready, and each broken one is named by its defect alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from checks.findings import Exit, Finding, State, exit_status
from checks.preflight import clouds
from tests.checks.preflight.accounts import CASES, account
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


@pytest.mark.parametrize("name", CASES)
def test_each_account_is_named_by_its_defect_and_nothing_else(name: str) -> None:
    cloud, file, steps, check, *words = CASES[name]
    every = clouds.findings(account(cloud, file, steps))
    found = _bad(every)
    named, _, state = check.partition(": ")
    assert {(finding.check, finding.state) for finding in found} == (
        {(named, state or State.WRONG)} if check else set()
    )
    assert all(finding.remedy for finding in found)
    said = [finding.says for finding in found or every if found or finding.state == State.NOTE]
    for word in words[0] if words and isinstance(words[0], list) else words:
        assert any(word in text for text in said), (word, said)


@pytest.mark.parametrize(
    ("cloud", "part", "check"),
    [
        *(("azure", "skus", "machines"), ("azure", "usages", "quota"), ("azure", "versions", "version")),
        *(("azure", "providers", "registered"), ("azure", "permissions", "permissions"), ("azure", "cluster", "names")),
        *(("gcp", "region", "machines"), ("gcp", "project", "quota"), ("gcp", "serverConfig", "version")),
        *(("gcp", "services", "registered"), ("gcp", "granted", "permissions"), ("gcp", "cluster", "names")),
        ("gcp up", "europe-west4-a/gke-ml-staging-l4-a-grp", "quota"),
    ],
)
def test_a_missing_right_is_reported_and_never_guessed(cloud: str, part: str, check: str) -> None:
    given = account(*cloud.split()[:1], steps=cloud.split()[1:])
    given = replace(given, parts={k: v for k, v in given.parts.items() if k != part}, unseen={part: "403 Forbidden"})
    found = _bad(clouds.findings(given))
    assert {finding.state for finding in found} == {State.UNSEEN}
    assert check in {finding.check for finding in found}
    assert all(f"{part}: 403 Forbidden" in finding.says and finding.remedy for finding in found)
    assert exit_status(clouds.findings(given)) == Exit.UNSEEN


@pytest.mark.parametrize(
    ("cloud", "patch", "says"),
    [
        (
            "azure",
            {"usages": {"lowPriorityCores": {"limit": 16}}},
            "lowPriorityCores has 16 vCPUs left; t4 at maxNodes need 32",
        ),
        (
            "azure",
            {"usages": {"Standard NCASv3_T4 Family": None}},
            "Standard NCASv3_T4 Family is not listed; t4od draw 4 to 40 vCPUs from it",
        ),
        # Pools of a chain are alternatives.
        (
            "gcp",
            {"region": {"quotas": {"PREEMPTIBLE_NVIDIA_L4_GPUS": {"limit": 1}}}},
            "PREEMPTIBLE_NVIDIA_L4_GPUS has 1 GPUs left; one node of each of l4, l4big at the same time needs 2",
        ),
    ],
)
def test_a_quota_for_some_of_the_nodes_is_a_note_and_no_defect(cloud: str, patch: dict[str, Any], says: str) -> None:
    (note,) = (f for f in clouds.findings(account(cloud, steps=[patch])) if f.state == State.NOTE)
    assert note.says == says
