"""Capacity reservation groups that pools name: whether they are there, and reserve the pool's
machine."""

from __future__ import annotations

from collections.abc import Iterator

from checks.check import NotSeen, Remark, note, ok, some, wrong
from checks.preflight.answers import Answers
from checks.preflight.demand import Need

_NO_ZONE = ""


def _shown(zones: set[str]) -> str:
    return " and ".join(f"zone {zone}" if zone else "no zone" for zone in sorted(zones))


def reservations(answers: Answers) -> Iterator[Remark]:
    """Check each pool's capacity reservation group."""
    needs, fine = [need for need in answers.demand.needs if need.reserved], []
    for need in needs:
        remarks = list(_of_pool(answers, need))
        yield from remarks
        fine += [] if remarks else [need.pool]
    if fine:
        yield ok(f"the capacity reservation groups of {some(fine)} hold their machines")
    elif not needs:
        yield ok("no pool names a capacity reservation group")


def _of_pool(answers: Answers, need: Need) -> Iterator[Remark]:
    if need.reservation in answers.unseen:
        raise NotSeen(f"{need.reservation}: {answers.unseen[need.reservation]}")
    found, name = (
        answers.part("reservations").get(need.reservation),
        need.reservation.rpartition("/")[2],
    )
    if found is None:
        yield wrong(
            f"there is no capacity reservation group {name}, which pool {need.pool} names",
            "correct `reservation`: az capacity reservation group list",
        )
        return
    mine = [
        item
        for item in found
        if str((item.get("sku") or {}).get("name")).lower() == need.machine.lower()
    ]
    if not mine:
        # Page use-capacity-reservation-groups: a pool of an empty group is made without it, with a
        # warning alone.
        yield wrong(
            f"capacity reservation group {name} reserves no {need.machine}, which pool"
            f" {need.pool} takes from it",
            f"az capacity reservation create --resource-group {need.reservation.split('/')[4]}"
            f" --capacity-reservation-group {name}"
            f" --name {need.pool} --sku {need.machine} --capacity"
            f" {need.most}{' --zone ' + need.zones[0] if need.zones else ''}",
        )
        return
    # A machine takes a reservation of its own zone; one without a zone takes one without (page
    # capacity-reservation-overview).
    wanted = set(need.zones) or {_NO_ZONE}
    reserved = {zone for item in mine for zone in item.get("zones") or (_NO_ZONE,)}
    if not wanted & reserved:
        yield wrong(
            f"capacity reservation group {name} reserves {need.machine} in {_shown(reserved)},"
            f" and pool {need.pool} has nodes in"
            f" {_shown(wanted)}: they take none of it",
            f"write `zones: [{', '.join(sorted(reserved - {_NO_ZONE}))}]` in the pool, or reserve"
            " there",
        )
        return
    if lacking := wanted - reserved:
        yield note(
            f"capacity reservation group {name} reserves no {need.machine} in {_shown(lacking)},"
            " where pool"
            f" {need.pool} gets ordinary machines",
            "reserve there too, or leave the zone out of the pool's `zones`",
        )
    mine = [item for item in mine if wanted & set(item.get("zones") or (_NO_ZONE,))]
    count = sum(int((item.get("sku") or {}).get("capacity") or 0) for item in mine)
    if count < need.most:
        yield note(
            f"capacity reservation group {name} has {count} {need.machine}, and pool {need.pool}"
            f" may have {need.most} nodes:"
            " beyond them AKS tries to get ordinary machines",
            "reserve more, or lower `maxNodes`",
        )
