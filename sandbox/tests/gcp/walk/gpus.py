"""Node pools: GPUs."""

from __future__ import annotations

from typing import Any

from sandbox.gcp.resources import gpu_rules
from sandbox.tests.engine_side import Props

from ..conftest import SPOT, ZONES
from .row import Make, Row, cluster, nodes


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
    Row(
        "K80",
        "4.4, 7.25",
        gpu_rules.in_zone,
        'googleapi: Error 400: Accelerator type "nvidia-tesla-k80" does not exist in zone europe-west4-a., badRequest',
        bad=_n1("nvidia-tesla-k80"),
        good=_n1("nvidia-tesla-t4"),
    ),
    Row(
        "P100",
        "Google's GKE autoscaler source",
        gpu_rules.in_zone,
        'Accelerator type "nvidia-tesla-p100" does not exist in zone europe-west4-a.',
        bad=_n1("nvidia-tesla-p100"),
        good=_n1("nvidia-tesla-v100"),
    ),
    Row(
        "GPU that is none",
        "4.4, 7.25",
        gpu_rules.in_zone,
        'Accelerator type "nvidia-t4" does not exist in zone',
        bad=_n1("nvidia-t4"),
        good=_n1("nvidia-tesla-t4"),
    ),
    Row(
        "GPU that is not in a zone",
        "config/clouds/gcp/gpu-zones.csv",
        gpu_rules.in_zone,
        'Accelerator type "nvidia-tesla-p4" does not exist in zone europe-west4-a.',
        bad=_n1("nvidia-tesla-p4"),
        good=nodes(
            {**SPOT, "nodeLocations": ZONES[1:]},
            machineType="n1-standard-8",
            guestAccelerators=_gpus("nvidia-tesla-p4"),
        ),
    ),
    Row(
        "two models",
        "REST reference",
        gpu_rules.one_model,
        "A node pool can have one accelerator type only.",
        confirmed=False,
        bad=nodes(
            SPOT,
            machineType="n1-standard-8",
            guestAccelerators=_gpus("nvidia-tesla-t4") + _gpus("nvidia-tesla-v100"),
        ),
        good=_n1("nvidia-tesla-t4"),
    ),
    Row(
        "GPUs on the default machine",
        "4.4",
        gpu_rules.attachable,
        "googleapi: Error 400: Cannot use default machine type (e2-medium) with GPUs; choose a different machine type., "
        "badRequest",
        bad=nodes(SPOT, machineType=None, guestAccelerators=_gpus("nvidia-tesla-t4")),
        good=_n1("nvidia-tesla-t4"),
    ),
    Row(
        "GPUs on a machine without",
        "GPU machine types",
        gpu_rules.attachable,
        'Accelerator type "nvidia-tesla-t4" cannot be used with machine type n2-standard-8.',
        confirmed=False,
        bad=_n1("nvidia-tesla-t4", machine="n2-standard-8"),
        good=_n1("nvidia-tesla-t4", machine="n1-highmem-8"),
    ),
    Row(
        "another GPU than the machine's",
        "GPU machine types",
        gpu_rules.attachable,
        'Accelerator type "nvidia-tesla-t4" cannot be used with machine type g2-standard-8.',
        confirmed=False,
        bad=nodes(SPOT, guestAccelerators=_gpus("nvidia-tesla-t4")),
        good=_l4(),
    ),
    Row(
        "three GPUs",
        "GPU machine types",
        gpu_rules.count,
        'Invalid accelerator count 3 for "nvidia-tesla-t4" with machine type n1-standard-8; valid: 1, 2, 4.',
        confirmed=False,
        bad=_n1("nvidia-tesla-t4", 3),
        good=_n1("nvidia-tesla-t4", 4),
    ),
    Row(
        "one GPU for too many cores",
        "GPU machine types",
        gpu_rules.count,
        "valid: 4, 8.",
        confirmed=False,
        bad=_n1("nvidia-tesla-v100", 1, "n1-standard-32"),
        good=_n1("nvidia-tesla-v100", 4, "n1-standard-32"),
    ),
    Row(
        "other than the machine has",
        "GPU machine types",
        gpu_rules.count,
        "with machine type g2-standard-8; valid: 1.",
        confirmed=False,
        bad=_l4(count=2),
        good=nodes(SPOT, machineType="g2-standard-24", guestAccelerators=_gpus("nvidia-l4", 2)),
    ),
    Row(
        "built-in GPU that is not declared",
        "page gpus",
        gpu_rules.declared,
        "Machine type g2-standard-8 requires accelerator nvidia-l4.",
        confirmed=False,
        bad=nodes(SPOT, guestAccelerators=None),
        good=nodes(SPOT, guestAccelerators=None, machineType="n1-standard-8"),
    ),
    Row(
        "too many share a GPU",
        "Google's GKE autoscaler source",
        gpu_rules.sharing,
        "Max_shared_clients_per_gpu must be between 2 and 48.",
        confirmed=False,
        bad=_sharing("TIME_SHARING", 49),
        good=_sharing("TIME_SHARING", 48),
    ),
    Row(
        "sharing in another way",
        "page gpus",
        gpu_rules.sharing,
        'Invalid gpu_sharing_strategy "time-slicing".',
        confirmed=False,
        bad=_sharing("time-slicing", 4),
        good=_sharing("MPS", 4),
    ),
    Row(
        "partition of another model",
        "Google's GKE autoscaler source",
        gpu_rules.partition,
        'Invalid gpu_partition_size "1g.10gb" for accelerator type "nvidia-tesla-a100".',
        confirmed=False,
        bad=_a100("1g.10gb"),
        good=_a100("1g.5gb"),
    ),
    Row(
        "partition before its time",
        "Google's GKE autoscaler source",
        gpu_rules.partition,
        "Gpu_partition_size of nvidia-rtx-pro-6000 needs version 1.35.2-gke.1485000 or later.",
        confirmed=False,
        given=(cluster(minMasterVersion="1.34", name="old"),),
        bad=_rtx("old"),
        good=_rtx("gke"),
    ),
    Row(
        "latest driver on Ubuntu",
        "page gpus",
        gpu_rules.driver,
        "Gpu_driver_version LATEST is available on Container-Optimized OS only.",
        confirmed=False,
        bad=nodes(
            SPOT,
            imageType="UBUNTU_CONTAINERD",
            guestAccelerators=_gpus("nvidia-l4", gpuDriverInstallationConfig={"gpuDriverVersion": "LATEST"}),
        ),
        good=nodes(
            SPOT,
            imageType="UBUNTU_CONTAINERD",
            guestAccelerators=_gpus("nvidia-l4", gpuDriverInstallationConfig={"gpuDriverVersion": "DEFAULT"}),
        ),
    ),
]
