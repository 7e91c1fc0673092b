"""AKS as placement and the rules see it."""

from __future__ import annotations

from functools import cache

from spec import catalog
from spec.clouds import Added, Cloud
from spec.model import Capacity, Taint

_PRIORITY = "kubernetes.azure.com/scalesetpriority"

_MIG = ("nvidia-a100", "nvidia-a100-80gb", "nvidia-h100", "nvidia-h100-nvl", "nvidia-h200")
"""learn.microsoft.com/azure/aks/gpu-multi-instance: A100, H100 and H200."""


@cache
def aks() -> Cloud:
    """AKS.

    Sources: learn.microsoft.com/azure/aks/create-node-pools (name, count), spot-node-pool (taint and label of spot
    nodes; both show in the API object), use-labels (reserved prefixes), hashicorp/terraform-provider-azurerm issue 18567
    (kubernetes.io and k8s.io) and 28636 (`agentpool`); learn.microsoft.com/azure/virtual-machines/linux/scheduled-events (30
    seconds for Preempt, of which noticing and draining take a few).
    """
    return Cloud(
        provider="azure",
        title="AKS",
        article="an",
        # The name also becomes the DNS prefix, the identity's and the network's name: the narrowest of their rules counts
        # (learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules).
        cluster_name=r"[a-zA-Z0-9][-a-zA-Z0-9]{1,52}[a-zA-Z0-9]",
        cluster_name_words="3 to 54 letters, digits and -, first and last a letter or digit",
        pool_name=r"[a-z][a-z0-9]{0,11}",
        pool_name_words="at most 12 lower-case letters and digits, a letter first",
        pool_name_length=12,
        max_nodes=1000,
        added={Capacity.SPOT: Added({_PRIORITY: "spot"}, (Taint(key=_PRIORITY, value="spot"),))},
        reserved_label_prefixes=("kubernetes.azure.com", "kubernetes.io", "k8s.io"),
        reserved_labels=frozenset({"agentpool"}),
        machines=catalog.azure(),
        machine_form=r"(?i)(standard|basic)_.+",
        zone_form=r"[123]",
        zone_words="1, 2 or 3",
        spot_notice=30,
        spot_grace=25,
        spot_rest="noticing and draining",
        cpu_machine="Standard_D4ds_v5",
        gpu_machine="Standard_NC4as_T4_v3",
        mig=dict.fromkeys(_MIG, ("1g", "2g", "3g", "4g", "7g")),
        foreign={"gcp": "remove it"},
    )
