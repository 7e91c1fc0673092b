"""Rules of GKE, and of the provider for it, on a cluster, in order: one function a rule, each with its source."""

from sandbox.cloud import rules
from sandbox.cloud.provider import Refused
from sandbox.gcp import gcp_catalogue, gcp_ids
from sandbox.gcp.gcp_errors import GcpRefused, bad_request
from sandbox.gcp.resources import gcp_identity, gcp_machine_rules, gcp_maintenance_rules, gcp_range_rules
from sandbox.gcp.resources.gcp_network import NETWORK
from sandbox.gcp.resources.gcp_requests import ClusterRequest, ClusterRule


def not_emulated(request: ClusterRequest) -> Refused | None:
    # The sandbox's own refusal.
    for field in ("enableAutopilot", "nodePools"):
        if request.wanted.get(field):
            return Refused(f"the sandbox does not emulate {field} of a GKE cluster")
    return None


def location(request: ClusterRequest) -> GcpRefused | None:
    # terraform-provider-google, test of a cluster in the location "wonderland": GKE does not tell a missing location from one
    # that is not allowed.
    if gcp_catalogue.location_exists(request.location):
        return None
    return GcpRefused(403, f"Permission denied on 'locations/{request.location}' (or it may not exist).", "forbidden")


def own_zone(request: ClusterRequest) -> Refused | None:
    # resource_container_cluster.go
    if request.location in (request.wanted.get("nodeLocations") or []):
        return Refused("when using a multi-zonal cluster, node_locations should not contain the original 'zone'")
    return None


def initial_nodes(request: ClusterRequest) -> GcpRefused | None:
    # terraform-provider-google #3304 and many logs
    if not request.wanted.get("initialNodeCount"):
        return bad_request("Cluster.initial_node_count must be greater than zero.")
    return None


def version(request: ClusterRequest) -> GcpRefused | None:
    # Logs of many projects, for a prefix of a version and for a whole version.
    requested = request.wanted.get("minMasterVersion", "")
    channel = (request.wanted.get("releaseChannel") or {}).get("channel", gcp_catalogue.DEFAULT_CHANNEL)
    if gcp_catalogue.resolved(requested, channel) is not None:
        return None
    if "-gke." in requested:
        return bad_request(f'Master version "{requested}" is unsupported.')
    return bad_request(f'No valid versions with the prefix "{requested}" found.')


def network(request: ClusterRequest) -> GcpRefused | None:
    # terraform-provider-google #1367 and others
    existing = request.resources.get(request.body["network"])
    if existing is None or existing.token != NETWORK:
        name = gcp_ids.last(request.body["network"])
        return bad_request(f'Project "{gcp_ids.project_of(request.body["network"])}" has no network named "{name}".')
    return None


@rules.as_read
def subnetwork(request: ClusterRequest) -> GcpRefused | None:
    # Words UNCONFIRMED
    subnet = request.resources.get(request.body["subnetwork"])
    if subnet is None:
        name, region = gcp_ids.last(request.body["subnetwork"]), gcp_ids.region(request.location)
        return bad_request(
            f'Network "{gcp_ids.last(request.body["network"])}" has no subnetwork named "{name}" in "{region}".'
        )
    if gcp_ids.region_of(subnet.id) != gcp_ids.region(request.location):
        return bad_request(f"Subnetwork {subnet.id} is not in region {gcp_ids.region(request.location)}.")
    if gcp_ids.key(gcp_ids.network(gcp_ids.project_of(subnet.id), subnet.body["network"])) != gcp_ids.key(
        request.body["network"]
    ):
        return bad_request(f"Subnetwork {subnet.id} is not in network {request.body['network']}.")
    return None


@rules.as_read
def zones(request: ClusterRequest) -> GcpRefused | None:
    # Page regional-clusters; the words are UNCONFIRMED.
    region = gcp_ids.region(request.location)
    for zone in request.body["nodeLocations"]:
        if zone not in gcp_catalogue.zones_of_region(region):
            return bad_request(
                f'Invalid value for field "cluster.locations": zone "{zone}" is not in region "{region}".'
            )
    return None


@rules.as_read
def workload_pool(request: ClusterRequest) -> GcpRefused | None:
    # Page workload-identity: only the pool of the cluster's own project is possible. Words as in several logs, UNCONFIRMED.
    pool = (request.body.get("workloadIdentityConfig") or {}).get("workloadPool")
    if pool and pool != f"{request.project}.svc.id.goog":
        return bad_request(
            "Currently, the only supported identity namespace is the workload identity pool of the cluster project: "
            f'"{request.project}.svc.id.goog".'
        )
    return None


def policy_on_dataplane(request: ClusterRequest) -> GcpRefused | None:
    # terraform-provider-google #7207
    policy = request.body.get("networkPolicy") or {}
    if policy.get("enabled") and request.body["datapathProvider"] == "ADVANCED_DATAPATH":
        return bad_request(
            "Enabling NetworkPolicy for clusters with DatapathProvider=ADVANCED_DATAPATH is not allowed."
        )
    return None


@rules.as_read
def autoscaling_limits(request: ClusterRequest) -> GcpRefused | None:
    # pulumi-gcp, ClusterClusterAutoscalingArgs: limits of cpu and memory are required when it is enabled. Words UNCONFIRMED.
    autoscaling = request.body["clusterAutoscaling"]
    limited = {limit["resourceType"] for limit in autoscaling.get("resourceLimits") or []}
    missing = [name for name in ("cpu", "memory") if name not in limited]
    if autoscaling.get("enabled") and missing:
        return bad_request(f"Cluster.autoscaling: resource limits of {' and '.join(missing)} must be set.")
    return None


@rules.as_read
def encryption(request: ClusterRequest) -> GcpRefused | None:
    # Page encrypting-secrets: the key is in the cluster's region. Words UNCONFIRMED.
    settings = request.body["databaseEncryption"]
    if settings["state"] != "ENCRYPTED":
        return None
    key, region = settings.get("keyName", ""), gcp_ids.region(request.location)
    if gcp_ids.key_location(key or "") != region:
        return bad_request(f'Database_encryption.key_name "{key}" is not a key of region {region}.')
    return None


@rules.as_read
def groups(request: ClusterRequest) -> GcpRefused | None:
    # Page google-groups-rbac: the group must have this name. Words UNCONFIRMED.
    group = (request.body.get("authenticatorGroupsConfig") or {}).get("securityGroup")
    if group and not group.startswith("gke-security-groups@"):
        return bad_request(f'Invalid security group "{group}": it must be gke-security-groups@DOMAIN.')
    return None


@rules.as_read
def some_endpoint(request: ClusterRequest) -> GcpRefused | None:
    # Page network-isolation: a control plane has at least one of the two. Words UNCONFIRMED.
    endpoints = request.body["controlPlaneEndpointsConfig"]
    by_name = endpoints["dnsEndpointConfig"].get("allowExternalTraffic")
    if not endpoints["ipEndpointsConfig"].get("enabled") and not by_name:
        return bad_request("At least one of the DNS-based endpoint and the IP-based endpoints must be enabled.")
    return None


@rules.as_read
def resource_labels(request: ClusterRequest) -> GcpRefused | None:
    return gcp_machine_rules.bad_resource_labels(request.body.get("resourceLabels") or {})


@rules.as_read
def upgrade(request: ClusterRequest) -> GcpRefused | None:
    # Page upgrading-a-cluster: one minor version at a time, and only to a version of the channel. Words UNCONFIRMED.
    if request.current is None:
        return None
    old, new = request.current["masterVersion"], request.body["masterVersion"]
    if new == old and request.channel == request.current["releaseChannel"]["channel"]:
        return None
    if new not in gcp_catalogue.served(request.channel):
        return bad_request(f'Master version "{new}" is unsupported.')
    if int(gcp_catalogue.minor(new).split(".")[1]) - int(gcp_catalogue.minor(old).split(".")[1]) > 1:
        return bad_request(
            f'Master cannot be upgraded to "{new}": cannot upgrade the master more than a minor version at a time.'
        )
    return None


SENT: tuple[ClusterRule, ...] = (not_emulated, location, own_zone, initial_nodes, version, gcp_range_rules.whole_ranges)
"""Rules on the body that was sent, before defaults are added."""

RESULT: tuple[ClusterRule, ...] = (
    *(network, subnetwork, gcp_range_rules.secondary_ranges, gcp_range_rules.services_of_one_cluster),
    *(gcp_range_rules.range_overlap, gcp_range_rules.pods_and_services, gcp_range_rules.control_plane_range),
    *(gcp_range_rules.service_range_size, gcp_range_rules.pod_range_size, zones, workload_pool),
    *(policy_on_dataplane, autoscaling_limits, encryption, gcp_identity.secrets_key, gcp_identity.shared_vpc),
    *(groups, some_endpoint, resource_labels, upgrade),
    *gcp_maintenance_rules.RULES,
)
"""Rules on the resulting body: defaults and kept values included."""
