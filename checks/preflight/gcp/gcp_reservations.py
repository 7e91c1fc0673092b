"""Reservations of Compute Engine that pools name: whether they are there, and hold the pool's
machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from checks.check import Remark, note, ok, some, wrong
from checks.preflight.answers import Answers, Document
from checks.preflight.demand import Need
from checks.preflight.gcp.machines import entry, last_part, offered_zones, settings
from config.clouds.gcp.gcp_tables import accelerator


class Reservation(NamedTuple):
    """What a pool's `reservation` names, without a block of it."""

    project: str
    name: str


def reservation_named(text: str, project: str) -> Reservation:
    """Read a stack file's `reservation` (forms: `gcp_pool_rules`); `project` is the cluster's."""
    whole = text if text.startswith("projects/") else f"projects/{project}/reservations/{text}"
    parts = whole.split("/")
    return Reservation(parts[1], parts[3])


def reservations(answers: Answers) -> Iterator[Remark]:
    """Check each pool's reservation in the zones of its nodes."""
    cloud, fine = settings(answers), []
    offered = offered_zones(cloud, answers.part("region"))
    for need in answers.demand.needs:
        if need.reserved:
            remarks = list(_of_pool(answers, need, need.zones or offered))
            yield from remarks
            fine += [] if remarks else [need.pool]
    if fine:
        yield ok(f"the reservations of {some(fine)} hold their machines")
    elif not any(need.reserved for need in answers.demand.needs):
        yield ok("no pool names a reservation")


def _of_pool(answers: Answers, need: Need, zones: tuple[str, ...]) -> Iterator[Remark]:
    project, name = reservation_named(need.reservation, settings(answers).project)
    there = {
        zone: found
        for zone in zones
        if (found := entry(answers, "reservations", zone, need.reservation))
    }
    if not there:
        yield wrong(
            f"project {project} has no reservation {name}, which pool {need.pool} names, in"
            f" {some(zones)}",
            "correct `reservation` or `zones`: gcloud compute reservations list --project"
            f" {project}",
        )
        return
    lacking = [zone for zone in zones if zone not in there]
    if lacking:
        yield note(
            f"there is no reservation {name} in {some(lacking)}, where pool {need.pool} gets no"
            " node then",
            f"write `zones: [{', '.join(sorted(there))}]` in the pool, or reserve under the name"
            " in each zone",
        )
    for zone, found in sorted(there.items()):
        yield from _of_zone(need, f"reservation {name} in {zone}", found)
    held = [
        found["specificReservation"] for found in there.values() if found.get("specificReservation")
    ]
    count = sum(int(machines.get("count") or 0) for machines in held)
    if held and count < need.most:
        yield note(
            f"reservation {name} has {count} machines, and pool {need.pool} may have {need.most}"
            " nodes",
            "reserve more, or lower `maxNodes`",
        )


def _of_zone(need: Need, what: str, found: Document) -> Iterator[Remark]:
    # The page consuming-reservations names reservations with this flag only; others are anybody's.
    if not found.get("specificReservationRequired"):
        yield wrong(
            f"{what} is taken by any machine that fits, and pool {need.pool} names it",
            "make it anew with --require-specific-reservation",
        )
    properties = (found.get("specificReservation") or {}).get("instanceProperties") or {}
    machine = last_part(properties.get("machineType") or "")
    if machine and machine != need.machine:
        yield wrong(
            f"{what} is of {machine}, and pool {need.pool} of {need.machine}",
            "name another, or that machine",
        )
        return
    held = {
        last_part(item.get("acceleratorType")): int(item.get("acceleratorCount") or 0)
        for item in _gpus(properties)
    }
    wanted = {accelerator(need.gpu_model): need.gpus} if need.gpus else {}
    # GPUs that a machine type always has need not be listed.
    attached = need.known is not None and bool(need.known.attachable)
    if held != wanted and (held or attached):
        yield wrong(
            f"{what} has {_words(held)} a machine, and pool {need.pool} {_words(wanted)}",
            "name another reservation, or change the pool's `gpuModel` and `gpus`",
        )


def _gpus(properties: Document) -> list[Document]:
    return list(properties.get("guestAccelerators") or ())


def _words(gpus: dict[str, int]) -> str:
    return ", ".join(f"{count} {model}" for model, count in sorted(gpus.items())) or "no GPU"
