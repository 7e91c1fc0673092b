"""Node pools: GPUs, flex-start, and reservations."""

from typing import Any

from sandbox.gcp.resources import flex_rules, gpu_rules
from sandbox.tests.engine_side import Props
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import REGULAR, SPOT, ZONES
from .requests import Make, cluster, nodes


def _gpus(model: str, count: int = 1, **more: Any) -> list[Props]:
    return [{"type": model, "count": count, **more}]


def _n1(model: str, count: int = 1, machine: str = "n1-standard-8", **changes: Any) -> Make:
    return nodes(SPOT, machineType=machine, guestAccelerators=_gpus(model, count), **changes)


def _l4(**more: Any) -> Make:
    return nodes(SPOT, guestAccelerators=_gpus("nvidia-l4", **more))


def _a100(size: str) -> Make:
    pool = {**SPOT, "nodeLocations": ZONES[:2]}
    return nodes(pool, machineType="a2-highgpu-1g", guestAccelerators=_gpus("nvidia-tesla-a100", gpuPartitionSize=size))


def _rtx(cluster: str) -> Make:
    gpus = _gpus("nvidia-rtx-pro-6000", gpuPartitionSize="1g.24gb")
    return nodes({**SPOT, "cluster": cluster}, machineType="g4-standard-48", guestAccelerators=gpus)


def _sharing(strategy: str, clients: int) -> Make:
    return _l4(gpuSharingConfig={"gpuSharingStrategy": strategy, "maxSharedClientsPerGpu": clients})


_NONE = {"consumeReservationType": "NO_RESERVATION"}
_RESERVATION_NAME = "compute.googleapis.com/reservation-name"
_OLD = cluster(minMasterVersion="1.31", releaseChannel={"channel": "EXTENDED"}, name="old")


def _flex(**changes: Any) -> Make:
    return nodes(SPOT, **{"spot": None, "flexStart": True, "reservationAffinity": _NONE, **changes})


def _specific(*names: str, key: str = _RESERVATION_NAME) -> dict[str, Any]:
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
    Row("K80", gpu_rules.in_zone, "4.4, 7.25")
    .says(
        'googleapi: Error 400: Accelerator type "nvidia-tesla-k80" does not exist in zone europe-west4-a., badRequest'
    )
    .tries(_n1, ("nvidia-tesla-k80", "nvidia-tesla-t4")),
    Row("P100", gpu_rules.in_zone, "Google's GKE autoscaler source")
    .says('Accelerator type "nvidia-tesla-p100" does not exist in zone europe-west4-a.')
    .tries(_n1, ("nvidia-tesla-p100", "nvidia-tesla-v100")),
    Row("GPU that is none", gpu_rules.in_zone, "4.4, 7.25")
    .says('Accelerator type "nvidia-t4" does not exist in zone')
    .tries(_n1, ("nvidia-t4", "nvidia-tesla-t4")),
    Row("GPU that is not in a zone", gpu_rules.in_zone, "config/clouds/gcp/gpu-zones.csv")
    .says('Accelerator type "nvidia-tesla-p4" does not exist in zone europe-west4-a.')
    .refuses(_n1("nvidia-tesla-p4"))
    .accepts(
        nodes(
            {**SPOT, "nodeLocations": ZONES[1:]},
            machineType="n1-standard-8",
            guestAccelerators=_gpus("nvidia-tesla-p4"),
        )
    ),
    Row("two models", gpu_rules.one_model, "REST reference")
    .assumes("A node pool can have one accelerator type only.")
    .refuses(
        nodes(
            SPOT, machineType="n1-standard-8", guestAccelerators=_gpus("nvidia-tesla-t4") + _gpus("nvidia-tesla-v100")
        )
    )
    .accepts(_n1("nvidia-tesla-t4")),
    Row("GPUs on the default machine", gpu_rules.attachable, "4.4")
    .says(
        "googleapi: Error 400: Cannot use default machine type (e2-medium) with GPUs; choose a different machine type., "
        "badRequest"
    )
    .refuses(nodes(SPOT, machineType=None, guestAccelerators=_gpus("nvidia-tesla-t4")))
    .accepts(_n1("nvidia-tesla-t4")),
    Row("GPUs on a machine without", gpu_rules.attachable, "GPU machine types")
    .assumes('Accelerator type "nvidia-tesla-t4" cannot be used with machine type n2-standard-8.')
    .tries(_n1, "nvidia-tesla-t4", machine=("n2-standard-8", "n1-highmem-8")),
    Row("another GPU than the machine's", gpu_rules.attachable, "GPU machine types")
    .assumes('Accelerator type "nvidia-tesla-t4" cannot be used with machine type g2-standard-8.')
    .refuses(nodes(SPOT, guestAccelerators=_gpus("nvidia-tesla-t4")))
    .accepts(_l4()),
    Row("three GPUs", gpu_rules.count, "GPU machine types")
    .assumes('Invalid accelerator count 3 for "nvidia-tesla-t4" with machine type n1-standard-8; valid: 1, 2, 4.')
    .tries(_n1, "nvidia-tesla-t4", (3, 4)),
    Row("one GPU for too many cores", gpu_rules.count, "GPU machine types")
    .assumes("valid: 4, 8.")
    .tries(_n1, "nvidia-tesla-v100", (1, 4), "n1-standard-32"),
    Row("other than the machine has", gpu_rules.count, "GPU machine types")
    .assumes("with machine type g2-standard-8; valid: 1.")
    .refuses(_l4(count=2))
    .accepts(nodes(SPOT, machineType="g2-standard-24", guestAccelerators=_gpus("nvidia-l4", 2))),
    Row("built-in GPU that is not declared", gpu_rules.declared, "page gpus")
    .assumes("Machine type g2-standard-8 requires accelerator nvidia-l4.")
    .tries(nodes, SPOT, guestAccelerators=None, machineType=(ABSENT, "n1-standard-8")),
    Row("too many share a GPU", gpu_rules.sharing, "Google's GKE autoscaler source")
    .assumes("Max_shared_clients_per_gpu must be between 2 and 48.")
    .tries(_sharing, "TIME_SHARING", (49, 48)),
    Row("sharing in another way", gpu_rules.sharing, "page gpus")
    .assumes('Invalid gpu_sharing_strategy "time-slicing".')
    .tries(_sharing, ("time-slicing", "MPS"), 4),
    Row("partition of another model", gpu_rules.partition, "Google's GKE autoscaler source")
    .assumes('Invalid gpu_partition_size "1g.10gb" for accelerator type "nvidia-tesla-a100".')
    .tries(_a100, ("1g.10gb", "1g.5gb")),
    Row("partition before its time", gpu_rules.partition, "Google's GKE autoscaler source")
    .assumes("Gpu_partition_size of nvidia-rtx-pro-6000 needs version 1.35.2-gke.1485000 or later.")
    .given(cluster(minMasterVersion="1.34", name="old"))
    .tries(_rtx, ("old", "gke")),
    Row("latest driver on Ubuntu", gpu_rules.driver, "page gpus")
    .assumes("Gpu_driver_version LATEST is available on Container-Optimized OS only.")
    .tries(
        nodes,
        SPOT,
        imageType="UBUNTU_CONTAINERD",
        guestAccelerators=(
            _gpus("nvidia-l4", gpuDriverInstallationConfig={"gpuDriverVersion": "LATEST"}),
            _gpus("nvidia-l4", gpuDriverInstallationConfig={"gpuDriverVersion": "DEFAULT"}),
        ),
    ),
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
    .assumes(f"SPECIFIC_RESERVATION needs the key {_RESERVATION_NAME} and the name of one reservation.")
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
