"""Clusters."""

from typing import Any

from sandbox.gcp import gcp_cloud, gcp_ids
from sandbox.gcp.resources import gcp_cluster_rules, gcp_identity, gcp_pool_rules, gcp_range_rules
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import (
    CLUSTER,
    CLUSTER_INPUTS,
    MEMBER,
    NETWORK,
    NETWORK_INPUTS,
    PROJECT,
    REGION,
    SUBNETWORK,
    SUBNETWORK_INPUTS,
)
from .requests import Again, Make, cluster, key_granted, ranges

_RANGES = ranges("more-services")
_KEY = "projects/p/locations/{}/keyRings/r/cryptoKeys/k"
_SUBNET_MEMBER = "gcp:compute/subnetworkIAMMember:SubnetworkIAMMember"


def _hidden(block: str) -> dict[str, Any]:
    return {"masterIpv4CidrBlock": block, "enablePrivateNodes": True}


def _private(name: str, services: str, block: str = "172.16.0.0/28") -> Make:
    return cluster(name=name, ipAllocationPolicy=ranges(services), privateClusterConfig=_hidden(block))


_AGENTS = (gcp_identity.kubernetes_agent(PROJECT), gcp_identity.google_apis_account(PROJECT))


def _shared(host: str) -> Make:
    return cluster(
        name="shared",
        network=f"projects/{host}/global/networks/net",
        subnetwork=f"projects/{host}/regions/{REGION}/subnetworks/shared",
        ipAllocationPolicy=ranges("services"),
    )


def _host(host: str) -> tuple[Make, ...]:
    return (
        Make(NETWORK, {**NETWORK_INPUTS, "project": host}),
        Make(SUBNETWORK, {**SUBNETWORK_INPUTS, "project": host, "name": "shared"}),
    )


def _let_in(host: str, *agents: str) -> tuple[Make, ...]:
    subnet = {"project": host, "region": REGION, "subnetwork": "shared", "role": "roles/compute.networkUser"}
    role = {"project": host, "role": "roles/container.hostServiceAgentUser"}
    return (
        Make(MEMBER, {**role, "member": f"serviceAccount:{agents[0]}"}),
        *(Make(_SUBNET_MEMBER, {**subnet, "member": f"serviceAccount:{agent}"}) for agent in agents),
    )


ROWS = [
    Row("cluster twice", gcp_cloud._exists, "4.4")
    .says(
        "1 error occurred:\n\t* googleapi: Error 409: Already exists: projects/ml-project/locations/europe-west4/clusters/gke., "
        "alreadyExists"
    )
    .tries(Again, CLUSTER, (CLUSTER_INPUTS, cluster().inputs)),
    Row("Autopilot", gcp_cluster_rules.not_emulated, "the sandbox's own")
    .says("does not emulate enableAutopilot")
    .tries(cluster, enableAutopilot=(True, False)),
    Row("location that is none", gcp_cluster_rules.location, "logs")
    .says("googleapi: Error 403: Permission denied on 'locations/europe-west5' (or it may not exist)., forbidden")
    .tries(cluster, location=("europe-west5", f"{REGION}-b")),
    Row("own zone among the others", gcp_cluster_rules.own_zone, "resource_container_cluster.go")
    .says("when using a multi-zonal cluster, node_locations should not contain the original 'zone'")
    .tries(cluster, location=f"{REGION}-a", nodeLocations=[(f"{REGION}-a", f"{REGION}-b")]),
    Row("no nodes to begin with", gcp_cluster_rules.initial_nodes, "logs")
    .says("googleapi: Error 400: Cluster.initial_node_count must be greater than zero., badRequest")
    .tries(cluster, initialNodeCount=(None, 1)),
    Row("version the channel does not have", gcp_cluster_rules.version, "2.6")
    .says('googleapi: Error 400: No valid versions with the prefix "1.36" found., badRequest')
    .tries(cluster, releaseChannel={"channel": "STABLE"}, minMasterVersion=(ABSENT, "1.35")),
    Row("whole version the channel does not have", gcp_cluster_rules.version, "2.6")
    .says('Master version "1.36.4-gke.7" is unsupported., badRequest')
    .tries(cluster, minMasterVersion=("1.36.4-gke.7", "1.36.3-gke.1767000")),
    Row("network that is none", gcp_cluster_rules.network, "terraform-provider-google #1367")
    .says('googleapi: Error 400: Project "ml-project" has no network named "no"., badRequest')
    .tries(cluster, network=("no", f"projects/{PROJECT}/global/networks/net")),
    Row("subnet that is none", gcp_cluster_rules.subnetwork, "the sandbox's reading")
    .assumes('Network "net" has no subnetwork named "no" in "europe-west4".')
    .tries(cluster, subnetwork=("no", f"projects/{PROJECT}/regions/{REGION}/subnetworks/nodes")),
    Row("subnet of another region", gcp_cluster_rules.subnetwork, "the sandbox's reading")
    .assumes("is not in region europe-west4.")
    .tries(
        cluster,
        subnetwork=(f"projects/{PROJECT}/regions/us-central1/subnetworks/elsewhere", ABSENT),
        ipAllocationPolicy={},
    ),
    Row("subnet of another network", gcp_cluster_rules.subnetwork, "the sandbox's reading")
    .assumes("is not in network projects/ml-project/global/networks/net.")
    .tries(cluster, subnetwork="others", ipAllocationPolicy={}, network=(ABSENT, "other")),
    Row("range of pods that is none", gcp_range_rules.secondary_ranges, "4.4")
    .says('googleapi: Error 400: Pod secondary range "pod" not found in network "net", subnetwork "nodes"., badRequest')
    .tries(cluster, ipAllocationPolicy=({**_RANGES, "clusterSecondaryRangeName": "pod"}, _RANGES)),
    Row("range of Services that is none", gcp_range_rules.secondary_ranges, "4.4")
    .assumes('Services secondary range "service" not found in network "net", subnetwork "nodes".')
    .tries(cluster, ipAllocationPolicy=({**_RANGES, "servicesSecondaryRangeName": "service"}, _RANGES)),
    Row("range of Services of another cluster", gcp_range_rules.services_of_one_cluster, "page alias-ips")
    .assumes('Services secondary range "services" is already in use by cluster "gke".')
    .tries(cluster, ipAllocationPolicy=({**_RANGES, "servicesSecondaryRangeName": "services"}, _RANGES)),
    Row("control plane in the range of pods", gcp_range_rules.range_overlap, "pages alias-ips, private-clusters")
    .assumes("The control plane range 10.16.0.0/28 overlaps the pod range 10.16.0.0/14.")
    .tries(cluster, privateClusterConfig=(_hidden("10.16.0.0/28"), _hidden("172.16.0.0/28"))),
    Row(
        "control plane with a range, nodes with public addresses",
        gcp_pool_rules.private_nodes,
        "terraform-google-kubernetes-engine #1493",
    )
    .says(
        "1 error occurred:\n\t* googleapi: Error 400: EnablePrivateNodes must be enabled for private clusters with valid "
        "masterIpv4Cidr., badRequest"
    )
    .tries(cluster, privateClusterConfig=({"masterIpv4CidrBlock": "172.16.0.0/28"}, _hidden("172.16.0.0/28"))),
    Row("range of which only the size is said", gcp_range_rules.whole_ranges, "the sandbox's own")
    .says("the sandbox emulates clusterIpv4CidrBlock only as ADDRESS/SIZE, not as '/14'")
    .tries(cluster, ipAllocationPolicy={"clusterIpv4CidrBlock": ("/14", "10.64.0.0/14")}),
    Row("range of Services that another subnet has", gcp_range_rules.pods_and_services, "4.4")
    .says(
        "1 error occurred:\n\t* Error waiting for creating GKE cluster: Retry budget exhausted (10 attempts): Google Compute "
        "Engine: Invalid value for field 'resource.secondaryIpRanges[1].ipCidrRange': '10.9.0.0/20'. Invalid IPCidrRange: "
        "10.9.0.0/20 conflicts with reserved IP range '10.9.0.0/20'."
    )
    .tries(
        cluster,
        ipAllocationPolicy={
            "clusterIpv4CidrBlock": "10.64.0.0/14",
            "servicesIpv4CidrBlock": ("10.9.0.0/20", "10.9.16.0/20"),
        },
    ),
    Row("control plane in another subnet of the network", gcp_range_rules.control_plane_range, "page private-clusters")
    .says(
        "1 error occurred:\n\t* Error waiting for creating GKE cluster: Conflicting IP cidr range: Invalid IPCidrRange: "
        "10.9.0.0/28 conflicts with existing subnetwork 'elsewhere' in region 'us-central1'."
    )
    .tries(cluster, privateClusterConfig=(_hidden("10.9.0.0/28"), _hidden("10.9.16.0/28"))),
    Row("control plane of another cluster", gcp_range_rules.control_plane_range, "page private-clusters")
    .says("172.16.0.0/28 conflicts with existing subnetwork 'gke-first-")
    .given(_private("first", "more-services"))
    .refuses(_private("second", "services-3"))
    .accepts(_private("second", "services-3", "172.16.0.16/28")),
    Row("range of Services too small", gcp_range_rules.service_range_size, "page alias-ips")
    .assumes("Services range 10.40.0.0/28 must be between /16 and /27.")
    .tries(cluster, ipAllocationPolicy={"servicesIpv4CidrBlock": ("10.40.0.0/28", "10.40.0.0/27")}),
    Row("no room for the pods of a node", gcp_range_rules.pod_range_size, "page alias-ips")
    .assumes("Pod range 10.40.0.0/25 has no room for a node with 110 pods, which takes a /24.")
    .tries(cluster, ipAllocationPolicy={"clusterIpv4CidrBlock": "10.40.0.0/25"}, defaultMaxPodsPerNode=(ABSENT, 64)),
    Row("zone of another region", gcp_cluster_rules.zones, "page regional-clusters")
    .assumes('"cluster.locations": zone "us-central1-a" is not in region "europe-west4".')
    .tries(cluster, nodeLocations=[("us-central1-a", f"{REGION}-b")]),
    Row("identities of another project", gcp_cluster_rules.workload_pool, "page workload-identity")
    .assumes("Currently, the only supported identity namespace is the workload identity pool of the cluster project")
    .tries(cluster, workloadIdentityConfig={"workloadPool": ("other.svc.id.goog", f"{PROJECT}.svc.id.goog")}),
    Row("Calico on Dataplane V2", gcp_cluster_rules.policy_on_dataplane, "terraform-provider-google #7207")
    .says("Enabling NetworkPolicy for clusters with DatapathProvider=ADVANCED_DATAPATH is not allowed., badRequest")
    .tries(cluster, datapathProvider="ADVANCED_DATAPATH", networkPolicy=({"enabled": True}, ABSENT)),
    Row(
        "auto-provisioning without limits",
        gcp_cluster_rules.autoscaling_limits,
        "pulumi-gcp, ClusterClusterAutoscalingArgs",
    )
    .assumes("resource limits of memory must be set")
    .tries(
        cluster,
        clusterAutoscaling={
            "enabled": (True, False),
            "resourceLimits": ([{"resourceType": "cpu", "maximum": 9}], ABSENT),
            "autoscalingProfile": (ABSENT, "OPTIMIZE_UTILIZATION"),
        },
    ),
    Row("key of another region", gcp_cluster_rules.encryption, "page encrypting-secrets")
    .assumes("is not a key of region europe-west4.")
    .given(key_granted(_KEY.format(REGION), gcp_identity.kubernetes_agent(PROJECT)))
    .tries(
        cluster, databaseEncryption={"state": "ENCRYPTED", "keyName": (_KEY.format("us-east1"), _KEY.format(REGION))}
    ),
    Row("key that Kubernetes Engine may not use", gcp_identity.secrets_key, "page encrypting-secrets")
    .assumes(
        "Error 403: Permission 'cloudkms.cryptoKeyVersions.useToEncrypt' denied on resource "
        f"'{_KEY.format(REGION)}2' (or it may not exist) for service-{gcp_ids.project_number(PROJECT)}@container-engine-robot."
    )
    .given(
        key_granted(_KEY.format(REGION), gcp_identity.kubernetes_agent(PROJECT)),
        key_granted(f"{_KEY.format(REGION)}2", gcp_identity.compute_agent(PROJECT)),
    )
    .tries(
        cluster, databaseEncryption={"state": "ENCRYPTED", "keyName": (f"{_KEY.format(REGION)}2", _KEY.format(REGION))}
    ),
    Row("Shared VPC whose project lets no agent in", gcp_identity.shared_vpc, "page cluster-shared-vpc")
    .assumes("Error 403: Permission 'container.hostServiceAgent.use' denied on resource 'projects/closed-host'")
    .given(*_host("closed-host"), *_host("open-host"), *_let_in("open-host", *_AGENTS))
    .tries(_shared, ("closed-host", "open-host")),
    Row("Shared VPC whose subnet lets Google's APIs not in", gcp_identity.shared_vpc, "page cluster-shared-vpc")
    .assumes(
        "Error 403: Permission 'compute.subnetworks.use' denied on resource "
        f"'projects/closed-host/regions/{REGION}/subnetworks/shared' (or it may not exist) for {_AGENTS[1]}."
    )
    .given(
        *_host("closed-host"), *_let_in("closed-host", _AGENTS[0]), *_host("open-host"), *_let_in("open-host", *_AGENTS)
    )
    .tries(_shared, ("closed-host", "open-host")),
    Row("group of another name", gcp_cluster_rules.groups, "page google-groups-rbac")
    .assumes("it must be gke-security-groups@DOMAIN.")
    .tries(cluster, authenticatorGroupsConfig={"securityGroup": ("ml@example.com", "gke-security-groups@example.com")}),
    Row("no way in", gcp_cluster_rules.some_endpoint, "page network-isolation")
    .assumes("At least one of the DNS-based endpoint and the IP-based endpoints must be enabled.")
    .tries(
        cluster,
        controlPlaneEndpointsConfig={
            "ipEndpointsConfig": {"enabled": False},
            "dnsEndpointConfig": (ABSENT, {"allowExternalTraffic": True}),
        },
    ),
    Row("label in capitals", gcp_cluster_rules.resource_labels, "labeling-resources")
    .assumes("Invalid resource label Environment=dev")
    .tries(cluster, resourceLabels=({"Environment": "dev"}, {"environment": "dev"})),
    Row("two minor versions at once", gcp_cluster_rules.upgrade, "page upgrading-a-cluster")
    .assumes("cannot upgrade the master more than a minor version at a time.")
    .given(cluster(minMasterVersion="1.34"))
    .tries(cluster, minMasterVersion=("1.36", "1.35")),
    Row("channel without the version there is", gcp_cluster_rules.upgrade, "page release-channels")
    .assumes("is unsupported.")
    .tries(Make, CLUSTER, {**CLUSTER_INPUTS, "releaseChannel": {"channel": ("STABLE", "RAPID")}}),
]
