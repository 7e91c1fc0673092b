"""A cluster's pools as the kwok provider of the real cluster-autoscaler reads them.

The provider has no cloud, and so differs from AKS:

- a machine is in the cluster, as a Node that is not Ready, the moment it is asked for; "never registers" is a node that stays so;
- the size of a group follows its Node objects, so a deleted node lowers it at once and nobody replaces it;
- a node is as its group's template promises: all of the machine's size is for pods, and its GPUs are there from the beginning;
- all nodes of a group have the zone of that template;
- a loop that follows a scale-up at once now and then asks for one node too many: the Node objects it counts are not all there yet.

Facts from kubernetes/autoscaler at cluster-autoscaler-1.36.1, folder cluster-autoscaler/cloudprovider/kwok.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sandbox.cloud.node_groups import NodeGroup

Object = dict[str, Any]

NAMESPACE = "kube-system"

_PREFIX = "cluster-autoscaler.kwok.nodegroup"
GROUP = f"{_PREFIX}/name"
"""The annotation of the provider's nodes that has the name of their group."""
_GPU_LABEL = "kubernetes.azure.com/accelerator"
_HOSTNAME = "kubernetes.io/hostname"


def config_maps(groups: Iterable[NodeGroup]) -> list[Object]:
    """The ConfigMaps that the provider reads when it starts: its settings, and a node of each autoscaled group."""
    settings = {
        "apiVersion": "v1alpha1",
        "readNodesFrom": "configmap",
        # By annotation: the nodes of pools that are not autoscaled carry the same labels.
        "nodegroups": {"fromNodeAnnotationKey": GROUP},
        "nodes": {
            "skipTaint": True,
            "gpuConfig": {"gpuLabelKey": _GPU_LABEL, "availableGPUTypes": {"nvidia": {}}},
        },
        "configmap": {"name": "kwok-provider-templates"},
    }
    nodes = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [_template(group) for group in groups if group.least is not None],
    }
    # JSON is YAML.
    return [
        _config_map("kwok-provider-config", {"config": json.dumps(settings)}),
        _config_map("kwok-provider-templates", {"templates": json.dumps(nodes)}),
    ]


def first_nodes(group: NodeGroup) -> list[Object]:
    """The Node objects of the machines that an autoscaled group has by now, for a cluster that is yet without them.

    The program takes only such nodes for its own: an object that came from the cloud keeps the cloud's id.
    """
    return [_made(_template(group), name, group) for name in group.nodes]


def hostnames() -> list[Object]:
    """The admission policy that gives each new node its own name as `kubernetes.io/hostname`, as a kubelet does."""
    path = f'"/metadata/labels/" + jsonpatch.escapeKey("{_HOSTNAME}")'
    patch = f'[JSONPatch{{op: "add", path: {path}, value: object.metadata.name}}]'
    its = f'"{GROUP}" in object.metadata.?annotations.orValue({{}})'
    spec = {
        "matchConditions": [{"name": "its", "expression": its}],
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
    }
    return _policy("Mutating", "kwok-node-hostnames", spec, [])


def refusing(texts: Mapping[str, str]) -> list[Object]:
    """The admission policy that refuses each new node of these groups, by name, with a text of the cloud's: "SkuNotAvailable".

    Empty without groups; the caller deletes an earlier one then. The autoscaler takes it for a refusal at once.
    """
    group = f'object.metadata.?annotations[?"{GROUP}"].orValue("")'
    validations = [
        {"expression": f"{group} != {json.dumps(name)}", "message": text}
        for name, text in sorted(texts.items())
    ]
    return (
        _policy("Validating", "kwok-no-capacity", {"validations": validations}, ["Deny"])
        if texts
        else []
    )


def _policy(kind: str, name: str, spec: Object, actions: list[str]) -> list[Object]:
    """An admission policy on new nodes and its binding."""
    api = {"apiVersion": "admissionregistration.k8s.io/v1"}
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["nodes"],
        "operations": ["CREATE"],
    }
    spec = {"matchConstraints": {"resourceRules": [rule]}, "failurePolicy": "Fail", **spec}
    bound = {"policyName": name, **({"validationActions": actions} if actions else {})}
    return [
        {**api, "kind": f"{kind}AdmissionPolicy", "metadata": {"name": name}, "spec": spec},
        {**api, "kind": f"{kind}AdmissionPolicyBinding", "metadata": {"name": name}, "spec": bound},
    ]


def _config_map(name: str, data: Mapping[str, str]) -> Object:
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(data)}


def _template(group: NodeGroup) -> Object:
    """A group's node with its bounds, not Ready, as every machine comes."""
    labels = {
        key: value
        for key, value in group.template["metadata"].get("labels", {}).items()
        if key != _HOSTNAME
    }
    bounds = {"name": group.name, "min-count": str(group.least), "max-count": str(group.most)}
    # The size that it counts from; the nodes there are correct it in the first scan.
    annotations = {
        f"{_PREFIX}/{key}": value
        for key, value in {**bounds, "desired-count": str(group.least)}.items()
    }
    status = group.template.get("status", {})
    others = [
        condition for condition in status.get("conditions", []) if condition["type"] != "Ready"
    ]
    unready = {
        "type": "Ready",
        "status": "False",
        "reason": "KubeletNotReady",
        "message": "the machine boots",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": group.name, "labels": labels, "annotations": annotations},
        "spec": {
            key: value
            for key, value in group.template.get("spec", {}).items()
            if key != "providerID"
        },
        "status": {**status, "conditions": [*others, unready]},
    }


def _made(template: Object, name: str, group: NodeGroup) -> Object:
    """A node as the provider makes it (kwok_helpers.go, prepareNode)."""
    metadata = {
        "name": name,
        "labels": {**template["metadata"]["labels"], _HOSTNAME: name},
        "annotations": {GROUP: group.name, "kwok.x-k8s.io/node": "fake"},
    }
    return {
        **template,
        "metadata": metadata,
        "spec": {**template["spec"], "providerID": f"kwok:{name}"},
    }
