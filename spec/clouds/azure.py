"""AKS as placement and the rules see it."""

from __future__ import annotations

from functools import cache

from spec import catalog
from spec.clouds import Added, Cloud
from spec.model import Capacity, Taint

_PRIORITY = "kubernetes.azure.com/scalesetpriority"


@cache
def aks() -> Cloud:
    """AKS.

    Sources: learn.microsoft.com/azure/aks/create-node-pools (name, count), spot-node-pool (taint and label of spot
    nodes; both show in the API object), use-labels (reserved prefixes), hashicorp/terraform-provider-azurerm issue 18567
    (kubernetes.io and k8s.io) and 28636 (`agentpool`); learn.microsoft.com/azure/virtual-machines/linux/scheduled-events (30
    seconds for Preempt, of which noticing and draining take a few).
    """
    return Cloud(
        title="AKS",
        pool_name=r"[a-z][a-z0-9]{0,11}",
        pool_name_words="at most 12 lower-case letters and digits, a letter first",
        pool_name_length=12,
        max_nodes=1000,
        added={Capacity.SPOT: Added({_PRIORITY: "spot"}, (Taint(key=_PRIORITY, value="spot"),))},
        reserved_label_prefixes=("kubernetes.azure.com", "kubernetes.io", "k8s.io"),
        reserved_labels=frozenset({"agentpool"}),
        machines=catalog.azure(),
        spot_notice=30,
        spot_grace=25,
    )
