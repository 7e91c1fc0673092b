"""A stack for drills on Karpenter: the NodePools that the program declares, and an engine that runs them."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from drill.in_memory.stack import Stack
from drill.play.provisioning import Engine
from sandbox.azure import arm_server
from sandbox.cloud.node_groups import NodeGroup
from tests.components.emulated import EmulatedAzure
from tests.components.program import PROJECT, declare, stack_config
from tests.drill import in_memory_stack

_VERSIONS = {"NodePool": "karpenter.sh/v1", "AKSNodeClass": "karpenter.azure.com/v1beta1"}
_SIZES = {"D8": "Standard_D8ds_v5", "NC4": "Standard_NC4as_T4_v3"}
_SUBNET = "/subscriptions/1/resourceGroups/nodes/providers/Microsoft.Network/virtualNetworks/v/subnets/s"
_SETTINGS = {
    "CLUSTER_NAME": "ml-nap",
    "CLUSTER_ENDPOINT": "https://ml-nap",
    "AZURE_NODE_RESOURCE_GROUP": "nodes",
    "VNET_SUBNET_ID": _SUBNET,
    "NETWORK_PLUGIN": "azure",
    "NETWORK_PLUGIN_MODE": "overlay",
    "NETWORK_POLICY": "cilium",
    "NETWORK_DATAPLANE": "cilium",
    "DNS_SERVICE_IP": "10.0.0.10",
    "PROVISION_MODE": "aksmachineapi",
    "AKS_MACHINES_POOL_NAME": "aksmanagedap",
    "USE_SIG": "true",
    "SIG_SUBSCRIPTION_ID": "1",
    "SIG_ACCESS_TOKEN_SERVER_URL": "http://emulated",
    "KUBELET_BOOTSTRAP_TOKEN": "emulated.emulated",
    "SSH_PUBLIC_KEY": "ssh-rsa emulated",
    "FEATURE_GATES": "NodeRepair=true",
    "LOG_LEVEL": "error",
}


def node_pools(**options: Any) -> tuple[dict[str, Any], ...]:
    """Return the NodePools and classes of a stack like `in_memory_stack`, with options of `nodeProvisioning`."""
    settings = stack_config(PROJECT / "tests/configs/node-provisioning.happy.yaml")
    settings["kubeflow-spot:cloud"]["nodeProvisioning"] = options
    with TemporaryDirectory() as folder:
        cloud = EmulatedAzure(Path(folder) / "cloud.json", "westeurope")
        declared = declare(settings, cloud=cloud)
    found = []
    for resource in declared.resources:
        kind = resource.type.rpartition(":")[2]
        if kind in _VERSIONS:
            body = json.loads(json.dumps(dict(resource.inputs), default=str), parse_float=_whole)
            found.append({**body, "apiVersion": _VERSIONS[kind], "kind": kind})
    return tuple(found)


def _whole(text: str) -> int | float:
    # The mocks' numbers are all floating.
    return int(float(text)) if float(text).is_integer() else float(text)


def stack(program: Path, folder: Path, **options: Any) -> Stack:
    """Return the stack on Karpenter. The emulated Azure answers in `folder`, whose path must be short."""
    sizes = frozenset(_SIZES.values())
    arm_server.serve(lambda: None, folder / "azure", sizes)  # type: ignore[arg-type, return-value]
    arguments = ("--location=westeurope", "--subscription=1", "--resource-group=ml")
    engine = Engine(program, folder / "azure", arguments, _SETTINGS, node_pools(**options))
    own = in_memory_stack.stack()
    system = in_memory_stack.group("system", "on-demand", "D8", 0, 2, 2)
    groups = tuple(_real(group) for group in (system, *own.groups))
    pools = tuple(replace(pool, machine=_SIZES[pool.machine]) for pool in own.pools)
    zones = {**own.zones, "system": [in_memory_stack.ZONE]}
    return replace(own, groups=groups, pools=pools, zones=zones).with_engine(engine)


def _real(group: NodeGroup) -> NodeGroup:
    """Return a group whose machine Azure has, as a Node of its API."""
    labels: Mapping[str, str] = group.template["metadata"]["labels"]
    key = "node.kubernetes.io/instance-type"
    metadata = {**group.template["metadata"], "labels": {**labels, key: _SIZES[labels[key]]}}
    return replace(group, template={**group.template, "apiVersion": "v1", "kind": "Node", "metadata": metadata})
