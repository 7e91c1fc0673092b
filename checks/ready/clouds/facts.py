"""CloudFacts: what differs between clouds as a kubeconfig shows them."""

from __future__ import annotations

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
