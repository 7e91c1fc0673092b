"""Types of a stack's outputs: what `components.outputs` and the plans return, and what the
component package's schema says.

Names are those of the outputs; a type's docstring and its texts are the schema's descriptions.
"""

# Not `annotations` of `__future__`: a TypedDict could not tell which keys are optional.
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict

from pydantic import SecretStr


class OverriddenPin(TypedDict):
    """A pin of the release that the settings override."""

    pin: Annotated[str, "The pin's name."]
    value: Annotated[str, "What the cluster takes."]
    instead: Annotated[str, "What the release has."]
    reason: Annotated[str, "Why."]


class SystemPoolOutput(TypedDict):
    """The system pool."""

    name: Annotated[str, "The pool's name."]
    machine: Annotated[str, "The cloud's machine size."]
    capacity: Annotated[str, "`spot`, of either kind, `flex-start` or `on-demand`."]
    minNodes: Annotated[int, "Fewest nodes of the whole pool."]
    maxNodes: Annotated[int, "Most nodes of the whole pool."]


class NodeTaint(TypedDict):
    """A Kubernetes node taint."""

    key: Annotated[str, "Key."]
    value: Annotated[str, "Value."]
    effect: Annotated[str, "Effect."]


class PodToleration(TypedDict):
    """A Kubernetes toleration."""

    key: Annotated[str, "Key of the taint."]
    operator: Annotated[str, "`Equal` or `Exists`."]
    value: NotRequired[Annotated[str, "Value of the taint; with `Equal`."]]
    effect: NotRequired[Annotated[str, "Effect of the taint; left out: all."]]


class NodePool(SystemPoolOutput):
    """A pool: one of the settings, or an on-demand twin."""

    label: Annotated[str, "Value of the label `kubeflow-spot.dev/pool` on the pool's nodes."]
    gpus: Annotated[int, "GPUs of a machine."]
    largestRequest: NotRequired[Annotated[Mapping[str, str], "The most that one pod can ask for."]]
    labels: Annotated[Mapping[str, str], "Labels of the pool's nodes."]
    taints: Annotated[Sequence[NodeTaint], "Taints of the pool's nodes."]
    tolerations: Annotated[Sequence[PodToleration], "Tolerations that a pod needs to run there."]


class ExistingPlugin(TypedDict):
    """A device plugin that is not this component's."""

    namespace: Annotated[str, "Its namespace."]
    name: Annotated[str, "Its name."]
    pools: Annotated[Sequence[str], "Names of the pools it serves."]


class DevicePluginOutput(TypedDict):
    """NVIDIA's device plugin."""

    pools: Annotated[Sequence[str], "Names of the pools with this component's device plugin."]
    leftTo: Annotated[Sequence[ExistingPlugin], "Who serves the other GPU pools."]


class ExpanderTierOutput(TypedDict):
    """A line of the priority expander's ConfigMap."""

    priority: Annotated[int, "The highest grows first."]
    pools: Annotated[Sequence[str], "Names of pools."]
    groups: Annotated[Sequence[str], "Regular expressions of node group names."]


class ComputeClassOutput(TypedDict):
    """The ComputeClass that holds the order in which GPU pools grow on GKE."""

    name: Annotated[str, "Its name."]
    pools: Annotated[Sequence[str], "Names of its pools, in order."]
    byDefault: Annotated[bool, "Whether GPU pods get it by themselves."]


class SchedulingOutput(TypedDict):
    """Placement by default, and the guard."""

    enabled: Annotated[bool, "Whether the cluster has policies of this component."]
    defaults: NotRequired[
        Annotated[
            Mapping[str, Mapping[str, str]],
            "Placement by workload kind, for pods with (`gpu`) and without (`cpu`) GPU.",
        ]
    ]
    guard: NotRequired[Annotated[str, "The guard's mode."]]
    shortfall: NotRequired[
        Annotated[Sequence[str], "What this Kubernetes version cannot do, and what to do instead."]
    ]


class ContractPool(TypedDict):
    """A pool as a pod sees it."""

    name: Annotated[str, "The pool's name."]
    label: Annotated[str, "Value of the label `kubeflow-spot.dev/pool` on its nodes."]
    capacity: Annotated[str, "`spot`, of either kind, `flex-start` or `on-demand`."]
    accelerator: NotRequired[Annotated[str, "GPU model; left out for a pool without GPUs."]]
    gpus: Annotated[int, "GPUs of a machine."]
    largestRequest: NotRequired[Annotated[Mapping[str, str], "The most that one pod can ask for."]]
    labels: Annotated[Mapping[str, str], "Labels of its nodes."]
    taints: Annotated[Sequence[NodeTaint], "Taints of its nodes."]


class ContractOutput(TypedDict):
    """The ConfigMap that tells users' tools about the pools."""

    namespace: Annotated[str, "Its namespace."]
    name: Annotated[str, "Its name."]
    placementLabel: Annotated[str, "The label by which pods and namespaces choose a placement."]
    placements: Annotated[Sequence[str], "Values of that label."]
    snippets: Annotated[Mapping[str, Any], "Parts of a pod's spec by name."]
    pools: Annotated[Sequence[ContractPool], "The pools as a pod sees them."]


class CheckpointsOutput(TypedDict):
    """The storage of checkpoints."""

    url: Annotated[str, "Its address for fsspec, with a `/` at the end."]


class ProfileAccessOutput(TypedDict):
    """A profile's access to the checkpoints."""

    namespace: Annotated[str, "The profile's namespace."]
    serviceAccounts: Annotated[Sequence[str], "The service accounts whose pods have the access."]
    url: Annotated[str, "Where its objects are, with a `/` at the end."]
    labels: Annotated[Mapping[str, str], "Labels that such a pod must have."]
    env: Annotated[Mapping[str, str], "Environment variables that such a pod must have."]


class WorkloadsOutput(TypedDict, total=False):
    """Storage for users' work."""

    checkpoints: Annotated[CheckpointsOutput, "The storage of checkpoints."]
    profiles: Annotated[
        Sequence[ProfileAccessOutput], "The profiles that reach their own part of it."
    ]
    storageClass: Annotated[
        str, "A StorageClass of volumes that stay, and are not bound to one zone."
    ]


class ClusterOutputs(TypedDict):
    """All outputs; no cloud has all of them."""

    clusterName: Annotated[str, "The cluster's name."]
    resourceGroup: NotRequired[Annotated[str, "AKS: the cluster's resource group."]]
    project: NotRequired[Annotated[str, "GKE: the cluster's project."]]
    location: NotRequired[Annotated[str, "GKE: the cluster's region or zone."]]
    kubeconfig: Annotated[SecretStr, "Credentials of the cluster."]
    kubeconfigCommand: Annotated[str, "The command that writes a kubeconfig for the cluster."]
    kubernetesVersion: Annotated[str, "The cluster's Kubernetes version."]
    release: Annotated[str, "The name of the release."]
    overrides: Annotated[Sequence[OverriddenPin], "Pins of the release that the settings override."]
    systemPool: NotRequired[
        Annotated[SystemPoolOutput, "The system pool of a cluster that this component makes."]
    ]
    pools: Annotated[Sequence[NodePool], "The pools, twins among them."]
    devicePlugin: Annotated[
        DevicePluginOutput, "Which pools have NVIDIA's device plugin from whom."
    ]
    expander: Annotated[Sequence[ExpanderTierOutput], "Lines of the priority expander's ConfigMap."]
    acceptedWait: Annotated[
        str, "How long a pod may wait for a node (growth.acceptedWait): what drills judge waits by."
    ]
    fallbackOrder: Annotated[str, "What keeps the order in which pools grow, or why nothing does."]
    computeClass: NotRequired[Annotated[ComputeClassOutput, "GKE: the ComputeClass."]]
    scheduling: Annotated[SchedulingOutput, "Placement by default, and the guard."]
    contract: NotRequired[
        Annotated[ContractOutput, "The ConfigMap that tells users' tools about the pools."]
    ]
    workloads: NotRequired[Annotated[WorkloadsOutput, "Storage for users' work."]]
    kubeflowValues: Annotated[
        Mapping[str, Any],
        "For the kustomize components in `kubeflow/`: an object that kustomize reads.",
    ]
    alerts: NotRequired[
        Annotated[
            Mapping[str, Any], "With `alerts`: the rule group, as a file of rules for Prometheus."
        ]
    ]
    queueing: NotRequired[
        Annotated[
            Mapping[str, Any],
            "With `queueing.enabled`: a List of Kueue's objects for `kubectl apply`.",
        ]
    ]
    remembered: Annotated[
        Mapping[str, Any],
        "What the next update compares with: export it as an output of the stack, under any name.",
    ]
