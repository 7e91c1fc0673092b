"""The checked-in stacks: promises to their readers."""

from __future__ import annotations

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
from tests.config.stack_files import places_of_keys, settings, without

PROJECT = Path(__file__).parents[2]
STACKS = {path.stem.removeprefix("Pulumi."): path for path in PROJECT.glob("Pulumi.*.yaml")}
every_stack = pytest.mark.parametrize("stack", sorted(STACKS))


def stack_of(stack: str) -> ClusterSpec:
    return spec(settings(STACKS[stack]))


def meant(stack: ClusterSpec) -> dict[str, Any]:
    """All that follows from a stack file, with defaults in place of what it leaves out."""
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
