"""Node pools by flex-start, and on reservations."""

from __future__ import annotations

from typing import Any

from sandbox.gcp.resources import flex_rules
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import REGULAR, SPOT, ZONES
from .requests import Make, cluster, nodes

_NONE = {"consumeReservationType": "NO_RESERVATION"}
_KEY = "compute.googleapis.com/reservation-name"
_OLD = cluster(minMasterVersion="1.31", releaseChannel={"channel": "EXTENDED"}, name="old")


def _flex(**changes: Any) -> Make:
    return nodes(SPOT, **{"spot": None, "flexStart": True, "reservationAffinity": _NONE, **changes})


def _specific(*names: str, key: str = _KEY) -> dict[str, Any]:
    return {"consumeReservationType": "SPECIFIC_RESERVATION", "key": key, "values": [*names]}


def _edge(**changes: Any) -> Make:
    gpus = [{"type": "nvidia-h100-80gb", "count": 8}]
    return nodes(
        {**SPOT, "nodeLocations": ZONES[1:]},
        machineType="a3-edgegpu-8g",
        guestAccelerators=gpus,
        reservationAffinity=_NONE,
        **changes,
    )


ROWS = [
    Row(
        "queued provisioning from reservations",
        flex_rules.without_reservations,
        "hashicorp/terraform-provider-google #18341",
    )
    .says("googleapi: Error 400: Queued_provisioning requires reservation affinity to be set to none, badRequest")
    .tries(nodes, {**REGULAR, "queuedProvisioning": {"enabled": True}}, reservationAffinity=(ABSENT, _NONE)),
    Row("flex-start from reservations", flex_rules.without_reservations, "page dws-flex-start-training")
    .assumes("Flex_start requires reservation affinity to be set to none")
    .tries(_flex, reservationAffinity=(None, ABSENT)),
    Row("flex-start and spot", flex_rules.bought_once, "GoogleCloudPlatform/cluster-toolkit pull request 4027")
    .assumes("both flex_start and spot")
    .tries(_flex, spot=(True, ABSENT)),
    Row("flex-start of constant size", flex_rules.autoscaled, "GoogleCloudPlatform/cluster-toolkit pull request 4027")
    .assumes("Flex_start requires autoscaling.")
    .refuses(Make(_flex().token, {key: value for key, value in _flex().inputs.items() if key != "autoscaling"}))
    .accepts(_flex()),
    Row("flex-start before its time", flex_rules.flex_version, "page dws")
    .assumes("Flex_start needs version 1.32.2-gke.1652000 or later.")
    .given(_OLD)
    .refuses(Make(_flex().token, {**_flex().inputs, "cluster": "old"}))
    .accepts(_flex()),
    Row("eight days of flex-start", flex_rules.run_duration, "page dws")
    .assumes("Max_run_duration of flex_start must be 600s to 604800s.")
    .tries(_flex, maxRunDuration=("691200s", "604800s")),
    Row("flex-start of a machine that is not sold so", flex_rules.sold_so, "page accelerator-optimized-machines")
    .assumes("Machine type a3-edgegpu-8g is not available by Flex-start.")
    .tries(_edge, spot=None, flexStart=(True, ABSENT)),
    Row("two reservations", flex_rules.reservation, "GoogleCloudPlatform/cluster-toolkit, gke-node-pool")
    .assumes(f"SPECIFIC_RESERVATION needs the key {_KEY} and the name of one reservation.")
    .tries(
        nodes,
        REGULAR,
        reservationAffinity=(_specific("l4-prod", "l4-dev"), _specific("projects/example-shared/reservations/l4-prod")),
    ),
    Row(
        "block without its project",
        flex_rules.block_of_a_project,
        "GoogleCloudPlatform/cluster-toolkit pull request 5043",
    )
    .says(
        'googleapi: Error 404: Google Compute Engine: reservation "l4-prod/reservationBlocks/b1" not found for node pool "cpu" at'
        ' zone "europe-west4-a"., notFound'
    )
    .tries(
        nodes,
        REGULAR,
        reservationAffinity=(
            _specific("l4-prod/reservationBlocks/b1"),
            _specific("projects/p/reservations/l4-prod/reservationBlocks/b1"),
        ),
    ),
    Row("second pool on a reservation", flex_rules.room_in_reservation, "GoogleCloudPlatform/gsutil issue 1000")
    .says(
        'googleapi: Error 429: Reservation does not have enough resources for the request: specific reservation "n2" is'
        ' insufficient for node pool "cpu" at zone "europe-west4-a": required 6 and short of 1 VM count of machine type'
        " n2-standard-8."
    )
    .given(nodes({**REGULAR, "name": "old"}, reservationAffinity=_specific("projects/ml-project/reservations/n2")))
    .tries(nodes, {**REGULAR, "initialNodeCount": (6, 5)}, reservationAffinity=_specific("n2")),
    Row("reserved spot", flex_rules.spot_reserved, "skypilot-org/skypilot pull request 2393")
    .assumes("Spot and preemptible VMs cannot consume a reservation.")
    .tries(nodes, SPOT, reservationAffinity=_specific("l4-prod"), spot=(ABSENT, None)),
]
