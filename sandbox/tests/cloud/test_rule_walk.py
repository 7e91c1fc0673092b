"""A walk over the rules of each emulated cloud: each rule refuses its row's request and accepts a similar one.

The rows stand in `sandbox/tests/azure/walk` and `sandbox/tests/gcp/walk`. The end of `test_rule` is the proof: with the rule
taken out the same request is accepted, or refused for another reason. A refusal is marked "(as the sandbox reads it)" exactly
where its row says that no source confirms it.

Elsewhere: what a provider's own check refuses (`test_provider`, `test_check`), quotas (`test_quotas`), rules that
stand in no table (`test_networks`, `test_monitoring`, `test_maintenance`, `test_identity`). No rule covers eTags
(azure-native sends none) and machines that a region runs out of (an event, not a refusal of a request). No user sees the
refusal of a busy GKE cluster: the provider tries again for two hours (terraform-provider-google-beta, services/container).
"""

import shutil
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest

from sandbox.cloud import emulated_cloud, state
from sandbox.tests.azure.walk.world import WALK as AZURE
from sandbox.tests.gcp.walk.world import WALK as GCP
from sandbox.tests.rule_walk import READING, Row, Walk

WALKS = pytest.mark.parametrize("walk", [AZURE, GCP], ids=lambda walk: walk.cloud)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("walk")


@pytest.fixture(scope="module")
def world(place: Path) -> Callable[[Walk], Path]:
    """Return the state of a cloud in which the rows begin."""

    def built(walk: Walk) -> Path:
        file = place / f"{walk.cloud}-world.json"
        if not file.exists():
            walk.build(walk.caller(file))
        return file

    return built


@pytest.mark.parametrize(
    ("walk", "row"), [pytest.param(walk, row, id=f"{walk.cloud}: {row}") for walk in (AZURE, GCP) for row in walk.rows]
)
def test_rule(
    walk: Walk, row: Row, world: Callable[[Walk], Path], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No other process works on this state; its locks would take a tenth of the time.
    for module in (state, emulated_cloud):
        monkeypatch.setattr(module, "FileLock", lambda *_, **__: nullcontext())
    file = place / f"{walk.cloud}.json"
    shutil.copy(world(walk), file)
    caller = walk.caller(file)
    for step in row.before:
        step(caller)
    before = file.read_text()
    assert row.bad
    assert row.good
    refused = walk.refused(caller, row.bad)
    assert refused is not None
    code = row.code or walk.code
    assert refused.code == code
    assert row.text in refused.text
    assert refused.marked == (not row.confirmed)
    assert (file.read_text() == before) or row.late
    file.write_text(before)
    assert walk.refused(caller, *row.good) is None
    file.write_text(before)
    walk.take_out(row.rule, monkeypatch)
    missed = walk.refused(caller, row.bad)
    assert missed is None or missed.code != code or row.text not in missed.text


@WALKS
def test_every_rule_has_a_row_and_every_row_a_name_of_its_own(walk: Walk) -> None:
    assert walk.rules() <= {row.rule for row in walk.rows}
    assert len({row.name for row in walk.rows}) == len(walk.rows)


@WALKS
def test_every_confirmed_row_names_its_source(walk: Walk) -> None:
    assert [row.name for row in walk.rows if row.source in ("", READING) and row.confirmed] == []
