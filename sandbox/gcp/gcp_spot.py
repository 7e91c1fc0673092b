"""Google's spot machines: notice, grace, refusals."""

from sandbox.cloud.spot_nodes import Condition, Refusal, SpotFacts, Taint

_SHUTDOWN = "imminent node shutdown"


SPOT = SpotFacts(
    # Page spot-vms of GKE: 30 s, of which the kubelet gives 15 to pods and then 15 to critical ones; a pool may extend it to 120 s.
    notice=30.0,
    reaction=0.0,
    grace=15.0,
    critical_grace=15.0,
    # GKE puts no taint of its own on a preempted node; Kubernetes taints a node that is not ready (page taint-and-toleration).
    # The taint cloud.google.com/impending-node-termination is of maintenance of GPU machines, on spot UNCONFIRMED.
    taint=Taint("node.kubernetes.io/not-ready", "NoSchedule"),
    # kubernetes/kubernetes, pkg/kubelet/nodestatus/setters.go: the words of the kubelet's shutdown manager.
    condition=Condition("Ready", "False", "KubeletNotReady", "node is shutting down"),
    events=("NodeShutdown", "NodeNotReady"),
    pods="failed",
    # Page node-shutdown of kubernetes.io: Failed, reason Terminated, with this condition.
    disruption=Condition(
        "DisruptionTarget", "True", "TerminationByKubelet", f"Pod was terminated in response to {_SHUTDOWN}."
    ),
    # A managed instance group keeps its target size, and makes what is missing when there is capacity
    # (docs.cloud.google.com/compute/docs/instance-groups/about-bulk-mode, mode "individual").
    replaced=True,
    partial=True,
    # Page node-pool-upgrade-strategies: a surge upgrade drains each node; nothing is said of spot nodes.
    upgrade="drained",
    # hashicorp/terraform-provider-google #3304; kubernetes/autoscaler, cloudprovider/gce, reads the code as "out of resources".
    refused=Refusal(
        "ZONE_RESOURCE_POOL_EXHAUSTED",
        "Instance '{instance}' creation failed: The zone '{zone}' does not have enough resources available to fulfill the request. "
        "'(resource type:compute)'.",
    ),
    # GoogleCloudPlatform/k8s-config-connector #321; kubernetes/autoscaler, cloudprovider/gce, has the code.
    quota=Refusal(
        "QUOTA_EXCEEDED", "Instance '{instance}' creation failed: Quota 'PREEMPTIBLE_CPUS' exceeded in region {region}."
    ),
    # hashicorp/terraform-provider-google PR 10121; akka/akka-core #32992 (2026-09)
    later=Refusal(
        "GCE_STOCKOUT",
        "Instance '{instance}' creation failed: The zone '{zone}' does not have enough resources available to fulfill the request. "
        "'(resource type:compute)'.",
    ),
    # Visibility event scale.up.error.out.of.resources of GKE's autoscaler (page cluster-autoscaler-visibility).
    surfaced=True,
)
