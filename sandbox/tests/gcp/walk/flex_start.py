"""Node pools by flex-start, and on reservations."""

from __future__ import annotations

from typing import Any

from sandbox.gcp.resources import flex_rules

from ..conftest import REGULAR, SPOT, ZONES
from .row import Make, Row, cluster, nodes

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
        "hashicorp/terraform-provider-google #18341",
        flex_rules.without_reservations,
        "googleapi: Error 400: Queued_provisioning requires reservation affinity to be set to none, badRequest",
        bad=nodes({**REGULAR, "queuedProvisioning": {"enabled": True}}),
        good=nodes({**REGULAR, "queuedProvisioning": {"enabled": True}}, reservationAffinity=_NONE),
    ),
    Row(
        "flex-start from reservations",
        "page dws-flex-start-training",
        flex_rules.without_reservations,
        "Flex_start requires reservation affinity to be set to none",
        confirmed=False,
        bad=_flex(reservationAffinity=None),
        good=_flex(),
    ),
    Row(
        "flex-start and spot",
        "GoogleCloudPlatform/cluster-toolkit pull request 4027",
        flex_rules.bought_once,
        "both flex_start and spot",
        confirmed=False,
        bad=_flex(spot=True),
        good=_flex(),
    ),
    Row(
        "flex-start of constant size",
        "GoogleCloudPlatform/cluster-toolkit pull request 4027",
        flex_rules.autoscaled,
        "Flex_start requires autoscaling.",
        confirmed=False,
        bad=Make(_flex().token, {key: value for key, value in _flex().inputs.items() if key != "autoscaling"}),
        good=_flex(),
    ),
    Row(
        "flex-start before its time",
        "page dws",
        flex_rules.flex_version,
        "Flex_start needs version 1.32.2-gke.1652000 or later.",
        confirmed=False,
        given=(_OLD,),
        bad=Make(_flex().token, {**_flex().inputs, "cluster": "old"}),
        good=_flex(),
    ),
    Row(
        "eight days of flex-start",
        "page dws",
        flex_rules.run_duration,
        "Max_run_duration of flex_start must be 600s to 604800s.",
        confirmed=False,
        bad=_flex(maxRunDuration="691200s"),
        good=_flex(maxRunDuration="604800s"),
    ),
    Row(
        "flex-start of a machine that is not sold so",
        "page accelerator-optimized-machines",
        flex_rules.sold_so,
        "Machine type a3-edgegpu-8g is not available by Flex-start.",
        confirmed=False,
        bad=_edge(spot=None, flexStart=True),
        good=_edge(spot=None),
    ),
    Row(
        "two reservations",
        "GoogleCloudPlatform/cluster-toolkit, gke-node-pool",
        flex_rules.reservation,
        f"SPECIFIC_RESERVATION needs the key {_KEY} and the name of one reservation.",
        confirmed=False,
        bad=nodes(REGULAR, reservationAffinity=_specific("l4-prod", "l4-dev")),
        good=nodes(REGULAR, reservationAffinity=_specific("projects/example-shared/reservations/l4-prod")),
    ),
    Row(
        "block without its project",
        "GoogleCloudPlatform/cluster-toolkit pull request 5043",
        flex_rules.block_of_a_project,
        'googleapi: Error 404: Google Compute Engine: reservation "l4-prod/reservationBlocks/b1" not found for node pool "cpu" at'
        ' zone "europe-west4-a"., notFound',
        bad=nodes(REGULAR, reservationAffinity=_specific("l4-prod/reservationBlocks/b1")),
        good=nodes(REGULAR, reservationAffinity=_specific("projects/p/reservations/l4-prod/reservationBlocks/b1")),
    ),
    Row(
        "second pool on a reservation",
        "GoogleCloudPlatform/gsutil issue 1000",
        flex_rules.room_in_reservation,
        'googleapi: Error 429: Reservation does not have enough resources for the request: specific reservation "n2" is'
        ' insufficient for node pool "cpu" at zone "europe-west4-a": required 6 and short of 1 VM count of machine type'
        " n2-standard-8.",
        given=(
            nodes({**REGULAR, "name": "old"}, reservationAffinity=_specific("projects/ml-project/reservations/n2")),
        ),
        bad=nodes({**REGULAR, "initialNodeCount": 6}, reservationAffinity=_specific("n2")),
        good=nodes({**REGULAR, "initialNodeCount": 5}, reservationAffinity=_specific("n2")),
    ),
    Row(
        "reserved spot",
        "skypilot-org/skypilot pull request 2393",
        flex_rules.spot_reserved,
        "Spot and preemptible VMs cannot consume a reservation.",
        confirmed=False,
        bad=nodes(SPOT, reservationAffinity=_specific("l4-prod")),
        good=nodes(SPOT, spot=None, reservationAffinity=_specific("l4-prod")),
    ),
]
