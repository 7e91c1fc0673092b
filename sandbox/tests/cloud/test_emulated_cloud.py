"""The behaviour that all emulated clouds share, on each of them."""

import pytest

from sandbox.cloud.node_groups import ScaleRefused
from sandbox.cloud.provider import Refused
from sandbox.tests.spot_bed import Bed

KINDS = pytest.mark.parametrize("kind", ["pool", "cluster", "group"])


def going(bed: Bed, kind: str) -> str:
    """Return the id of the pool, of its cluster, or of Azure's resource group; in Google Cloud a cluster is in none."""
    return {"pool": bed.id(), "cluster": bed.cluster, "group": bed.cluster.partition("/providers/")[0]}[kind]


def state(bed: Bed, kind: str) -> str:
    """Return the state of what is deleted, or of the cluster in it."""
    body = bed.cloud.get(bed.id() if kind == "pool" else bed.cluster) or {}
    return str(body[bed.cloud.states.field])


@KINDS
def test_a_deletion_that_fails_on_this_machine_is_refused_and_can_be_repeated(bed: Bed, kind: str) -> None:
    bed.cloud.grow(bed.id(), 2)
    bed.runtime.fails(OSError("no route to host"))
    with pytest.raises(Refused, match="no route to host"):
        bed.cloud.delete(going(bed, kind))
    assert state(bed, kind) == bed.cloud.states.failed
    bed.cloud.delete(going(bed, kind))
    assert bed.cloud.get(going(bed, kind)) is None
    assert bed.cloud.get(bed.id()) is None
    assert not any("-spot-" in name for name in bed.runtime.names())


@KINDS
def test_a_deletion_that_was_killed_is_finished_by_the_next_command(bed: Bed, kind: str) -> None:
    bed.cloud.grow(bed.id(), 2)
    bed.runtime.fails(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        bed.cloud.delete(going(bed, kind))
    assert state(bed, kind) == bed.cloud.states.deleting
    # A command for another pool does not bring its nodes back.
    bed.cloud.apply_nodes(bed.cluster)
    assert kind != "pool" or not any("-spot-" in name for name in bed.runtime.names())
    bed.cloud.reconcile()
    assert bed.cloud.get(bed.id()) is None
    assert (bed.cloud.get(bed.cluster) is None) == (kind != "pool")
    assert not any("-spot-" in name for name in bed.runtime.names())


def test_a_size_that_no_pool_can_take_is_refused(bed: Bed) -> None:
    most = next(status.most for status in bed.cloud.pools() if status.pool == "spot") or 0
    for cluster, pool, count, text in (
        ("no", "spot", 1, "there is no cluster no"),
        (bed.cluster, "no", 1, r"has no pool no; it has .*spot"),
        (bed.cluster, "spot", most + 1, f"pool spot takes 0 to {most} nodes, not {most + 1}"),
        (bed.cluster, "spot", -1, f"takes 0 to {most} nodes"),
    ):
        with pytest.raises(ScaleRefused, match=text):
            bed.cloud.scale(cluster, pool, count)
    assert f"takes 0 to {most} nodes, not {most + 1}" in bed.refused(most + 1)
    assert bed.refused(1, "no") == "there is no pool no"
    with pytest.raises(ScaleRefused, match="there is no pool no"):
        bed.cloud.remove(bed.id("no"), [])


def test_the_autoscaler_of_a_missing_cluster_sees_no_pools(bed: Bed) -> None:
    assert "spot" in [group.pool for group in bed.cloud.node_groups(bed.cluster).groups]
    assert bed.cloud.node_groups(f"{bed.cluster}-other").groups == []


def test_a_type_that_is_not_emulated_is_refused(bed: Bed) -> None:
    with pytest.raises(Refused, match=r"does not emulate other:place:Thing; it knows .*, "):
        bed.cloud.types["other:place:Thing"]


def test_every_property_that_is_set_out_of_band_is_an_input(bed: Bed) -> None:
    assert {"name", "tags"} & set(bed.cloud.settable(bed.cluster))
    with pytest.raises(KeyError):
        bed.cloud.settable(f"{bed.cluster}-other")
