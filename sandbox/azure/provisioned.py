"""Machines of node auto-provisioning: virtual machines of their own, which Karpenter asks AKS for and deletes again.

AKS keeps them in one pool of the mode Machines. Here those of one NodePool, size and priority are a record that is read like a
pool, so that spot capacity, evictions, quotas and subnets treat them as they treat pools. A machine is kept as the service returns
it.
"""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sandbox.azure import azure_ids, azure_nodes
from sandbox.azure.azure_catalogue import machines
from sandbox.azure.resources.azure_requests import MACHINES
from sandbox.cloud import node_groups
from sandbox.cloud.node_groups import Gpus, NodeGroup
from sandbox.cloud.state import Body, Record, Resources
from sandbox.kubernetes.node_objects import AT_REGISTRATION

POOL = "aksmanagedap"
"""The pool in which AKS keeps them (karpenter-provider-azure v1.14.0, test/pkg/environment/azure/environment.go)."""

NODE_POOL = "karpenter.sh_nodepool"
"""The tag with the NodePool (karpenter-provider-azure v1.14.0, pkg/providers/launchtemplate/launchtemplate.go)."""

_IMAGE = "AKSUbuntu-2404gen2containerd-202605.20.0"


def vm_name(cluster_id: str, machine: str) -> str:
    """Return the name of a machine's VM, which is its node's (v1.14.0, pkg/providers/instance/aksmachineinstanceutils.go)."""
    return f"aks-{POOL}-{machine}-{azure_nodes.scale_set_digits(cluster_id)}-vm"


def group_of(resources: Resources, cluster_id: str, machine: Body) -> Record:
    """Return the record for a machine: that of its NodePool, size and priority, or a new one."""
    properties = machine["properties"]
    size, priority = properties["hardware"]["vmSize"], properties["priority"]
    name = properties.get("tags", {}).get(NODE_POOL) or POOL
    known = resources.get(f"{cluster_id}/machines/{name}")
    if known and _kind(known.body) != (size, priority):
        # A NodePool of several sizes or priorities.
        name = f"{name}-{hashlib.sha256(f'{size} {priority}'.encode()).hexdigest()[:4]}"
        known = resources.get(f"{cluster_id}/machines/{name}")
    return known or Record(MACHINES, f"{cluster_id}/machines/{name}", _new_body(name, properties))


def _kind(body: Body) -> tuple[str, str]:
    return body["vmSize"], body.get("scaleSetPriority", "Regular")


def _new_body(name: str, properties: Body) -> Body:
    spot = {"scaleSetPriority": "Spot"} if properties["priority"] == "Spot" else {}
    subnet = properties.get("network", {}).get("vnetSubnetID")
    return {
        "name": name,
        "vmSize": properties["hardware"]["vmSize"],
        "enableAutoScaling": False,
        "mode": "User",
        "count": 0,
        "machines": {},
        **spot,
        **({"vnetSubnetID": subnet} if subnet else {}),
        "maxPods": properties["kubernetes"]["maxPods"],
    }


def add(resources: Resources, cluster_id: str, name: str, machine: Body) -> Record:
    """Keep a machine; the record that it is in."""
    group = group_of(resources, cluster_id, machine)
    resources.put(group)
    group.body["machines"][name] = machine
    group.body["count"] = len(group.body["machines"])
    return group


def remove(resources: Resources, group: Record, names: Collection[str]) -> None:
    """Forget machines by their own names, and the record with the last of them."""
    left = {name: machine for name, machine in group.body["machines"].items() if name not in names}
    group.body |= {"machines": left, "count": len(left)}
    if not left:
        resources.remove(group.id)


def take(resources: Resources, group: Record, nodes: Collection[str]) -> None:
    """Forget machines by their nodes' names; a missing one is no error."""
    cluster_id = azure_ids.parent(group.id)
    remove(resources, group, [name for name in group.body["machines"] if vm_name(cluster_id, name) in nodes])


def groups(resources: Resources, cluster_id: str = "") -> list[Record]:
    return resources.of_type(MACHINES, below=cluster_id)


def zones(group: Record) -> dict[str, str]:
    """Return the machines by their nodes' names, oldest first, each with its zone; "" without one."""
    cluster_id = azure_ids.parent(group.id)
    return {
        vm_name(cluster_id, name): next(iter(machine.get("zones", ())), "")
        for name, machine in group.body["machines"].items()
    }


def nodes(cluster: Record, body: Body, group: Record) -> list[dict[str, Any]]:
    """Return the nodes of the machines in a record; `body` is the cluster's with the parts that labels need."""
    return [_node(cluster.id, body, pool, name) for name, pool in _pools(group)]


def _pools(group: Record) -> Iterator[tuple[str, Body]]:
    """Return each machine as a pool of one: what makes a node of it reads pools."""
    for name, machine in group.body["machines"].items():
        properties = machine["properties"]
        system, kubernetes = properties.get("operatingSystem", {}), properties["kubernetes"]
        pool = {
            **group.body,
            "name": POOL,
            # The type of pools whose machines are no scale set; UNCONFIRMED for this one.
            "type": "VirtualMachines",
            "osSKU": system["osSKU"].removesuffix("2204").removesuffix("2404"),
            "osDiskType": system["osDiskType"],
            "osDiskSizeGB": system["osDiskSizeGB"],
            "availabilityZones": machine.get("zones", []),
            "nodeImageVersion": properties.get("nodeImageVersion", _IMAGE),
            "nodeLabels": kubernetes.get("nodeLabels", {}),
            "nodeTaints": [*kubernetes.get("nodeTaints", []), *kubernetes.get("nodeInitializationTaints", [])],
        }
        yield name, pool


def _node(cluster_id: str, cluster: Body, pool: Body, name: str) -> dict[str, Any]:
    node_name, machine = vm_name(cluster_id, name), machines()[pool["vmSize"]]
    own = azure_nodes.labels(cluster_id, cluster, pool, machine, 0, node_name)
    provider_id = f"azure://{azure_nodes.compute(cluster_id, cluster)}/virtualMachines/{node_name}"
    status = azure_nodes.new_status(pool, machine)
    node = node_groups.node(node_name, own, provider_id, [], status)
    # Once, when the kubelet registers: Karpenter takes one of these away and adds its own.
    return {**node, AT_REGISTRATION: {"taints": azure_nodes.taints_of(pool["nodeTaints"])}}


def group_view(cluster: Record, body: Body, group: Record) -> NodeGroup:
    """Return a record as the autoscaler sees pools: one that it never changes."""
    machine = machines()[group.body["vmSize"]]
    template: Mapping[str, Any] = next(iter(nodes(cluster, body, group)), {})
    gpus = Gpus(machine.nvidia_gpus, machine.gpu_memory_gb)
    return NodeGroup(
        name=group.body["name"],
        pool=group.body["name"],
        pool_id=group.id,
        least=None,
        most=None,
        nodes=tuple(zones(group)),
        template=dict(template),
        gpus=gpus if gpus.count else None,
    )


def declared_group(cluster: Record, body: Body, node_pool: Body, node_class: Body) -> NodeGroup:
    """Return a NodePool that has no machines as the autoscaler sees pools: its nodes would be like this.

    `node_pool` and `node_class` are the objects in the cluster. One size and one capacity type are read of several.
    """
    name, template = node_pool["metadata"]["name"], node_pool["spec"]["template"]
    values = {each["key"]: each["values"] for each in template["spec"]["requirements"]}
    (size, *_), (capacity, *_) = values["node.kubernetes.io/instance-type"], values["karpenter.sh/capacity-type"]
    own = {"karpenter.sh/nodepool": name, "karpenter.sh/capacity-type": capacity}
    priority = {"spot": "Spot"}.get(capacity, "Regular")
    machine: dict[str, Any] = {
        "zones": [],
        "properties": {
            "hardware": {"vmSize": size},
            "priority": priority,
            "kubernetes": {
                "maxPods": node_class["spec"].get("maxPods") or (250 if body["networkProfile"].get("podCidr") else 30),
                "nodeLabels": {**template["metadata"].get("labels", {}), **own},
                "nodeTaints": [_as_text(taint) for taint in template["spec"].get("taints") or ()],
            },
            "operatingSystem": {"osSKU": "Ubuntu", "osDiskType": "Managed", "osDiskSizeGB": 128},
        },
    }
    group = Record(MACHINES, f"{cluster.id}/machines/{name}", _new_body(name, machine["properties"]))
    group.body["machines"][name] = machine
    shown = group_view(cluster, body, group)
    node = {**shown.template, "spec": {**shown.template["spec"], **shown.template[AT_REGISTRATION]}}
    del node[AT_REGISTRATION]
    limit = node_pool["spec"].get("limits", {}).get("nodes")
    return replace(shown, least=0, most=int(limit) if limit else None, nodes=(), template=node)


def _as_text(taint: Body) -> str:
    return f"{taint['key']}={taint.get('value', '')}:{taint['effect']}"
