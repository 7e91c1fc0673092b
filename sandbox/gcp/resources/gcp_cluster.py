"""Clusters: the body GKE returns for a request, as the provider shows it.

Source of what replaces and what is computed: terraform-provider-google-beta services/container/resource_container_cluster.go.
Defaults are those of terraform-provider-google-beta and of the pages named beside them. What GKE refuses is in `cluster_rules`.

Deliberately without Autopilot, inline pools and auto-provisioned pools.
"""

import copy

from sandbox.cloud import rules
from sandbox.cloud.state import Body, Record, Resources
from sandbox.gcp import gcp_catalogue, gcp_ids
from sandbox.gcp.resources import gcp_cluster_rules, gcp_pool
from sandbox.gcp.resources.gcp_network import ranges
from sandbox.gcp.resources.gcp_requests import CLUSTER, POOL, ClusterRequest, pools_of
from sandbox.gcp.resources.gcp_resource_type import GcpType, type_named

DEFAULT_POOL = "default-pool"

# Page alias-ips: ranges that GKE manages where none was named.
_SERVICES = "34.118.224.0/20"
_PODS = "10.64.0.0/14"


class Cluster(GcpType):
    """A Standard cluster."""

    def create(self, resources: Resources, id: str, wanted: Body) -> Body:
        request = ClusterRequest(id, wanted, {}, None, resources)
        rules.raise_first(gcp_cluster_rules.SENT, request)
        request.body = _shown(_with_defaults(resources, id, {**self.service, **wanted}))
        rules.raise_first(gcp_cluster_rules.RESULT, request)
        # GKE makes a pool in any case; the provider removes it on request (removeDefaultNodePool).
        default = default_pool(resources, Record(CLUSTER, id, request.body))
        request.body["nodeConfig"] = copy.deepcopy(default.body["nodeConfig"])
        return request.body

    def update(self, resources: Resources, record: Record, planned: Body) -> Body:
        request = ClusterRequest(record.id, planned, copy.deepcopy(planned), record.body, resources)
        version = planned.get("minMasterVersion")
        if version and gcp_catalogue.number(version) > gcp_catalogue.number(record.body["masterVersion"]):
            # The provider upgrades only when what is asked for is newer (resource_container_cluster.go).
            channel = request.body["releaseChannel"]["channel"]
            request.body["masterVersion"] = gcp_catalogue.resolved(version, channel) or version
        request.body["effectiveLabels"] = _effective(planned.get("resourceLabels") or {})
        rules.raise_first(gcp_cluster_rules.RESULT, request)
        return _shown(request.body)

    def view(self, resources: Resources, record: Record) -> Body:
        body = super().view(resources, record)
        pools = pools_of(resources, record.id)
        body["nodePools"] = [copy.deepcopy(p.body) for p in pools]
        if pools:
            # GKE shows the nodes of the first pool that exists (pulumi-gcp, docs of removeDefaultNodePool).
            body["nodeConfig"] = copy.deepcopy(pools[0].body["nodeConfig"])
        body["nodeVersion"] = min(
            (p.body["version"] for p in pools), key=gcp_catalogue.number, default=body["masterVersion"]
        )
        return body


def default_pool(resources: Resources, cluster: Record) -> Record:
    """Return the pool that GKE makes with a cluster."""
    id = f"{cluster.id}/nodePools/{DEFAULT_POOL}"
    body = cluster.body
    properties = {"initialNodeCount": body.get("initialNodeCount", 0), "nodeConfig": body.get("nodeConfig") or {}}
    return Record(POOL, id, gcp_pool.new_body(resources, cluster, id, properties))


def _effective(labels: dict[str, str]) -> dict[str, str]:
    # pulumi-gcp adds this label of its own (its configuration addPulumiAttributionLabel).
    return {"goog-pulumi-provisioned": "true", **labels}


def _with_defaults(resources: Resources, id: str, wanted: Body) -> Body:
    project, location = gcp_ids.project_of(id), id.split("/")[3]
    channel = (wanted.get("releaseChannel") or {}).get("channel", gcp_catalogue.DEFAULT_CHANNEL)
    version = gcp_catalogue.resolved(wanted.get("minMasterVersion", ""), channel) or wanted["minMasterVersion"]
    network = gcp_ids.network(project, wanted.get("network", "default"))
    region = gcp_ids.region(location)
    subnet_id = gcp_ids.regional(project, region, "subnetworks", wanted.get("subnetwork") or gcp_ids.last(network))
    subnet = resources.get(subnet_id)
    policy = {"stackType": "IPV4", **(wanted.get("ipAllocationPolicy") or {})}
    secondary = ranges(subnet.body) if subnet else {}
    pods = secondary.get(policy.get("clusterSecondaryRangeName", "")) or policy.get("clusterIpv4CidrBlock") or _PODS
    services = (
        secondary.get(policy.get("servicesSecondaryRangeName", "")) or policy.get("servicesIpv4CidrBlock") or _SERVICES
    )
    own_zone = [location] if gcp_ids.is_zone(location) else []
    labels = wanted.get("resourceLabels") or {}
    return {
        **wanted,
        "releaseChannel": {"channel": channel},
        "name": gcp_ids.last(id),
        "project": project,
        "location": location,
        "network": network,
        "subnetwork": subnet_id,
        "nodeLocations": wanted.get("nodeLocations")
        or [z for z in gcp_catalogue.default_zones(location) if z not in own_zone],
        "ipAllocationPolicy": {**policy, "clusterIpv4CidrBlock": pods, "servicesIpv4CidrBlock": services},
        "addonsConfig": {**type_named(CLUSTER).service["addonsConfig"], **(wanted.get("addonsConfig") or {})},
        "clusterIpv4Cidr": pods,
        "servicesIpv4Cidr": services,
        "masterVersion": version,
        "resourceLabels": labels,
        "effectiveLabels": _effective(labels),
        "pulumiLabels": _effective(labels),
        "labelFingerprint": gcp_ids.hexadecimal(8, id),
        "anonymousAuthenticationConfig": wanted.get("anonymousAuthenticationConfig") or {"mode": _anonymous(version)},
        "controlPlaneEndpointsConfig": _endpoints(wanted.get("controlPlaneEndpointsConfig") or {}),
        "privateClusterConfig": {
            "enablePrivateEndpoint": False,
            "enablePrivateNodes": False,
            "masterGlobalAccessConfig": {"enabled": False},
            **(wanted.get("privateClusterConfig") or {}),
        },
        "selfLink": gcp_ids.self_link(id),
    }


def _anonymous(version: str) -> str:
    # Page hardening-your-cluster: new clusters of this version or a newer one answer anonymous health checks alone. The emulated
    # control planes do not: it is a field here.
    return "LIMITED" if gcp_catalogue.number(version) >= gcp_catalogue.number("1.35.0-gke.1171000") else "ENABLED"


def _shown(body: Body) -> Body:
    """Return a body without what is switched off and shown by its absence (resource_container_cluster.go, the flatten
    functions).
    """
    if not (body.get("authenticatorGroupsConfig") or {}).get("securityGroup"):
        body.pop("authenticatorGroupsConfig", None)
    networks = body.get("masterAuthorizedNetworksConfig")
    if networks is not None:
        # Page authorized-networks, CIS GKE 5.6.3: beside the list all of Google Cloud, where a request does not say. That this
        # is so with private nodes too is the stricter reading.
        private = body["privateClusterConfig"]["enablePrivateEndpoint"]
        body["masterAuthorizedNetworksConfig"] = {"gcpPublicCidrsAccessEnabled": not private, **networks}
    return body


def _endpoints(endpoints: Body) -> Body:
    dns, addresses = endpoints.get("dnsEndpointConfig") or {}, endpoints.get("ipEndpointsConfig") or {}
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
