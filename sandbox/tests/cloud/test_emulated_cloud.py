"""The behaviour that all emulated clouds share, on each of them."""

from __future__ import annotations

import pytest

from sandbox.cloud.node_groups import ScaleRefused
from sandbox.cloud.provider import Refused
from sandbox.tests.spot_bed import Bed


def fail(call: str) -> None:
    raise OSError("no space left")


@pytest.mark.parametrize("kind", ["cluster", "pool"])
def test_a_deletion_that_fails_on_this_machine_is_refused_and_can_be_repeated(bed: Bed, kind: str) -> None:
    cloud, id = bed.cloud, bed.cluster if kind == "cluster" else bed.id()
    bed.runtime.before = fail
    with pytest.raises(Refused, match="no space left"):
        cloud.delete(id)
    body = cloud.get(id)
    assert body is not None
    assert body[cloud.states.field] == cloud.states.failed
    bed.runtime.before = lambda call: None
    cloud.delete(id)
    assert cloud.get(id) is None
    assert cloud.get(bed.id()) is None


def test_a_missing_pool_is_refused_with_the_names_of_the_others(bed: Bed) -> None:
    with pytest.raises(ScaleRefused, match=r"has no pool no; it has .*spot"):
        bed.cloud.scale(bed.cluster, "no", 1)


def test_the_autoscaler_of_a_missing_cluster_sees_no_pools(bed: Bed) -> None:
    assert "spot" in [group.pool for group in bed.cloud.node_groups(bed.cluster).groups]
    assert bed.cloud.node_groups(f"{bed.cluster}-other").groups == []


def test_every_property_that_is_set_out_of_band_is_an_input(bed: Bed) -> None:
    assert {"name", "tags"} & set(bed.cloud.settable(bed.cluster))
    with pytest.raises(KeyError):
        bed.cloud.settable(f"{bed.cluster}-other")
