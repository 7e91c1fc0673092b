"""GKE as a kubeconfig shows it."""

from __future__ import annotations

from ready.clouds.facts import CloudFacts


def _group(name: str, provider_id: str) -> str:
    """A node does not say which instance group it is of: `gke-CLUSTER-POOL-HASH-XXXX` is cut short where names are long."""
    return name.rpartition("-")[0]


GCP = CloudFacts(
    name="GKE",
    provider_id="gce://",
    group_of=_group,
    pool_of=lambda group: "",
    passing_taints=r"cloud\.google\.com/impending-node-termination$",
    reclaimable_labels={"cloud.google.com/gke-spot": "true", "cloud.google.com/gke-preemptible": "true"},
    default_class="standard-rwo",
    expander=False,
    pool_class="cloud.google.com/compute-class",
    writes_status=False,
    status_elsewhere="Cloud Logging (cloud.google.com/kubernetes-engine/docs/how-to/cluster-autoscaler-visibility)",
    plugin="nvidia-gpu-device-plugin",
    cni_folder="/home/kubernetes/bin",
    istio="install Istio with kubeflow/manifests' overlay for GKE (common/istio/istio-install/overlays/gke)",
    cilium_agent="anetd",
    cilium="Google owns the settings of Dataplane V2: if the dashboard answers 'RBAC: access denied', see kubeflow/manifests",
    scale_hint="set minNodes and maxNodes of the pools",
)
