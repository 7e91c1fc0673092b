"""Clusters: the body GKE returns for a request, as the provider shows it.

Source of what replaces and what is computed: terraform-provider-google-beta services/container/resource_container_cluster.go.
Defaults are those of terraform-provider-google-beta and of the pages named beside them. What GKE refuses is in `cluster_rules`.

Deliberately without Autopilot, inline pools and auto-provisioned pools.
"""

from __future__ import annotations

import copy
from types import MappingProxyType
from typing import Any, ClassVar

from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import ids, places, versions
from sandbox.gcp.resources import cluster_rules, pool
from sandbox.gcp.resources.cluster_path import CLUSTER, CLUSTER_PATH, POOL, pools_of
from sandbox.gcp.resources.cluster_request import ClusterRequest
from sandbox.gcp.resources.resource_type import Kind, Settings, location_parameters
from sandbox.gcp.resources.subnet_rules import ranges
from sandbox.gcp.resources.validation import cluster_name, control_plane_range, network, one_of, time_of_day

DEFAULT_POOL = "default-pool"

_MAX_PODS = 110
# Page alias-ips: ranges that GKE manages where none was named.
_SERVICES = "34.118.224.0/20"
_PODS = "10.64.0.0/14"

_LOGS = ("SYSTEM_COMPONENTS", "APISERVER", "CONTROLLER_MANAGER", "KCP_CONNECTION", "KCP_SSHD", "KCP_HPA", "KCP_VPA")
_METRICS = (
    *("SYSTEM_COMPONENTS", "APISERVER", "SCHEDULER", "CONTROLLER_MANAGER", "STORAGE", "HPA", "POD", "DAEMONSET"),
    *("DEPLOYMENT", "STATEFULSET", "KUBELET", "CADVISOR", "DCGM", "JOBSET"),
)
_PRIVATE = "privateClusterConfig"


class Cluster(Kind):
    """A Standard cluster."""

    token = CLUSTER
    path = CLUSTER_PATH
    deleting = "Error deleting Cluster: "
    longest_name = 255
    lower_name = False
    worked_on = True
    sets = frozenset({"nodeLocations", "loggingConfig.enableComponents", "nodeConfig.oauthScopes"})
    links = frozenset({"network", "subnetwork", f"{_PRIVATE}.privateEndpointSubnetwork"})
    maps = frozenset({"resourceLabels", "nodeConfig.labels", "nodeConfig.resourceLabels", "nodeConfig.metadata"})
    virtual = Kind.virtual | {
        "deletionProtection",
        "removeDefaultNodePool",
        "ignoreNodeCountChanges",
        "skipNodePoolRefresh",
        "minMasterVersion",
    }
    defaults: ClassVar[Any] = MappingProxyType(
        {
            "deletionProtection": True,
            "enableShieldedNodes": True,
            "network": "default",
            "clusterAutoscaling.autoscalingProfile": "BALANCED",
            "ipAllocationPolicy.stackType": "IPV4",
            "dnsConfig.clusterDns": "PROVIDER_UNSPECIFIED",
            "nodeConfig.shieldedInstanceConfig.enableIntegrityMonitoring": True,
        }
    )
    checks: ClassVar[Any] = MappingProxyType(
        {
            "name": cluster_name,
            "releaseChannel.channel": one_of("UNSPECIFIED", "RAPID", "REGULAR", "STABLE", "EXTENDED"),
            "datapathProvider": one_of("DATAPATH_PROVIDER_UNSPECIFIED", "LEGACY_DATAPATH", "ADVANCED_DATAPATH"),
            "networkingMode": one_of("VPC_NATIVE", "ROUTES"),
            "clusterAutoscaling.autoscalingProfile": one_of("BALANCED", "OPTIMIZE_UTILIZATION"),
            "databaseEncryption.state": one_of("ENCRYPTED", "ALL_OBJECTS_ENCRYPTION_ENABLED", "DECRYPTED"),
            "ipAllocationPolicy.stackType": one_of("IPV4", "IPV4_IPV6"),
            "loggingConfig.enableComponents[]": one_of(*_LOGS, "SCHEDULER", "WORKLOADS"),
            "monitoringConfig.enableComponents[]": one_of(*_METRICS),
            "maintenancePolicy.dailyMaintenanceWindow.startTime": time_of_day,
            "privateClusterConfig.masterIpv4CidrBlock": control_plane_range,
            "masterAuthorizedNetworksConfig.cidrBlocks[].cidrBlock": network(0, 32),
            "nodeConfig.taints[].effect": pool.NodePool.checks["nodeConfig.taints[].effect"],
            "nodeConfig.diskSizeGb": pool.NodePool.checks["nodeConfig.diskSizeGb"],
        }
    )

    def parameters(self, inputs: Body, settings: Settings) -> dict[str, str]:
        return location_parameters(self, inputs, settings)

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        request = ClusterRequest(id, wanted, {}, None, resources)
        cluster_rules.check_sent(request)
        request.body = _shown(_with_defaults(resources, id, wanted))
        cluster_rules.check_result(request)
        # GKE makes a pool in any case; the provider takes it away again where it is told to.
        default = Record(POOL, f"{id}/nodePools/{DEFAULT_POOL}", {})
        said = {"initialNodeCount": wanted.get("initialNodeCount", 0), "nodeConfig": wanted.get("nodeConfig") or {}}
        made = pool.made(resources, Record(CLUSTER, id, request.body), default.id, said)
        request.body["nodeConfig"] = copy.deepcopy(made["nodeConfig"])
        return request.body

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        request = ClusterRequest(record.id, planned, copy.deepcopy(planned), record.body, resources)
        wanted = planned.get("minMasterVersion")
        if wanted and versions.number(wanted) > versions.number(record.body["masterVersion"]):
            # The provider upgrades only when what is asked for is newer (resource_container_cluster.go).
            channel = request.body["releaseChannel"]["channel"]
            request.body["masterVersion"] = versions.resolved(wanted, channel) or wanted
        request.body["effectiveLabels"] = _effective(planned.get("resourceLabels") or {})
        cluster_rules.check_result(request)
        return _shown(request.body)

    def view(self, resources: Resources, record: Record) -> Body:
        body = super().view(resources, record)
        pools = pools_of(resources, record.id)
        body["nodePools"] = [copy.deepcopy(p.body) for p in pools]
        if pools:
            # GKE shows the first pool's nodes there, whichever that is by now (pulumi-gcp, docs of removeDefaultNodePool).
            body["nodeConfig"] = copy.deepcopy(pools[0].body["nodeConfig"])
        body["nodeVersion"] = min(
            (p.body["version"] for p in pools), key=versions.number, default=body["masterVersion"]
        )
        return body


def default_pool(resources: Resources, cluster: Record) -> Record:
    """The pool that GKE makes with a cluster."""
    id = f"{cluster.id}/nodePools/{DEFAULT_POOL}"
    said = {"initialNodeCount": cluster.body.get("initialNodeCount", 0), "nodeConfig": cluster.body["nodeConfig"]}
    return Record(POOL, id, pool.made(resources, cluster, id, said))


def _effective(labels: dict[str, str]) -> dict[str, str]:
    # pulumi-gcp adds this label of its own (its configuration addPulumiAttributionLabel).
    return {"goog-pulumi-provisioned": "true", **labels}


def _with_defaults(resources: Resources, id: str, wanted: Body) -> Body:
    project, location = ids.project_of(id), id.split("/")[3]
    channel = (wanted.get("releaseChannel") or {}).get("channel", versions.DEFAULT_CHANNEL)
    version = versions.resolved(wanted.get("minMasterVersion", ""), channel) or wanted["minMasterVersion"]
    network = ids.network(project, wanted.get("network", "default"))
    region = ids.region(location)
    subnet_id = ids.regional(project, region, "subnetworks", wanted.get("subnetwork") or ids.last(network))
    subnet = resources.get(subnet_id)
    policy = {"stackType": "IPV4", **(wanted.get("ipAllocationPolicy") or {})}
    secondary = ranges(subnet.body) if subnet else {}
    pods = secondary.get(policy.get("clusterSecondaryRangeName", "")) or policy.get("clusterIpv4CidrBlock") or _PODS
    services = (
        secondary.get(policy.get("servicesSecondaryRangeName", "")) or policy.get("servicesIpv4CidrBlock") or _SERVICES
    )
    own_zone = [location] if ids.is_zone(location) else []
    labels = wanted.get("resourceLabels") or {}
    return {
        "addonsConfig": {"gcePersistentDiskCsiDriverConfig": {"enabled": True}},
        "clusterAutoscaling": {"enabled": False, "autoscalingProfile": "BALANCED"},
        "databaseEncryption": {"state": "DECRYPTED", "keyName": ""},
        "datapathProvider": "LEGACY_DATAPATH",
        "defaultMaxPodsPerNode": _MAX_PODS,
        "defaultSnatStatus": {"disabled": False},
        "enableKubernetesAlpha": False,
        "enableLegacyAbac": False,
        "enableShieldedNodes": True,
        "enableTpu": False,
        "enableIntranodeVisibility": False,
        "initialNodeCount": 0,
        "loggingConfig": {"enableComponents": ["SYSTEM_COMPONENTS", "WORKLOADS"]},
        "loggingService": "logging.googleapis.com/kubernetes",
        "monitoringConfig": {"enableComponents": ["SYSTEM_COMPONENTS"], "managedPrometheus": {"enabled": True}},
        "monitoringService": "monitoring.googleapis.com/kubernetes",
        "networkingMode": "VPC_NATIVE",
        **wanted,
        "releaseChannel": {"channel": channel},
        "name": ids.last(id),
        "project": project,
        "location": location,
        "network": network,
        "subnetwork": subnet_id,
        "nodeLocations": wanted.get("nodeLocations")
        or [z for z in places.default_zones(location) if z not in own_zone],
        "ipAllocationPolicy": {**policy, "clusterIpv4CidrBlock": pods, "servicesIpv4CidrBlock": services},
        "clusterIpv4Cidr": pods,
        "servicesIpv4Cidr": services,
        "masterVersion": version,
        "resourceLabels": labels,
        "effectiveLabels": _effective(labels),
        "pulumiLabels": _effective(labels),
        "labelFingerprint": ids.hexadecimal(8, id),
        "controlPlaneEndpointsConfig": _endpoints(wanted.get("controlPlaneEndpointsConfig") or {}),
        "privateClusterConfig": {
            "enablePrivateEndpoint": False,
            "enablePrivateNodes": False,
            "masterGlobalAccessConfig": {"enabled": False},
            **(wanted.get("privateClusterConfig") or {}),
        },
        "selfLink": ids.self_link(id),
    }


def _shown(body: Body) -> Body:
    """A body without what is switched off and shown by its absence (resource_container_cluster.go, the flatten functions)."""
    if not (body.get("authenticatorGroupsConfig") or {}).get("securityGroup"):
        body.pop("authenticatorGroupsConfig", None)
    networks = body.get("masterAuthorizedNetworksConfig")
    if networks is not None:
        body["masterAuthorizedNetworksConfig"] = {"gcpPublicCidrsAccessEnabled": False, **networks}
    return body


def _endpoints(said: Body) -> Body:
    dns, addresses = said.get("dnsEndpointConfig") or {}, said.get("ipEndpointsConfig") or {}
    return {
        "dnsEndpointConfig": {"allowExternalTraffic": False, **dns},
        "ipEndpointsConfig": {"enabled": True, **addresses},
    }


def reachable(body: Body, address: str, certificate: str) -> None:
    """Write into a body where its control plane listens.

    The real endpoint is an address without a port, and the DNS endpoint `gke-<hash>-<project number>.<location>.gke.goog` with
    a certificate that every system trusts. Here both are one port of this machine.
    """
    body["endpoint"] = address
    body["controlPlaneEndpointsConfig"]["dnsEndpointConfig"]["endpoint"] = address
    body["privateClusterConfig"] |= {"publicEndpoint": address, "privateEndpoint": address}
    body["masterAuth"] = {
        "clientCertificate": "",
        "clientCertificateConfig": {"issueClientCertificate": False},
        "clientKey": "",
        "clusterCaCertificate": certificate,
    }
