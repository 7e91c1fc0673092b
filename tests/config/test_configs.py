"""The stack files of tests/configs: each happy one is good, each error row is bad for its one reason. The checked-in stacks."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from config import releases
from config.clouds import registry
from config.model.spec import ClusterSpec
from config.placement import node_pools
from config.stack_file import loader
from tests.config.stack import spec
from tests.config.stack_files import (
    CONFIGS,
    ERRORS,
    HAPPY,
    ErrorRow,
    Wanted,
    happy_warnings,
    places_of_keys,
    settings,
    without,
)

GOOGLE = [row for row in ERRORS if row.base.startswith("gke-")]
WHOLE = "nothing"
"""The base of rows that are whole files, of ten mistakes each."""


def is_accepted(raw: dict[str, Any], errors: list[Wanted], warnings: list[Wanted]) -> bool:
    """Return whether the loader accepts a stack file, which must report these errors and warnings, and no other."""
    spec, problems = loader.read_stack(raw)
    for warning, wanted in ((False, errors), (True, warnings)):
        reported = [problem for problem in problems if problem.warning == warning]
        assert [problem.path for problem in reported] == [path for path, *_ in wanted], reported
        for problem, (_, what, remedy) in zip(reported, wanted, strict=True):
            assert problem.what.startswith(what), problem
            assert problem.remedy, problem
            assert remedy in problem.remedy, problem
    return spec is not None


@pytest.mark.parametrize("path", HAPPY, ids=lambda path: path.name)
def test_a_happy_file_has_no_error_and_exactly_the_warnings_it_names(path: Path) -> None:
    assert is_accepted(settings(path), [], happy_warnings(path.name.removesuffix(".happy.yaml")))


@pytest.mark.parametrize("row", ERRORS, ids=str)
def test_an_error_row_has_exactly_the_problems_it_names(row: ErrorRow) -> None:
    assert not is_accepted(row.settings(), row.problems, row.warnings)


def test_an_error_row_is_near_a_happy_file_and_has_one_reason() -> None:
    for row in ERRORS:
        if row.base != WHOLE:
            assert 1 <= len(row.set) + len(row.removes) <= 3, row
            assert len(row.problems) == 1, row


def test_a_file_with_ten_mistakes_reports_all_ten() -> None:
    assert [len(row.problems) for row in ERRORS if row.base == WHOLE] == [10, 10]


def test_no_row_hides_another_of_the_same_name() -> None:
    texts = [path.read_text() for path in CONFIGS.glob("errors/*.yaml")]
    assert len({str(row) for row in ERRORS}) == sum(text.count("\n    expect:") for text in texts)


def test_there_are_many_of_both() -> None:
    google = [path for path in HAPPY if path.name.startswith("gke-")]
    assert len(HAPPY) - len(google) >= 20
    assert len(ERRORS) - len(GOOGLE) >= 60
    assert len(google) >= 15
    assert len(GOOGLE) >= 60
    assert {path.name for path in CONFIGS.iterdir() if path not in HAPPY} == {"errors", "existing.cloud.yaml"}


PROJECT = Path(__file__).parents[2]
STACKS = {path.stem.removeprefix("Pulumi."): path for path in PROJECT.glob("Pulumi.*.yaml")}
every_stack = pytest.mark.parametrize("stack", sorted(STACKS))


def stack_of(stack: str) -> ClusterSpec:
    return spec(settings(STACKS[stack]))


def meant(stack: ClusterSpec) -> dict[str, Any]:
    """Return all that follows from a stack file, with defaults in place of what it leaves out."""
    cloud = registry.cloud_of(stack.cloud)
    pools = [asdict(pool) | {"source": None} for pool in node_pools.node_pools(stack, cloud)]
    written = [pool.model_dump(exclude={"min_nodes"}) for pool in stack.pools]
    # minNodes of a pool is among what follows.
    return {**stack.model_dump(exclude={"pools"}), "written": written, "pools": pools}


def test_there_are_three_stacks() -> None:
    assert sorted(STACKS) == ["dev", "prod", "staging"]


@every_stack
def test_a_stack_writes_no_default(stack: str) -> None:
    raw = settings(STACKS[stack])
    whole = meant(spec(raw))
    idle = []
    for place in places_of_keys(raw):
        shortened, _ = loader.read_stack(without(raw, place))
        if shortened is not None and meant(shortened) == whole:
            idle.append(place)
    assert idle == []


def test_a_copied_default_is_detected() -> None:
    raw = settings(STACKS["dev"])
    whole = meant(spec(raw))
    raw["cloud"]["tier"] = "Free"
    raw["systemPool"]["minNodes"] = 2
    raw["pools"][0]["minNodes"] = 1
    assert meant(spec(raw)) == whole


@every_stack
def test_a_stack_is_tagged_with_its_owner_and_its_environment(stack: str) -> None:
    tags = stack_of(stack).cluster.tags
    assert tags["environment"] == stack
    assert tags["owner"]


@every_stack
def test_only_dev_may_be_on_the_candidate(stack: str) -> None:
    release = stack_of(stack).release
    assert release.released or stack == "dev"


def test_releases_reach_dev_first_and_prod_last() -> None:
    dev, staging, prod = (stack_of(stack).release.name for stack in ("dev", "staging", "prod"))
    assert not releases.newer(prod, staging)
    assert not releases.newer(staging, dev)


def test_prod_is_guarded_where_dev_is_not() -> None:
    dev, prod = stack_of("dev"), stack_of("prod")
    assert (dev.cluster.protect, prod.cluster.protect) == (False, True)
    assert prod.cloud.access.authorized_ranges or prod.cloud.access.private  # type: ignore[union-attr]
    assert not prod.cloud.access.local_accounts  # type: ignore[union-attr]
    assert (dev.cloud.tier, prod.cloud.tier) == ("Free", "Standard")  # type: ignore[union-attr]
    assert max(pool.max_nodes or 0 for pool in prod.pools) > max(pool.max_nodes or 0 for pool in dev.pools)


@every_stack
def test_the_only_warnings_are_about_values_that_a_user_replaces(stack: str) -> None:
    warned = [problem.path for problem in loader.read_stack(settings(STACKS[stack]), stack)[1]]
    asked = ["cloud.access.authorizedRanges[0]", "cloud.encryption.kms", "systemPool.azure.secureBoot"]
    assert warned == (asked if stack == "prod" else [])
