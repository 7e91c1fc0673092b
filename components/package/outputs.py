"""Outputs of the component, as the package's schema types them."""

from __future__ import annotations

from typing import Any

Property = dict[str, Any]


def _object(properties: dict[str, Property], description: str, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "description": description, "properties": properties, "required": required}


def _text(description: str) -> Property:
    return {"type": "string", "description": description}


def _number(description: str) -> Property:
    return {"type": "integer", "description": description}


def _many(items: Property, description: str) -> Property:
    return {"type": "array", "items": items, "description": description}


def _map(items: Property, description: str) -> Property:
    return {"type": "object", "additionalProperties": items, "description": description}


_TEXT: Property = {"type": "string"}


def _ref(name: str, description: str = "") -> Property:
    reference = {"$ref": f"#/types/kubeflow-spot:index:{name}"}
    return {**reference, "description": description} if description else reference


_BOUNDS = {
    "name": _text("The pool's name."),
    "machine": _text("The cloud's machine size."),
    "capacity": _text("`spot`, of either kind, `flex-start` or `on-demand`."),
    "minNodes": _number("Fewest nodes of the whole pool."),
    "maxNodes": _number("Most nodes of the whole pool."),
}

_ANY: Property = {"$ref": "pulumi.json#/Any"}

TYPES: dict[str, dict[str, Any]] = {
    "OverriddenPin": _object(
        {
            "pin": _text("The pin's name."),
            "value": _text("What the cluster takes."),
            "instead": _text("What the release has."),
            "reason": _text("Why."),
        },
        "A pin of the release that the settings override.",
    ),
    "SystemPoolOutput": _object(_BOUNDS, "The system pool."),
    "NodeTaint": _object(
        {"key": _text("Key."), "value": _text("Value."), "effect": _text("Effect.")}, "A Kubernetes node taint."
    ),
    "PodToleration": _object(
        {
            "key": _text("Key of the taint."),
            "operator": _text("`Equal` or `Exists`."),
            "value": _text("Value of the taint; with `Equal`."),
            "effect": _text("Effect of the taint; left out: all."),
        },
        "A Kubernetes toleration.",
        ("value", "effect"),
    ),
    "NodePool": _object(
        {
            **_BOUNDS,
            "label": _text("Value of the label `kubeflow-spot.dev/pool` on the pool's nodes."),
            "gpus": _number("GPUs of a machine."),
            "largestRequest": _map(_TEXT, "The most that one pod can ask for."),
            "labels": _map(_TEXT, "Labels of the pool's nodes."),
            "taints": _many(_ref("NodeTaint"), "Taints of the pool's nodes."),
            "tolerations": _many(_ref("PodToleration"), "Tolerations that a pod needs to run there."),
        },
        "A pool: one of the settings, or an on-demand twin.",
        ("largestRequest",),
    ),
    "ExistingPlugin": _object(
        {
            "namespace": _text("Its namespace."),
            "name": _text("Its name."),
            "pools": _many(_TEXT, "Names of the pools it serves."),
        },
        "A device plugin that is not this component's.",
    ),
    "DevicePluginOutput": _object(
        {
            "pools": _many(_TEXT, "Names of the pools with this component's device plugin."),
            "leftTo": _many(_ref("ExistingPlugin"), "Who serves the other GPU pools."),
        },
        "NVIDIA's device plugin.",
    ),
    "ExpanderTierOutput": _object(
        {
            "priority": _number("The highest grows first."),
            "pools": _many(_TEXT, "Names of pools."),
            "groups": _many(_TEXT, "Regular expressions of node group names."),
        },
        "A line of the priority expander's ConfigMap.",
    ),
    "ComputeClassOutput": _object(
        {
            "name": _text("Its name."),
            "pools": _many(_TEXT, "Names of its pools, in order."),
            "byDefault": {"type": "boolean", "description": "Whether GPU pods get it by themselves."},
        },
        "The ComputeClass that holds the order in which GPU pools grow on GKE.",
    ),
    "SchedulingOutput": _object(
        {
            "enabled": {"type": "boolean", "description": "Whether the cluster has policies of this component."},
            "defaults": _map(
                _map(_TEXT, ""), "Placement by workload kind, for pods with (`gpu`) and without (`cpu`) GPU."
            ),
            "guard": _text("The guard's mode."),
            "shortfall": _many(_TEXT, "What this Kubernetes version cannot do, and what to do instead."),
        },
        "Placement by default, and the guard.",
        ("defaults", "guard", "shortfall"),
    ),
    "ContractPool": _object(
        {
            "name": _text("The pool's name."),
            "label": _text("Value of the label `kubeflow-spot.dev/pool` on its nodes."),
            "capacity": _text("`spot`, of either kind, `flex-start` or `on-demand`."),
            "accelerator": _text("GPU model; left out for a pool without GPUs."),
            "gpus": _number("GPUs of a machine."),
            "largestRequest": _map(_TEXT, "The most that one pod can ask for."),
            "labels": _map(_TEXT, "Labels of its nodes."),
            "taints": _many(_ref("NodeTaint"), "Taints of its nodes."),
        },
        "A pool as a pod sees it.",
        ("accelerator", "largestRequest"),
    ),
    "ContractOutput": _object(
        {
            "namespace": _text("Its namespace."),
            "name": _text("Its name."),
            "placementLabel": _text("The label by which pods and namespaces choose a placement."),
            "placements": _many(_TEXT, "Values of that label."),
            "snippets": _map(_ANY, "Parts of a pod's spec by name."),
            "pools": _many(_ref("ContractPool"), "The pools as a pod sees them."),
        },
        "The ConfigMap that tells users' tools about the pools.",
    ),
    "CheckpointsOutput": _object(
        {"url": _text("Its address for fsspec, with a `/` at the end.")}, "The storage of checkpoints."
    ),
    "ProfileAccessOutput": _object(
        {
            "namespace": _text("The profile's namespace."),
            "serviceAccounts": _many(_TEXT, "The service accounts whose pods have the access."),
            "url": _text("Where its objects are, with a `/` at the end."),
            "labels": _map(_TEXT, "Labels that such a pod must have."),
            "env": _map(_TEXT, "Environment variables that such a pod must have."),
        },
        "A profile's access to the checkpoints.",
    ),
    "WorkloadsOutput": _object(
        {
            "checkpoints": _ref("CheckpointsOutput", "The storage of checkpoints."),
            "profiles": _many(_ref("ProfileAccessOutput"), "The profiles that reach their own part of it."),
            "storageClass": _text("A StorageClass of volumes that stay, and are not bound to one zone."),
        },
        "Storage for users' work.",
        ("checkpoints", "profiles", "storageClass"),
    ),
}

OUTPUTS: dict[str, Property] = {
    "clusterName": _text("The cluster's name."),
    "resourceGroup": _text("AKS: the cluster's resource group."),
    "project": _text("GKE: the cluster's project."),
    "location": _text("GKE: the cluster's region or zone."),
    "kubeconfig": {**_text("Credentials of the cluster."), "secret": True},
    "kubeconfigCommand": _text("The command that writes a kubeconfig for the cluster."),
    "kubernetesVersion": _text("The cluster's Kubernetes version."),
    "release": _text("The name of the release."),
    "overrides": _many(_ref("OverriddenPin"), "Pins of the release that the settings override."),
    "systemPool": _ref("SystemPoolOutput", "The system pool of a cluster that this component makes."),
    "pools": _many(_ref("NodePool"), "The pools, twins among them."),
    "devicePlugin": _ref("DevicePluginOutput", "Which pools have NVIDIA's device plugin from whom."),
    "expander": _many(_ref("ExpanderTierOutput"), "Lines of the priority expander's ConfigMap."),
    "fallbackOrder": _text("What keeps the order in which pools grow, or why nothing does."),
    "computeClass": _ref("ComputeClassOutput", "GKE: the ComputeClass."),
    "scheduling": _ref("SchedulingOutput", "Placement by default, and the guard."),
    "contract": _ref("ContractOutput", "The ConfigMap that tells users' tools about the pools."),
    "workloads": _ref("WorkloadsOutput", "Storage for users' work."),
    "kubeflowValues": {
        **_map(_ANY, ""),
        "description": "For the kustomize components in `kubeflow/`: an object that kustomize reads.",
    },
    "queueing": {
        **_map(_ANY, ""),
        "description": "With `queueing.enabled`: a List of Kueue's objects for `kubectl apply`.",
    },
    "remembered": {
        **_map(_ANY, ""),
        "description": "What the next update compares with: export it as an output of the stack, under any name.",
    },
}
"""By name. A cloud has not all of them."""

ALWAYS = (
    *("clusterName", "kubeconfig", "kubeconfigCommand", "kubernetesVersion"),
    *(
        "release",
        "overrides",
        "pools",
        "devicePlugin",
        "expander",
        "fallbackOrder",
        "scheduling",
        "kubeflowValues",
        "remembered",
    ),
)
"""Outputs of every cloud."""
