"""Stacks whose pools are bought in other ways: the same rows as in `test_settings`.

Answers as docs.cloud.google.com/compute/docs/reference/rest/v1/reservations and
learn.microsoft.com/rest/api/compute/capacity-reservations have them; none came from a project or a subscription.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.checks.preflight.live import Settings


def one_of(parts: Settings, way: str) -> None:
    for quota in parts["region"]["quotas"]:
        if quota["metric"].endswith("NVIDIA_L4_GPUS"):
            quota["limit"] = 8 if quota["metric"].startswith(way) else 0


def alone(**settings: Any) -> Callable[[Settings], Any]:
    """A single pool with GPUs, bought in this way."""

    def change(file: Settings) -> None:
        general = next(pool for pool in file["pools"] if pool["name"] == "general")
        file["pools"] = [general, {"name": "only", "machine": "g2-standard-8", "maxNodes": 2, **settings}]

    return change


def _l4(**more: Any) -> Settings:
    """A reservation of a zone; 64-bit numbers are texts in Google's JSON."""
    properties = {"machineType": "g2-standard-8", "guestAccelerators": []}
    return {
        "kind": "compute#reservation",
        "name": "l4",
        "status": "READY",
        "specificReservationRequired": True,
        "specificReservation": {"count": "2", "inUseCount": "0", "instanceProperties": properties},
        **more,
    }


def _held(zones: str = "a", text: str = "l4", **more: Any) -> Callable[[Settings], Any]:
    """The reservation in these zones of three, and no quota of GPUs, which were counted when they were reserved."""

    def change(parts: Settings) -> None:
        one_of(parts, "none")
        parts["reservations"] = {f"europe-west4-{zone}/{text}": None for zone in "abc"}
        parts["reservations"] |= {f"europe-west4-{zone}/{text}": _l4(**more) for zone in zones}

    return change


def _of(count: str = "2", **properties: Any) -> dict[str, Any]:
    return {"specificReservation": {"count": count, "instanceProperties": properties}}


def _gpus(model: str, count: int) -> list[dict[str, Any]]:
    return [{"acceleratorType": model, "acceleratorCount": count}]


_HERE = {"zones": ["europe-west4-a"]}
_BLOCK = "projects/corp/reservations/l4/reservationBlocks/one"
_T4 = {"machine": "n1-standard-8", "gpus": 1, "gpuModel": "nvidia-t4", **_HERE}


def _n1(parts: Settings) -> None:
    one_of(parts, "none")
    for kind, name in (("machineTypes", "n1-standard-8"), ("acceleratorTypes", "nvidia-tesla-t4")):
        parts[kind][f"europe-west4-a/{name}"] = {}


_SIZE = "Standard_NC4as_T4_v3"
GROUP = (
    "/subscriptions/33333333-3333-3333-3333-333333333333/resourceGroups/kept/providers/Microsoft.Compute"
    "/capacityReservationGroups/t4"
)


def _on_aks(zones: tuple[str, ...] = ()) -> Callable[[Settings], Any]:
    """The on-demand pool with GPUs takes two machines of a group."""
    more = {"zones": [*zones]} if zones else {}
    t4od = {"name": "t4od", "machine": _SIZE, "maxNodes": 2, "reservation": GROUP, **more}

    def change(file: Settings) -> None:
        file["pools"] = [pool for pool in file["pools"] if pool["name"] == "general"] + [t4od]

    return change


def _group(*reservations: tuple[str, str, int]) -> Callable[[Settings], Any]:
    """The group with reservations of these sizes, zones and counts."""
    value = [
        {"name": f"r{zone}", "location": "westeurope", "zones": [zone], "sku": {"name": size, "capacity": count}}
        for size, zone, count in reservations
    ]
    return lambda parts: parts.update(reservations={GROUP: value})


RESERVED: dict[str, tuple[str, Callable[[Settings], Any], Callable[[Settings], Any], str, str]] = {
    "reserved": ("gcp", alone(reservation="l4", **_HERE), _held(), "", ""),
    "reserved-with-its-gpus-listed": (
        "gcp",
        alone(reservation="l4", **_HERE),
        _held(**_of(machineType="g2-standard-8", guestAccelerators=_gpus("nvidia-l4", 1))),
        "",
        "",
    ),
    "a-block-of-another-project": ("gcp", alone(reservation=_BLOCK, **_HERE), _held(text=_BLOCK), "", ""),
    "no-reservation": (
        "gcp",
        alone(reservation="l4", **_HERE),
        _held(""),
        "reservations",
        "project example-ml-staging has no reservation l4, which pool only names, in europe-west4-a",
    ),
    "no-reservation-of-another-project": (
        "gcp",
        alone(reservation=_BLOCK, **_HERE),
        _held("", _BLOCK),
        "reservations",
        "project corp has no reservation l4",
    ),
    "no-reservation-in-a-zone": (
        "gcp",
        alone(reservation="l4"),
        _held("ab"),
        "",
        "there is no reservation l4 in europe-west4-c, where pool only gets no node then",
    ),
    "a-reservation-that-anybody-takes": (
        "gcp",
        alone(reservation="l4", **_HERE),
        _held(specificReservationRequired=False),
        "reservations",
        "is taken by any machine that fits, and pool only names it",
    ),
    "a-reservation-of-another-machine": (
        "gcp",
        alone(reservation="l4", **_HERE),
        _held(**_of(machineType="g2-standard-16")),
        "reservations",
        "is of g2-standard-16, and pool only of g2-standard-8",
    ),
    "a-reservation-of-other-gpus": (
        "gcp",
        alone(reservation="l4", **_HERE),
        _held(**_of(machineType="g2-standard-8", guestAccelerators=_gpus("nvidia-tesla-t4", 1))),
        "reservations",
        "has 1 nvidia-tesla-t4 a machine, and pool only 1 nvidia-l4",
    ),
    "a-reservation-without-the-attached-gpus": (
        "gcp",
        alone(reservation="l4", **_T4),
        lambda p: (_n1(p), _held(**_of(machineType="n1-standard-8"))(p)),
        "reservations",
        "has no GPU a machine, and pool only 1 nvidia-tesla-t4",
    ),
    "a-reservation-of-the-attached-gpus": (
        "gcp",
        alone(reservation="l4", **_T4),
        lambda p: (_n1(p), _held(**_of(machineType="n1-standard-8", guestAccelerators=_gpus("nvidia-tesla-t4", 1)))(p)),
        "",
        "",
    ),
    "a-reservation-of-fewer-machines": (
        "gcp",
        alone(reservation="l4", **_HERE),
        _held(**_of("1", machineType="g2-standard-8")),
        "",
        "reservation l4 has 1 machines, and pool only may have 2 nodes",
    ),
    "reserved-on-aks": ("azure", _on_aks(("1",)), _group((_SIZE.lower(), "1", 2)), "", ""),
    "nodes-without-a-zone-take-no-reservation-of-a-zone": (
        "azure",
        _on_aks(),
        _group((_SIZE, "1", 2)),
        "reservations",
        f"capacity reservation group t4 reserves {_SIZE} in zone 1, and pool t4od has nodes in no zone: they take none of it",
    ),
    "no-group": (
        "azure",
        _on_aks(),
        lambda p: p.update(reservations={GROUP: None}),
        "reservations",
        "there is no capacity reservation group t4, which pool t4od names",
    ),
    "an-empty-group": (
        "azure",
        _on_aks(),
        _group(),
        "reservations",
        "group t4 reserves no Standard_NC4as_T4_v3, which pool t4od takes from it",
    ),
    "a-group-of-another-size": (
        "azure",
        _on_aks(),
        _group(("Standard_D8ds_v5", "1", 2)),
        "reservations",
        "group t4 reserves no Standard_NC4as_T4_v3",
    ),
    "a-group-of-another-zone": (
        "azure",
        _on_aks(("1", "2")),
        _group((_SIZE, "1", 2)),
        "",
        "reserves no Standard_NC4as_T4_v3 in zone 2, where pool t4od gets ordinary machines",
    ),
    "a-group-of-fewer-machines": (
        "azure",
        _on_aks(("1",)),
        _group((_SIZE, "1", 1)),
        "",
        "has 1 Standard_NC4as_T4_v3, and pool t4od may have 2 nodes",
    ),
}
