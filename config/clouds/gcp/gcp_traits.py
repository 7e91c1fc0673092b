"""The traits of GKE for placement and the rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Literal

from config.clouds.gcp.gcp_pool import options_of
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.gcp.gcp_tables import (
    ACCELERATORS,
    ATTACHABLE,
    accelerator,
    gpu_zones,
    machines,
    zones,
)
from config.clouds.tables import Machine
from config.clouds.traits import Added, Cloud, PoolClass, RulesKind
from config.model.cluster import CloudSettings
from config.model.pool import Capacity, Pool, Taint
from config.model.release import has_mutating_policies
from config.model.spec import ClusterSpec

COMPUTE_CLASS_LABEL = "cloud.google.com/compute-class"
"""Key of the label and of the taint."""


def compute_class_mode(
    settings: Gcp, pools: Iterable[Pool], cloud: Cloud, version: str, *, by_default: bool
) -> Literal["compute-class", "affinity"]:
    """Return how GPU pools are tried in order; `by_default`: whether our policies place pods."""
    if settings.fallback.mode:
        return settings.fallback.mode
    # An existing cluster may have other GPU pools; without a policy no pod asks for the class.
    if settings.existing_cluster or not by_default or not has_mutating_policies(version):
        return "affinity"
    ordered = any(cloud.gpus(pool)[0] and pool.fallback for pool in pools)
    return "compute-class" if ordered else "affinity"


SPOT = "cloud.google.com/gke-spot"
PREEMPTIBLE = "cloud.google.com/gke-preemptible"
FLEX_START = "cloud.google.com/gke-flex-start"
PROVISIONING = "cloud.google.com/gke-provisioning"
NO_DEFAULT_PLUGIN = "gke-no-default-nvidia-gpu-device-plugin"
"""On a node with the value `true` GKE's own device plugin stays away (page gpus)."""

_80GB: Mapping[str, tuple[str, int]] = {
    "1g": ("1g.10gb", 7),
    "2g": ("2g.20gb", 3),
    "3g": ("3g.40gb", 2),
    "7g": ("7g.80gb", 1),
}

_PARTITIONS: Mapping[str, Mapping[str, tuple[str, int]]] = {
    "nvidia-a100": {
        "1g": ("1g.5gb", 7),
        "2g": ("2g.10gb", 3),
        "3g": ("3g.20gb", 2),
        "7g": ("7g.40gb", 1),
    },
    "nvidia-a100-80gb": _80GB,
    "nvidia-h100": _80GB,
    "nvidia-h100-mega": _80GB,
    "nvidia-h200": {
        "1g": ("1g.18gb", 7),
        "2g": ("2g.35gb", 3),
        "3g": ("3g.71gb", 2),
        "7g": ("7g.141gb", 1),
    },
    "nvidia-b200": {
        "1g": ("1g.23gb", 7),
        "2g": ("2g.45gb", 3),
        "3g": ("3g.90gb", 2),
        "7g": ("7g.180gb", 1),
    },
    # Has a 4g, which is all of it.
    "nvidia-rtx-pro-6000": {"1g": ("1g.24gb", 4), "2g": ("2g.48gb", 2), "4g": ("4g.96gb", 1)},
}
"""GKE's sizes of MIG instances, and how many a GPU is cut into. Of two sizes with as many compute
slices, the one with less memory, as on AKS. Sources: GKE's autoscaler and
container-engine-accelerators (config/clouds/gcp/README.md); no 4g for A100, H100, H200 and B200."""


def partition_size(model: str, mig: str) -> str | None:
    """Return GKE's `gpuPartitionSize` of a pool's `mig`, such as 1g.5gb; None if there is none."""
    partition = _PARTITIONS.get(model, {}).get(mig)
    return partition[0] if partition else None


def partitions(model: str, mig: str) -> int:
    """Return the MIG instances of one GPU; 0 if GKE has no such size."""
    partition = _PARTITIONS.get(model, {}).get(mig)
    return partition[1] if partition else 0


_PERSISTENT = ("pd-standard", "pd-balanced", "pd-ssd")
_BOOT_DISKS = {
    "n1": _PERSISTENT,
    "n2": _PERSISTENT,
    "n2d": _PERSISTENT,
    "e2": _PERSISTENT,
    "t2d": _PERSISTENT,
    "c3": ("pd-balanced", "pd-ssd", "hyperdisk-balanced"),
    "a2": _PERSISTENT,
    "g2": ("pd-balanced", "pd-ssd"),
    "g4": ("hyperdisk-balanced",),
    "a3": ("pd-balanced", "pd-ssd", "hyperdisk-balanced"),
    "a4": ("hyperdisk-balanced",),
    "a4x": ("hyperdisk-balanced",),
}
"""Types of boot disk by machine family.

Sources: GKE's autoscaler (config/clouds/gcp/README.md) for families with GPUs; nextflow-io/nextflow
pull request 6841 (no Hyperdisk Balanced on E2, N1, N2 and N2D); Compute Engine's refusal as several
repositories quote it, such as of t2d-standard-16; issue 1391 of
kubernetes-sigs/gcp-compute-persistent-disk-csi-driver (C3)."""


DISKS_AS_REPORTED = frozenset({"n2", "n2d", "e2", "t2d", "c3"})
"""Families known from reports of others only: a rule warns and does not refuse."""


def boot_disks(size: str) -> tuple[str, ...]:
    """Return a machine's types of boot disk, its default first; empty if unknown."""
    machine = machines().get(size.lower())
    if machine is None:
        return ()
    return (
        ("hyperdisk-balanced",)
        if machine.size.startswith("a3-ultra")
        else _BOOT_DISKS.get(machine.family, ())
    )


def default_boot_disk(size: str) -> str | None:
    """Return GKE's default boot disk (terraform-provider-google, container_node_pool; page
    custom-boot-disks).

    Balanced if the machine boots from it; None for an unknown machine.
    """
    if machines().get(size.lower()) is None:
        return None
    takes = boot_disks(size)
    return "pd-balanced" if not takes or "pd-balanced" in takes else takes[0]


_VISIBLE = 0.97
_CPU = ((1, 0.06), (1, 0.01), (2, 0.005), (math.inf, 0.0025))
_MEMORY = ((4, 0.25), (4, 0.2), (8, 0.1), (112, 0.06), (math.inf, 0.02))


def _shares(amount: float, steps: tuple[tuple[float, float], ...]) -> float:
    total = 0.0
    for width, share in steps:
        total += min(amount, width) * share
        amount -= min(amount, width)
    return total


class Gke(Cloud):
    """GKE Standard.

    Sources: docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms (labels; 30 s of notice,
    of which 15 are left to pods that are not the system's), concepts/preemptible-vms and
    concepts/persistent-volumes; magic-modules, resource_container_cluster.go (names of clusters);
    pulumi-gcp issue 1510 (names of pools); page quotas (nodes of a pool's zone); tutorials with
    spot VMs, which taint `cloud.google.com/gke-spot=true:NoSchedule` themselves because a Standard
    pool gets no spot taint from GKE; bitpoke/stack issue 86 (node-role.kubernetes.io);
    container-engine-accelerators (the device plugin is GKE's);
    GoogleCloudPlatform/cluster-autoscaler, system_labels.go (the labels of flex-start; its taint is
    optional and bears the label's key).
    """

    provider = "gcp"
    title = "GKE"
    article = "a"
    cluster_name = r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?"
    cluster_name_words = (
        "at most 40 lower-case letters, digits and -, a letter first and no - at the end"
    )
    pool_name = cluster_name
    pool_name_words = cluster_name_words
    pool_name_length = 40
    max_nodes = 1000
    max_nodes_are_of_a_zone = True
    added: Mapping[Capacity, Added] = {
        capacity: Added(
            {label: "true", PROVISIONING: capacity.value}, (Taint(key=label, value="true"),)
        )
        # Flex-start nodes end as spot nodes do: pods that must not be evicted stay off both.
        for capacity, label in zip(
            (Capacity.SPOT, Capacity.PREEMPTIBLE, Capacity.FLEX_START),
            (SPOT, PREEMPTIBLE, FLEX_START),
            strict=True,
        )
    }
    reserved_label_prefixes = ("cloud.google.com", "gke.io", "kubernetes.io", "k8s.io")
    reserved_labels = frozenset({NO_DEFAULT_PLUGIN})
    # hashicorp/terraform-provider-google issue 20249: App Engine refuses such keys. GKE takes at
    # least those of Pulumi's provider.
    own_beginning = "goog-"
    # us-central1-ai1a as well (docs.cloud.google.com/compute/docs/regions-zones/ai-zones)
    zone_form = r"[a-z]+-[a-z]+[0-9]{1,2}-[a-z][a-z0-9]{0,4}"
    zone_words = "a zone's name, such as europe-west4-a"
    spot_notice = 30
    spot_grace = 15
    spot_rest = "the system's own pods"
    accelerators = ACCELERATORS
    attachable = ATTACHABLE
    mig: Mapping[str, tuple[str, ...]] = {
        model: tuple(sizes) for model, sizes in _PARTITIONS.items()
    }
    storage_classes = frozenset(("standard", "standard-rwo", "premium-rwo"))
    priority_expander = False
    order_key = "cloud.fallback"
    # Google's release schedule by way of endoflife.date, April 2026: estimates of the end of
    # standard support.
    support_ends: Mapping[str, str] = {"1.34": "2026-10-01", "1.35": "2027-04-11"}
    # Rules would see the series of their own namespace alone
    # (docs.cloud.google.com/stackdriver/docs/managed-prometheus/best-practices/rule-alert-mgd).
    rules_kind = RulesKind(
        "monitoring.googleapis.com/v1",
        "ClusterRules",
        "clusterrules",
        "its owner: `gcloud container clusters update NAME --enable-managed-prometheus`; or write "
        "`declare: operator`",
    )
    cpu_machine = "e2-standard-4"
    gpu_machine = "g2-standard-8"
    instead: Mapping[str, str] = {
        "azure": "remove it; GKE has `gcp: {secureBoot: true}`, and a virtual TPM in every node",
        "spot.max_price": "remove it: Google alone sets the price of spot machines",
        "subnet": "remove it: all nodes are in cloud.network.nodeSubnet",
        "os_disk.type": "remove it, or write `gcp: {diskType: pd-balanced}` in its place",
    }
    keys_of_added_pools = frozenset(
        {
            "provider",
            "project",
            "existing_cluster",
            "encryption.boot_disk_key",
            "fallback",
            "registries",
            "service_account",
        }
    )

    @property
    def machines(self) -> Mapping[str, Machine]:
        """The catalogue."""
        return machines()

    def allocatable(self, machine: Machine, max_pods: int | None) -> tuple[int, int]:
        """Return millicores and MiB for pods.

        Page plan-node-sizes: shares of the first, second and further cores and GiB, and 100 MiB for
        eviction. The kernel's share is [inferred]: a machine of 16 GiB showed 97.6 %.
        """
        memory = machine.memory_gib * _VISIBLE
        kept = _shares(memory, _MEMORY) * 1024 + 100
        return int((machine.vcpus - _shares(machine.vcpus, _CPU)) * 1000), int(memory * 1024 - kept)

    def brings_device_plugin(self, pool: Pool) -> bool:
        """Return whether the file leaves GKE's own."""
        options = options_of(pool)
        return options is None or options.device_plugin == "gke"

    def own_notice(self, pool: Pool) -> int | None:
        """Return `gcp.shutdownGraceSeconds`; preemptible machines have no longer notice
        (docs.cloud.google.com/kubernetes-engine/docs/how-to/preemptible-vms)."""
        options = options_of(pool)
        return (
            options.shutdown_grace_seconds if options and pool.capacity == Capacity.SPOT else None
        )

    def pool_class(self, spec: ClusterSpec) -> PoolClass | None:
        """Return the ComputeClass of all GPU pools: pods that ask for it run on no other pool."""
        if not isinstance(spec.cloud, Gcp):
            return None
        way = compute_class_mode(
            spec.cloud,
            spec.pools,
            self,
            spec.kubernetes_version,
            by_default=spec.scheduling.enabled,
        )
        if way != "compute-class":
            return None
        fallback = spec.cloud.fallback
        return PoolClass(
            COMPUTE_CLASS_LABEL,
            fallback.class_name,
            fallback.when_unsatisfiable,
            fallback.active_migration,
            fallback.consolidation_delay_minutes,
        )

    def may_join_class(self, pool: Pool) -> bool:
        """Return `gcp.computeClass`."""
        options = options_of(pool)
        return options is None or options.compute_class

    def pool_zones(self, settings: CloudSettings | None, pool: Pool) -> tuple[tuple[str, ...], int]:
        """Return the pool's zones, else the cluster's; there are as many as offer its GPU."""
        machine = self.machine(pool.machine)
        if not isinstance(settings, Gcp) or not settings.region or not settings.place:
            return tuple(pool.zones), 0
        named = tuple(pool.zones or settings.zones) or ((settings.place,) if settings.zonal else ())
        offering = gpu_zones().get(
            accelerator((machine.gpu_model if machine else "") or pool.gpu_model or "")
        )
        return named, len(
            [
                zone
                for zone in zones().get(settings.region, ())
                if offering is None or zone in offering
            ]
        )

    def durable_disks(self, settings: CloudSettings | None) -> tuple[str, dict[str, str]]:
        """Return disks in two zones; a zonal cluster has nodes in one only (page regional-pd)."""
        driver, parameters = self.workspace_disks(settings)
        regional = isinstance(settings, Gcp) and not settings.zonal
        return driver, {**parameters, **({"replication-type": "regional-pd"} if regional else {})}

    def workspace_disks(self, settings: CloudSettings | None) -> tuple[str, dict[str, str]]:
        """Return disks in one zone: a regional disk has 10 GiB at least, and optimized machines
        take none (pages about-regional-persistent-disk, troubleshooting/storage).
        """
        return "pd.csi.storage.gke.io", {"type": "pd-balanced"}
