"""GKE as a kubeconfig shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from checks.ready.clouds.facts import CloudFacts

_GROUP = re.compile(r"gke-(.+)-[0-9a-f]{8}-grp")
"""The name of a node pool's instance group in one zone, gke-CLUSTER-POOL-HASH-grp
(kubernetes/autoscaler 972, PR 6375)."""


def _group(name: str, provider_id: str) -> str:
    """Return gke-CLUSTER-POOL-HASH-grp for a node gke-CLUSTER-POOL-HASH-XXXX."""
    return f"{name.rpartition('-')[0]}-grp"


def _pool(group: str, pools: Iterable[str]) -> str:
    """Return the only known pool with which CLUSTER-POOL ends; both may have hyphens or be
    truncated."""
    found = _GROUP.fullmatch(group)
    ending = [pool for pool in pools if found and found[1].endswith(f"-{pool}")]
    return ending[0] if len(ending) == 1 else ""


GCP = CloudFacts(
    name="GKE",
    provider_id="gce://",
    group_of=_group,
    pool_of=_pool,
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
