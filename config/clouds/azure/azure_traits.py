"""The traits of AKS for placement and the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from config.clouds.azure import unready
from config.clouds.azure.azure_autoscaler import pinned_autoscaler
from config.clouds.azure.azure_settings import Azure
from config.clouds.azure.azure_tables import machines, regions
from config.clouds.tables import Machine
from config.clouds.traits import Added, AutoscalerTimers, Cloud, PoolBounds
from config.model.cluster import CloudSettings, seconds
from config.model.pool import Capacity, Pool, Taint
from config.model.spec import ClusterSpec

_PRIORITY = "kubernetes.azure.com/scalesetpriority"

_MIG = ("nvidia-a100", "nvidia-a100-80gb", "nvidia-h100", "nvidia-h100-nvl", "nvidia-h200")
"""learn.microsoft.com/azure/aks/gpu-multi-instance: A100, H100 and H200."""


_CPU = ((1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740))
_VISIBLE = 0.96
_TIMER = "10m"
"""AKS' own scale-down timers (page cluster-autoscaler, the autoscaler profile)."""
_PODS = 250
_GONE = 10 * 60
"""Seconds in which Karpenter drains and deletes a node after `consolidateAfter` [inferred]."""


class Aks(Cloud):
    """AKS.

    Sources: learn.microsoft.com/azure/aks/create-node-pools (name, count), quotas-skus-regions
    (number of pools), spot-node-pool (taint and label of spot nodes; both show in the API object),
    use-labels (reserved prefixes), concepts-storage, hashicorp/terraform-provider-azurerm issue
    18567 (kubernetes.io and k8s.io) and 28636 (`agentpool`);
    learn.microsoft.com/azure/virtual-machines/linux/scheduled-events (30 seconds for Preempt, of
    which noticing and draining take a few).
    """

    provider = "azure"
    title = "AKS"
    article = "an"
    # The name also becomes the DNS prefix, the identity's and the network's name: the narrowest of
    # their rules counts
    # (learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules).
    cluster_name = r"[a-zA-Z0-9][-a-zA-Z0-9]{1,52}[a-zA-Z0-9]"
    cluster_name_words = "3 to 54 letters, digits and -, first and last a letter or digit"
    pool_name = r"[a-z][a-z0-9]{0,11}"
    pool_name_words = "at most 12 lower-case letters and digits, a letter first"
    pool_name_length = 12
    max_nodes = 1000
    max_pools = 100
    added: Mapping[Capacity, Added] = {
        Capacity.SPOT: Added({_PRIORITY: "spot"}, (Taint(key=_PRIORITY, value="spot"),)),
    }
    reserved_label_prefixes = ("kubernetes.azure.com", "kubernetes.io", "k8s.io")
    reserved_labels = frozenset({"agentpool"})
    instead: Mapping[str, str] = {
        "gcp": "remove it: AKS chooses the driver, and `zones` names zones; others are in `azure`",
    }
    zone_form = r"[123]"
    zone_words = 'write "1", "2" or "3", in quotes'
    spot_notice = 30
    spot_grace = 25
    spot_rest = "noticing and draining"
    mig = dict.fromkeys(_MIG, ("1g", "2g", "3g", "4g", "7g"))
    storage_classes = frozenset(
        (
            *("default", "managed", "managed-csi", "managed-premium", "managed-csi-premium"),
            *("azurefile", "azurefile-csi", "azurefile-premium", "azurefile-csi-premium"),
        )
    )
    # Page supported-kubernetes-versions, release calendar; it names months.
    support_ends: Mapping[str, str] = {
        "1.34": "2026-11-30",
        "1.35": "2027-03-31",
        "1.36": "2027-06-30",
        "1.37": "2027-10-31",
    }
    cpu_machine = "Standard_D4ds_v5"
    gpu_machine = "Standard_NC4as_T4_v3"
    keys_of_added_pools = frozenset({"provider", "existing_cluster", "encryption.at_host"})

    @property
    def machines(self) -> Mapping[str, Machine]:
        """The catalogue."""
        return machines()

    def allocatable(self, machine: Machine, max_pods: int | None) -> tuple[int, int]:
        """Return millicores and MiB for pods.

        Page node-resource-reservations, AKS 1.29 and later: CPU by this table, interpolated
        [inferred]; memory less 20 MiB a pod and 50 MiB, at most a quarter, and 100 MiB for
        eviction. Pods: the default of an overlay network, the highest (page
        concepts-network-ip-address-planning). The kernel's share is [inferred]: a machine of 8 GiB
        showed 96.9 %.
        """
        cores = machine.vcpus
        kept = next(
            (
                less + (more - less) * (cores - few) / (many - few)
                for (few, less), (many, more) in pairwise(_CPU)
                if cores <= many
            ),
            740 + 10 * (cores - 64),
        )
        nominal = machine.memory_gib * 1024
        memory = nominal * _VISIBLE - min(20 * (max_pods or _PODS) + 50, nominal / 4) - 100
        return int(cores * 1000 - kept), int(memory)

    def autoscaler_timers(self, spec: ClusterSpec, pools: Sequence[PoolBounds]) -> AutoscalerTimers:
        """Return those that the stack sets; upstream's in a cluster that it does not make."""
        if not isinstance(spec.cloud, Azure) or spec.system_pool is None:
            return AutoscalerTimers()
        if nap := spec.cloud.node_provisioning:
            return AutoscalerTimers(scale_down=seconds(nap.consolidate_after) + _GONE)
        own, release = spec.cloud.autoscaler, pinned_autoscaler(spec.release)
        tolerant = unready.chosen(own, release, pools, spec.system_pool.min_nodes)
        chosen = release.model_copy(update=own.model_dump(exclude_none=True))
        unneeded, after_add = chosen.scale_down_unneeded_time, chosen.scale_down_delay_after_add
        idle = sum(seconds(timer or _TIMER) for timer in (unneeded, after_add))
        return AutoscalerTimers(tolerant.count, tolerant.percentage, idle)

    def pool_zones(self, settings: CloudSettings | None, pool: Pool) -> tuple[tuple[str, ...], int]:
        """Return the pool's zones; a region with zones has three
        (learn.microsoft.com/azure/reliability/availability-zones-overview)."""
        return tuple(pool.zones), 3 if _has_zones(settings) else 0

    def durable_disks(self, settings: CloudSettings | None) -> tuple[str, dict[str, str]]:
        """Return disks with copies in all zones, if there are zones (page azure-disk-csi)."""
        return "disk.csi.azure.com", {
            "skuName": f"StandardSSD_{'ZRS' if _has_zones(settings) else 'LRS'}"
        }


def _has_zones(settings: CloudSettings | None) -> bool:
    return isinstance(settings, Azure) and regions().get(settings.location or "") == "yes"
