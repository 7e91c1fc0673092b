"""AKS as a kubeconfig shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checks.ready.clouds.facts import CloudFacts

_SCALE_SET = re.compile(r"(aks-.+-vmss)[0-9a-z]{6}$")
"""A node's name: its scale set and a number of six characters in base 36 (Azure/AKS docs,
samples)."""


def _scale_set(name: str, provider_id: str) -> str:
    found = _SCALE_SET.match(name)
    return found[1] if found else ""


def _pool(group: str, pools: Iterable[str]) -> str:
    """Return POOL of aks-POOL-DIGITS-vmss."""
    found = re.fullmatch(r"aks-(.+)-[0-9]+-vmss", group)
    return found[1] if found else ""


AZURE = CloudFacts(
    name="AKS",
    provider_id="azure://",
    group_of=_scale_set,
    pool_of=_pool,
    pool_label="kubernetes.azure.com/agentpool",
    passing_taints=r"remediator\.kubernetes\.azure\.com/",
    reclaimable_labels={"kubernetes.azure.com/scalesetpriority": "spot"},
    default_class="default",
    expander=True,
    pool_class="",
    writes_status=True,
    status_elsewhere="the log category cluster-autoscaler"
    " (learn.microsoft.com/azure/aks/cluster-autoscaler)",
    plugin="",
    cni_folder="",
    istio="install Istio with kubeflow/manifests' plain overlay",
    cilium_agent="cilium",
    cilium="AKS owns cilium-config: make the cluster with `network.dataplane: azure`",
    scale_hint="set minNodes and maxNodes of the pools, which turns their autoscaling on",
)
