"""GKE as placement and the rules see it."""

from __future__ import annotations

from functools import cache

from spec import catalog
from spec.clouds import Added, Cloud
from spec.model import Capacity, Taint

SPOT = "cloud.google.com/gke-spot"
PREEMPTIBLE = "cloud.google.com/gke-preemptible"
PROVISIONING = "cloud.google.com/gke-provisioning"
NO_DEFAULT_PLUGIN = "gke-no-default-nvidia-gpu-device-plugin"
"""On a node with the value `true` GKE's own device plugin stays away (page gpus)."""


@cache
def gke() -> Cloud:
    """GKE Standard.

    Sources: docs.cloud.google.com/kubernetes-engine/docs/concepts/spot-vms (labels; 30 s of notice, of which 15 are left to
    pods that are not the system's) and concepts/preemptible-vms; pulumi-gcp issue 1510 (names of pools); tutorials with
    spot VMs, which taint `cloud.google.com/gke-spot=true:NoSchedule` themselves because a Standard pool gets no spot taint
    from GKE; bitpoke/stack issue 86 (node-role.kubernetes.io); container-engine-accelerators (the device plugin is GKE's).
    """
    return Cloud(
        title="GKE",
        pool_name=r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?",
        pool_name_words="at most 40 lower-case letters, digits and -, a letter first and no - at the end",
        pool_name_length=40,
        max_nodes=1000,
        added={
            Capacity.SPOT: Added({SPOT: "true", PROVISIONING: "spot"}, (Taint(key=SPOT, value="true"),)),
            Capacity.PREEMPTIBLE: Added(
                {PREEMPTIBLE: "true", PROVISIONING: "preemptible"}, (Taint(key=PREEMPTIBLE, value="true"),)
            ),
        },
        reserved_label_prefixes=("cloud.google.com", "gke.io", "kubernetes.io", "k8s.io"),
        reserved_labels=frozenset({NO_DEFAULT_PLUGIN}),
        machines=catalog.gcp(),
        accelerators=catalog.GCP_ACCELERATORS,
        spot_notice=30,
        spot_grace=15,
        brings_device_plugin=True,
    )
