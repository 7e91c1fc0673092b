"""What differs between clouds as a kubeconfig shows them. Another cloud is one more `CloudFacts`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class CloudFacts:
    """One cloud."""

    name: str
    provider_id: str
    """The beginning of its nodes' `spec.providerID`."""
    group_of: Callable[[str, str], str]
    """Name and provider id of a node -> the name of its node group in the autoscaler's status;
    empty where unknown."""
    pool_of: Callable[[str, Iterable[str]], str]
    """The name of a node group and the pools that are known -> the pool that it is; empty where the
    name does not say it."""
    pool_label: str
    """The label of nodes that has the pool's name."""
    passing_taints: str
    """Regular expression of the keys of taints that it puts on a node for a while."""
    reclaimable_labels: Mapping[str, str]
    """Labels of nodes that it may take back; one of them is enough."""
    default_class: str
    """The StorageClass that it marks as default."""
    expander: bool
    """Whether its autoscaler reads the priority expander's ConfigMap."""
    pool_class: str
    """The label and taint key by which its pools belong to an ordered class; empty without such
    classes."""
    writes_status: bool
    """Whether its autoscaler writes its status into the cluster."""
    status_elsewhere: str
    """Where its autoscaler's decisions are to be read otherwise."""
    plugin: str
    """The DaemonSet with which it brings NVIDIA's device plugin; empty where it brings none."""
    cni_folder: str
    """The folder of CNI plugins that Istio's agent must use; empty where its default is right."""
    istio: str
    """How Istio is installed for that folder."""
    cilium_agent: str
    """The DaemonSet of its Cilium."""
    cilium: str
    """What to do where Istio meets its Cilium."""
    scale_hint: str
    """How its pools get autoscaling."""


_SCALE_SET = re.compile(r"(aks-.+-vmss)[0-9a-z]{6}$")
"""A node's name: its scale set and a number of six characters in base 36 (Azure/AKS docs,
samples)."""


def _scale_set(name: str, provider_id: str) -> str:
    found = _SCALE_SET.match(name)
    return found[1] if found else ""


def _aks_pool(group: str, pools: Iterable[str]) -> str:
    """Return POOL of aks-POOL-DIGITS-vmss."""
    found = re.fullmatch(r"aks-(.+)-[0-9]+-vmss", group)
    return found[1] if found else ""


AZURE = CloudFacts(
    name="AKS",
    provider_id="azure://",
    group_of=_scale_set,
    pool_of=_aks_pool,
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


_GROUP = re.compile(r"gke-(.+)-[0-9a-f]{8}-grp")
"""The name of a node pool's instance group in one zone, gke-CLUSTER-POOL-HASH-grp
(kubernetes/autoscaler 972, PR 6375)."""


def _group(name: str, provider_id: str) -> str:
    """Return gke-CLUSTER-POOL-HASH-grp for a node gke-CLUSTER-POOL-HASH-XXXX."""
    return f"{name.rpartition('-')[0]}-grp"


def _gke_pool(group: str, pools: Iterable[str]) -> str:
    """Return the only known pool with which CLUSTER-POOL ends; both may have hyphens or be
    truncated."""
    found = _GROUP.fullmatch(group)
    ending = [pool for pool in pools if found and found[1].endswith(f"-{pool}")]
    return ending[0] if len(ending) == 1 else ""


GCP = CloudFacts(
    name="GKE",
    provider_id="gce://",
    group_of=_group,
    pool_of=_gke_pool,
    pool_label="cloud.google.com/gke-nodepool",
    passing_taints=r"cloud\.google\.com/impending-node-termination$",
    reclaimable_labels={
        "cloud.google.com/gke-spot": "true",
        "cloud.google.com/gke-preemptible": "true",
    },
    default_class="standard-rwo",
    expander=False,
    pool_class="cloud.google.com/compute-class",
    writes_status=False,
    status_elsewhere="Cloud Logging"
    " (cloud.google.com/kubernetes-engine/docs/how-to/cluster-autoscaler-visibility)",
    plugin="nvidia-gpu-device-plugin",
    cni_folder="/home/kubernetes/bin",
    istio="install Istio with kubeflow/manifests' overlay for GKE"
    " (common/istio/istio-install/overlays/gke)",
    cilium_agent="anetd",
    cilium="Google owns the settings of Dataplane V2: if the dashboard answers 'RBAC: access"
    " denied', see kubeflow/manifests",
    scale_hint="set minNodes and maxNodes of the pools",
)


CLOUDS: tuple[CloudFacts, ...] = (AZURE, GCP)
