"""A cluster's pools as the kwok provider of the real cluster-autoscaler reads them.

The provider has no cloud, and so differs from AKS:

- a requested machine is a Node at once, which is not Ready; one that never registers stays so;
- the size of a group follows its Node objects: a deleted node lowers it and is not replaced;
- a node is like its group's template: pods get the machine's whole size, GPUs exist from the start;
- all nodes of a group have the zone of that template;
- a loop that follows a scale-up at once may ask for one node too many, since Node objects lag.

Facts from kubernetes/autoscaler at cluster-autoscaler-1.36.1, folder
cluster-autoscaler/cloudprovider/kwok.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from sandbox.cloud.node_groups import NodeGroup
from sandbox.kubernetes.client import Object

NAMESPACE = "kube-system"

_PREFIX = "cluster-autoscaler.kwok.nodegroup"
GROUP = f"{_PREFIX}/name"
"""The annotation with the group of the provider's nodes."""
_GPU_LABEL = "kubernetes.azure.com/accelerator"
_HOSTNAME = "kubernetes.io/hostname"


def config_maps(groups: Iterable[NodeGroup]) -> list[Object]:
    """Return the ConfigMaps with the provider's settings and a node of each autoscaled group."""
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
    """Return the Node objects of an autoscaled group's machines, for a cluster without them.

    The program accepts only such nodes as its own: an object from the cloud keeps the cloud's id.
    """
    return [_prepared(_template(group), name, group) for name in group.nodes]


def hostnames() -> list[Object]:
    """Return the admission policy that sets `kubernetes.io/hostname` of new nodes."""
    path = f'"/metadata/labels/" + jsonpatch.escapeKey("{_HOSTNAME}")'
    patch = f'[JSONPatch{{op: "add", path: {path}, value: object.metadata.name}}]'
    its = f'"{GROUP}" in object.metadata.?annotations.orValue({{}})'
    spec = {
        "matchConditions": [{"name": "its", "expression": its}],
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
    }
    return _policy("Mutating", "kwok-node-hostnames", spec, [])


def refusal_policy(texts: Mapping[str, str]) -> list[Object]:
    """Return the admission policy that refuses new nodes of these groups with the cloud's text.

    Empty without groups: then the caller deletes an earlier one. To the autoscaler the request is
    refused at once.
    """
    if not texts:
        return []
    group = f'object.metadata.?annotations[?"{GROUP}"].orValue("")'
    validations = [
        {"expression": f"{group} != {json.dumps(name)}", "message": text}
        for name, text in sorted(texts.items())
    ]
    return _policy("Validating", "kwok-no-capacity", {"validations": validations}, ["Deny"])


def _policy(kind: str, name: str, spec: Object, actions: list[str]) -> list[Object]:
    """Return an admission policy on new nodes and its binding."""
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
    """Return a node of a group with its bounds, not Ready, as every machine comes."""
    labels = dict(group.template["metadata"].get("labels", {}))
    labels.pop(_HOSTNAME, None)
    spec = dict(group.template.get("spec", {}))
    spec.pop("providerID", None)
    bounds = {
        "name": group.name,
        "min-count": str(group.least),
        "max-count": str(group.most),
        # The first size; the first scan corrects it by the existing nodes.
        "desired-count": str(group.least),
    }
    annotations = {f"{_PREFIX}/{key}": value for key, value in bounds.items()}
    status = group.template.get("status", {})
    others = [each for each in status.get("conditions", []) if each["type"] != "Ready"]
    boots = {"reason": "KubeletNotReady", "message": "the machine boots"}
    unready = {"type": "Ready", "status": "False", **boots}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": group.name, "labels": labels, "annotations": annotations},
        "spec": spec,
        "status": {**status, "conditions": [*others, unready]},
    }


def _prepared(template: Object, name: str, group: NodeGroup) -> Object:
    """Return a node as the provider makes it (kwok_helpers.go, prepareNode)."""
    metadata = {
        "name": name,
        "labels": {**template["metadata"]["labels"], _HOSTNAME: name},
        "annotations": {GROUP: group.name, "kwok.x-k8s.io/node": "fake"},
    }
    spec = {**template["spec"], "providerID": f"kwok:{name}"}
    return {**template, "metadata": metadata, "spec": spec}
