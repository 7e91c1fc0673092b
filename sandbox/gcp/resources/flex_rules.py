"""Rules of GKE on the ways to capacity beside on-demand and spot: flex-start and reservations.

Pages dws, dws-flex-start-training and consuming-reservations; preconditions of GoogleCloudPlatform/cluster-toolkit's gke-node-pool,
and those of Google's autoscaler for pools it makes itself (GoogleCloudPlatform/cluster-autoscaler, pkg/autoprovisioning). Words
UNCONFIRMED but where a source stands beside them.
"""

import re

from sandbox.cloud import rules
from sandbox.cloud.state import Body
from sandbox.gcp import gcp_catalogue, gcp_ids, instance_groups
from sandbox.gcp.gcp_errors import GcpRefused, bad_request
from sandbox.gcp.resources.gcp_requests import POOL, PoolRequest

# Page dws
_SINCE = "1.32.2-gke.1652000"
# Page dws: seven days. The autoscaler's minFlexStartMRDInSeconds: ten minutes.
_SECONDS = range(600, 604801)

_KEY = "compute.googleapis.com/reservation-name"
_NAME = r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"
_RESERVATION = rf"(projects/[^/]+/reservations/)?{_NAME}(/reservationBlocks/{_NAME}(/reservationSubBlocks/{_NAME})?)?"


def affinity(config: Body) -> str:
    """Return the type of a pool's reservation affinity; empty where none is set."""
    return str((config.get("reservationAffinity") or {}).get("consumeReservationType") or "")


def reserved(config: Body) -> bool:
    """Return whether a pool's machines are reserved ones."""
    return affinity(config).startswith(("SPECIFIC_RESERVATION", "ANY_RESERVATION"))


def without_reservations(request: PoolRequest) -> GcpRefused | None:
    # hashicorp/terraform-provider-google #18341 has these words of queued provisioning; of flex-start they are UNCONFIRMED.
    queued = bool((request.body.get("queuedProvisioning") or {}).get("enabled"))
    if not (queued or request.config.get("flexStart")) or affinity(request.config) == "NO_RESERVATION":
        return None
    refused = bad_request(
        f"{'Queued_provisioning' if queued else 'Flex_start'} requires reservation affinity to be set to none"
    )
    return refused if queued else refused.as_read()


@rules.as_read
def bought_once(request: PoolRequest) -> GcpRefused | None:
    # cluster-toolkit pull request 4027
    config = request.config
    if config.get("flexStart") and (config.get("spot") or config.get("preemptible")):
        return bad_request("Node pool cannot have both flex_start and spot or preemptible set.")
    return None


@rules.as_read
def autoscaled(request: PoolRequest) -> GcpRefused | None:
    # The same pull request: no constant number of nodes.
    if request.config.get("flexStart") and not request.body.get("autoscaling"):
        return bad_request("Flex_start requires autoscaling.")
    return None


@rules.as_read
def flex_version(request: PoolRequest) -> GcpRefused | None:
    if request.config.get("flexStart") and gcp_catalogue.number(request.body["version"]) < gcp_catalogue.number(_SINCE):
        return bad_request(f"Flex_start needs version {_SINCE} or later.")
    return None


@rules.as_read
def run_duration(request: PoolRequest) -> GcpRefused | None:
    written = request.config.get("maxRunDuration")
    if not written:
        return None
    seconds = re.fullmatch(r"([0-9]{1,9})s", written)
    if seconds is None:
        return bad_request(f'Invalid max_run_duration "{written}": seconds that end in s, such as 86400s.')
    if request.config.get("flexStart") and int(seconds[1]) not in _SECONDS:
        return bad_request(f"Max_run_duration of flex_start must be {_SECONDS[0]}s to {_SECONDS[-1]}s.")
    return None


@rules.as_read
def sold_so(request: PoolRequest) -> GcpRefused | None:
    # Page accelerator-optimized-machines, consumption options
    if request.config.get("flexStart") and not request.machine.flex_start:
        return bad_request(f"Machine type {request.machine.name} is not available by Flex-start.")
    return None


@rules.as_read
def reservation(request: PoolRequest) -> GcpRefused | None:
    # cluster-toolkit: one reservation, by the key, and only where one is asked for.
    given: Body = request.config.get("reservationAffinity") or {}
    values = given.get("values") or []
    if affinity(request.config) != "SPECIFIC_RESERVATION":
        return bad_request("Only SPECIFIC_RESERVATION names reservations.") if values else None
    if given.get("key") != _KEY or len(values) != 1 or not re.fullmatch(_RESERVATION, values[0]):
        return bad_request(f"SPECIFIC_RESERVATION needs the key {_KEY} and the name of one reservation.")
    return None


def block_of_a_project(request: PoolRequest) -> GcpRefused | None:
    # cluster-toolkit pull request 5043
    value = _specific(request.config)
    if "/reservationBlocks/" not in value or value.startswith("projects/"):
        return None
    return GcpRefused(
        404,
        f'Google Compute Engine: reservation "{value}" not found for node pool "{request.name}" at zone "{request.zones[0]}".',
        "notFound",
    )


def room_in_reservation(request: PoolRequest) -> GcpRefused | None:
    """Refuse initial nodes for which the reservation has no machines left.

    How many it has nobody says here. As the stricter reading it has as many as the largest pool on it may take in a zone.
    """
    # GoogleCloudPlatform/gsutil issue 1000; the word for the reason is UNCONFIRMED
    value, first = _specific(request.config), int(request.body.get("initialNodeCount") or 0)
    if not value or request.current or not first:
        return None
    name = _reservation_of(value, gcp_ids.project_of(request.id))
    others = [
        pool
        for pool in request.resources.of_type(POOL)
        if _specific(pool.body["nodeConfig"])
        and _reservation_of(_specific(pool.body["nodeConfig"]), gcp_ids.project_of(pool.id)) == name
    ]
    for zone in request.zones:
        here = [pool for pool in others if zone in pool.body["nodeLocations"]]
        taken = sum(
            instance.zone == zone for pool in here for instance in instance_groups.instances(request.resources, pool)
        )
        reserved = max(_most(body) for body in (request.body, *(pool.body for pool in here)))
        if taken and taken + first > reserved:
            short = taken + first - reserved
            return GcpRefused(
                429,
                "Reservation does not have enough resources for the request: specific reservation"
                f' "{gcp_ids.last(name)}" is insufficient for node pool "{request.name}" at zone "{zone}": required {first} and'
                f" short of {short} VM count of machine type {request.config['machineType']}.",
                "rateLimitExceeded",
            )
    return None


def _specific(config: Body) -> str:
    """Return the value of a pool's specific reservation; empty without one."""
    given: Body = config.get("reservationAffinity") or {}
    return str((given.get("values") or [""])[0]) if affinity(config) == "SPECIFIC_RESERVATION" else ""


def _reservation_of(value: str, project: str) -> str:
    """Return the whole reservation that a value names, as a path: another project may have one of the same name."""
    path = value if value.startswith("projects/") else f"projects/{project}/reservations/{value}"
    return path.partition("/reservationBlocks/")[0]


def _most(pool: Body) -> int:
    """Return the number of machines that a pool may have in a zone."""
    limits = instance_groups.bounds(pool)
    return min(limits.most, limits.zone_most) if limits else int(pool.get("nodeCount") or pool["initialNodeCount"])


@rules.as_read
def spot_reserved(request: PoolRequest) -> GcpRefused | None:
    # skypilot-org/skypilot pull request 2393: reservations are not for Spot VMs.
    config = request.config
    if (config.get("spot") or config.get("preemptible")) and affinity(config) == "SPECIFIC_RESERVATION":
        return bad_request("Spot and preemptible VMs cannot consume a reservation.")
    return None
