"""The requests of a cluster's node auto-provisioning: AKS' machines API (2026-04-02-preview), as Karpenter's provider calls it.

A request that the compute service refuses is accepted all the same: the machine stays as Failed, with the error, until somebody
deletes it (Azure/karpenter-provider-azure v1.14.0, pkg/fake/aksmachinesapi.go and pkg/providers/instance/aksmachineinstance.go).
"""

import copy
from abc import abstractmethod
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from sandbox.azure import allocation, azure_ids, azure_nodes, provisioned, scale_sets
from sandbox.azure.azure_catalogue import machines, zones_of_region
from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.azure_quotas import Quotas
from sandbox.azure.resources.azure_requests import CLUSTER, MACHINES
from sandbox.azure.resources.provisioning_rules import enabled
from sandbox.azure.scale_sets import PROVISIONED_SPOT, SPOT
from sandbox.cloud import spot_nodes
from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.node_groups import NodeGroup
from sandbox.cloud.spot_nodes import SpotFacts
from sandbox.cloud.state import Body, Record, Resources

_FAILED = "sandbox:FailedMachine"
"""A machine that the compute service refused. It has no VM."""


class NodeProvisioning(EmulatedCloud):
    """Machines of node auto-provisioning. `AzureCloud` has the rest."""

    _quotas: Quotas

    @abstractmethod
    def _region(self, resources: Resources, pool: Record) -> str:
        """Return the region of a pool."""

    def _pools(self, resources: Resources, below: str = "") -> list[Record]:
        return [*resources.of_type(self.pool, below), *resources.of_type(MACHINES, below)]

    def _notice_of(self, pool: Record) -> SpotFacts:
        return PROVISIONED_SPOT if pool.token == MACHINES else SPOT

    def spot_of(self, pool_id: str) -> SpotFacts:
        return self._notice_of(self._read().records[azure_ids.key(pool_id)])

    def spot_machines(self) -> set[str]:
        """Return the machines of all spot pools, and with node auto-provisioning every size that is sold as spot."""
        sold = {size for size, machine in machines().items() if machine.spot != "no"} if self._provisioning() else set()
        return super().spot_machines() | sold

    def zones_of(self, machine: str) -> set[str] | None:
        known = super().zones_of(machine)
        clusters = self._provisioning()
        if not clusters or machine not in self.spot_machines():
            return known
        return (known or set()).union(*(zones_of_region(cluster.body["location"]) for cluster in clusters))

    def _provisioning(self) -> list[Record]:
        return [cluster for cluster in self._read().of_type(CLUSTER) if enabled(cluster.body)]

    def machine(self, cluster_id: str, name: str) -> Body:
        """Return a machine as GET does. Raises `Refused`."""
        resources = self._read()
        self._require(resources, cluster_id)
        for group in provisioned.groups(resources, cluster_id):
            if known := group.body["machines"].get(name):
                return _shown(resources, cluster_id, group, name, known)
        if failed := resources.get(_failed_id(cluster_id, name)):
            return failed.body
        raise _not_found(name)

    def machines_in(self, cluster_id: str) -> list[Body]:
        """Return every machine of a cluster. Raises `Refused`."""
        resources = self._read()
        self._require(resources, cluster_id)
        return [
            *(
                _shown(resources, cluster_id, group, name, known)
                for group in provisioned.groups(resources, cluster_id)
                for name, known in group.body["machines"].items()
            ),
            *(record.body for record in resources.of_type(_FAILED, below=cluster_id)),
        ]

    def put_machine(self, cluster_id: str, name: str, wanted: Body, match: str = "") -> Body:
        """Create or change a machine; what the service answers. Raises `Refused` where it accepts no request."""
        with self._change() as resources:
            cluster = self._require(resources, cluster_id)
            if changed := _update(resources, cluster_id, name, wanted, match):
                return changed
            _check(cluster.body, wanted)
            machine = _new(cluster, name, wanted)
            before = allocation.nodes_now(resources)
            existing = provisioned.group_of(resources, cluster_id, machine)
            had = provisioned.zones(existing)
            group = provisioned.add(resources, cluster_id, name, machine)
            if error := self._compute_refusal(resources, cluster, group, before, had):
                provisioned.remove(resources, group, [name])
                machine["properties"] |= {"provisioningState": "Failed"}
                machine["properties"]["status"]["provisioningError"] = error
                resources.put(Record(_FAILED, _failed_id(cluster_id, name), machine))
        self.apply_nodes(cluster_id)
        # What comes of it a GET tells.
        answer = copy.deepcopy(machine)
        answer["properties"] |= {"provisioningState": "Creating"}
        answer["properties"]["status"].pop("provisioningError", None)
        return answer

    def provisioned_groups(self, cluster_id: str, objects: Collection[Body]) -> list[NodeGroup]:
        """Return the NodePools among a cluster's objects as its autoscaler would see them, without machines."""
        resources = self._read()
        cluster = self._require(resources, cluster_id)
        classes = {each["metadata"]["name"]: each for each in objects if each["kind"] == "AKSNodeClass"}
        return [
            provisioned.declared_group(cluster, scale_sets.shown(cluster), each, classes[_class_of(each)])
            for each in objects
            if each["kind"] == "NodePool"
        ]

    def _compute_refusal(
        self, resources: Resources, cluster: Record, group: Record, before: Mapping[str, int], had: Collection[str]
    ) -> Body | None:
        """Return the error of a new machine that the compute service does not make. One that never comes stays, absent."""
        if refusal := allocation.machine_refusal(resources, before, self._quotas):
            return _error(*refusal, outer="QuotaExceeded" if refusal[0] == "OperationNotAllowed" else refusal[0])
        size, priority = self.view.capacity(group.body)
        if priority == "Spot" and machines()[size].spot == "no":
            return _spot_refusal(cluster.body["location"], size)
        if beyond := self._beyond(resources, group, had):
            first, bound = beyond[0]
            if not bound.silent:
                return _spot_refusal(cluster.body["location"], first.kind)
            spot_nodes.set_state(resources, group, [machine.name for machine, _ in beyond], "absent")
        return None

    def delete_machines(self, cluster_id: str, names: Collection[str]) -> None:
        """Delete machines; a missing one is refused. Raises `Refused`."""
        with self._change() as resources:
            self._require(resources, cluster_id)
            for name in names:
                failed = resources.get(_failed_id(cluster_id, name))
                group = next((g for g in provisioned.groups(resources, cluster_id) if name in g.body["machines"]), None)
                if failed:
                    resources.remove(failed.id)
                elif group:
                    provisioned.remove(resources, group, [name])
                else:
                    raise _not_found(name)
        self.apply_nodes(cluster_id)

    def _require(self, resources: Resources, cluster_id: str) -> Record:
        cluster = resources.get(cluster_id)
        if cluster is None or not enabled(cluster.body):
            # The pool of these machines is there with node auto-provisioning alone.
            raise _not_found(provisioned.POOL)
        return cluster


def _not_found(name: str) -> AzureRefused:
    # pkg/fake/aksmachinesapi.go: 404 NotFound, for a machine and for its pool.
    return aks("NotFound", f"{name} was not found.", status=404)


def _class_of(node_pool: Body) -> str:
    return str(node_pool["spec"]["template"]["spec"]["nodeClassRef"]["name"])


def _failed_id(cluster_id: str, name: str) -> str:
    return f"{cluster_id}/failedMachines/{name}"


def _spot_refusal(region: str, size: str) -> Body:
    """Return the error of a spot machine that Azure does not have."""
    code, _, words = SPOT.refused.text(size, region).partition(": ")
    return _error(code, words, outer=code)


def _error(code: str, message: str, *, outer: str) -> Body:
    """Return a provisioning error: the compute service's own is in its details (pkg/fake/aksmachinesapi.go)."""
    whole = f'Code="{code}" Message="{message}"'
    return {"code": outer, "message": whole, "details": [{"code": code, "message": message}]}


def _check(cluster: Body, wanted: Body) -> None:
    """Check a new machine. Raises `Refused`."""
    properties = wanted["properties"]
    size, region = properties["hardware"]["vmSize"], cluster["location"]
    machine = machines().get(size)
    if machine is None or machine.status == "retired":
        # pkg/fake/aksmachinesapi.go, AKSMachineAPIErrorVMSizeNotSupported.
        text = (
            f"Virtual Machine size: '{size}' is not supported for subscription {azure_ids.SUBSCRIPTION} in location '{region}'. "
            f"Please refer to aka.ms/aks/vm-size-selector to find supported VM sizes in location '{region}'."
        )
        raise aks("VMSizeNotSupported", text)
    for zone in wanted.get("zones") or ():
        if zone not in zones_of_region(region):
            # As for a pool (azure_machine_rules); for a machine UNCONFIRMED.
            text = f"The zone(s) '{zone}' for resource 'agentPoolProfiles' is not supported."
            raise aks("AvailabilityZoneNotSupported", text).as_read()


def _new(cluster: Record, name: str, wanted: Body) -> Body:
    """Return a machine as the service keeps it."""
    properties: Body = copy.deepcopy(wanted["properties"])
    body, now = cluster.body, datetime.now(UTC)
    group = f"/subscriptions/{cluster.id.split('/')[2]}/resourceGroups/{body['nodeResourceGroup']}"
    node = provisioned.vm_name(cluster.id, name)
    properties.setdefault("priority", "Regular")
    kubernetes = properties.setdefault("kubernetes", {})
    # AKS' own defaults of overlay networks (pkg/consts of the provider has the same).
    kubernetes["maxPods"] = kubernetes.get("maxPods") or (250 if body["networkProfile"].get("podCidr") else 30)
    system = properties.setdefault("operatingSystem", {})
    system["osDiskSizeGB"] = system.get("osDiskSizeGB") or 128
    properties |= {
        "provisioningState": "Succeeded",
        "resourceId": f"{group}/providers/Microsoft.Compute/virtualMachines/{node}",
        "eTag": azure_ids.guid("machine", node, now.isoformat()),
        "status": {"creationTimestamp": now.isoformat().replace("+00:00", "Z"), "vmState": "Running"},
    }
    id = f"{cluster.id}/agentPools/{provisioned.POOL}/machines/{name}"
    kind = "Microsoft.ContainerService/managedClusters/agentPools/machines"
    return {"id": id, "name": name, "type": kind, "zones": wanted.get("zones") or [], "properties": properties}


def _update(resources: Resources, cluster_id: str, name: str, wanted: Body, match: str) -> Body | None:
    """Change the tags of an existing machine, and nothing else; None for a new one. Raises `Refused`."""
    group = next((g for g in provisioned.groups(resources, cluster_id) if name in g.body["machines"]), None)
    if group is None:
        return None
    known: Body = group.body["machines"][name]
    before, after = known["properties"], wanted["properties"]
    if match and match != before["eTag"]:
        raise aks("ConditionNotMet", "The condition of If-Match is not met.", status=412)
    fixed: list[tuple[Any, Any]] = [
        (before["hardware"]["vmSize"], after.get("hardware", {}).get("vmSize")),
        (before["priority"], after.get("priority")),
        (known["zones"], wanted.get("zones") or None),
    ]
    if any(sent is not None and sent != kept for kept, sent in fixed):
        # pkg/fake/aksmachinesapi.go, doImmutablePropertiesChanged; the words are ours.
        raise aks("OperationNotAllowed", f"Size, priority and zone of machine {name} cannot be changed.").as_read()
    before["tags"] = after.get("tags", before.get("tags", {}))
    before["eTag"] = azure_ids.guid("machine", before["eTag"])
    return copy.deepcopy(known)


def _shown(resources: Resources, cluster_id: str, group: Record, name: str, machine: Body) -> Body:
    """Return a machine with its state: one that never came is still being made."""
    state = spot_nodes.states(resources, group).get(provisioned.vm_name(cluster_id, name))
    if state != "absent":
        return machine
    return {**machine, "properties": {**machine["properties"], "provisioningState": "Creating"}}


def settings(cluster_id: str, cluster: Body, subnet: str) -> dict[str, str]:
    """Return the environment of Karpenter for a cluster, by the names of its options (v1.14.0, pkg/operator/options).

    `subnet` is that of the cluster's own pools, empty in a network that AKS manages.
    """
    network = cluster["networkProfile"]
    group = azure_ids.group_id(cluster_id.split("/")[2], cluster["nodeResourceGroup"])
    digits = azure_nodes.scale_set_digits(cluster_id)
    managed = f"{group}/providers/Microsoft.Network/virtualNetworks/aks-vnet-{digits}/subnets/aks-subnet"
    return {
        "CLUSTER_NAME": azure_ids.last(cluster_id),
        "CLUSTER_ENDPOINT": f"https://{cluster['fqdn']}",
        "AZURE_NODE_RESOURCE_GROUP": cluster["nodeResourceGroup"],
        "VNET_SUBNET_ID": subnet or managed,
        "NETWORK_PLUGIN": network["networkPlugin"],
        "NETWORK_PLUGIN_MODE": network.get("networkPluginMode", ""),
        "NETWORK_POLICY": "" if network["networkPolicy"] == "none" else network["networkPolicy"],
        "NETWORK_DATAPLANE": network["networkDataplane"],
        "DNS_SERVICE_IP": network["dnsServiceIP"],
        "PROVISION_MODE": "aksmachineapi",
        "AKS_MACHINES_POOL_NAME": provisioned.POOL,
        "USE_SIG": "true",
        "SIG_SUBSCRIPTION_ID": azure_ids.SUBSCRIPTION,
        "SIG_ACCESS_TOKEN_SERVER_URL": "http://emulated",
        "KUBELET_BOOTSTRAP_TOKEN": "emulated.emulated",
        "SSH_PUBLIC_KEY": "ssh-rsa emulated",
        "ENABLE_AZURE_SDK_LOGGING": "false",
        # AKS acts on notices of eviction since August 2026 (Azure/AKS #5428, karpenter-provider-azure #1769); it is this gate.
        "FEATURE_GATES": "NodeRepair=true",
    }
