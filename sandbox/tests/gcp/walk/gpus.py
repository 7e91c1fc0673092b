"""Node pools: GPUs."""

from __future__ import annotations

from typing import Any

from sandbox.gcp.resources import gpu_rules
from sandbox.tests.engine_side import Props
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import SPOT, ZONES
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
]
