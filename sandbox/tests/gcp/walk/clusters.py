"""Clusters."""

from __future__ import annotations

from typing import Any

from sandbox.gcp import gcp_cloud, gcp_ids
from sandbox.gcp.resources import agent_rules, gcp_cluster_rules, gcp_range_rules, scale_rules

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
from .row import Again, Make, Row, cluster, key_granted

_RANGES = {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "more-services"}
_KEY = "projects/p/locations/{}/keyRings/r/cryptoKeys/k"
_SUBNET_MEMBER = "gcp:compute/subnetworkIAMMember:SubnetworkIAMMember"


def _hidden(block: str) -> dict[str, Any]:
    return {"masterIpv4CidrBlock": block, "enablePrivateNodes": True}


def _private(name: str, services: str, block: str = "172.16.0.0/28") -> Make:
    ranges = {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": services}
    return cluster(name=name, ipAllocationPolicy=ranges, privateClusterConfig=_hidden(block))


_AGENTS = (agent_rules.kubernetes(PROJECT), agent_rules.google(PROJECT))


def _shared(host: str) -> Make:
    ranges = {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services"}
    return cluster(
        name="shared",
        network=f"projects/{host}/global/networks/net",
        subnetwork=f"projects/{host}/regions/{REGION}/subnetworks/shared",
        ipAllocationPolicy=ranges,
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
    Row(
        "cluster twice",
        "4.4",
        gcp_cloud._exists,
        "1 error occurred:\n\t* googleapi: Error 409: Already exists: projects/ml-project/locations/europe-west4/clusters/gke., "
        "alreadyExists",
        bad=Again(CLUSTER, CLUSTER_INPUTS),
        good=Again(CLUSTER, cluster().inputs),
    ),
    Row(
        "Autopilot",
        "the sandbox's own",
        gcp_cluster_rules.not_emulated,
        "does not emulate enableAutopilot",
        bad=cluster(enableAutopilot=True),
        good=cluster(enableAutopilot=False),
    ),
    Row(
        "location that is none",
        "logs",
        gcp_cluster_rules.location,
        "googleapi: Error 403: Permission denied on 'locations/europe-west5' (or it may not exist)., forbidden",
        bad=cluster(location="europe-west5"),
        good=cluster(location=f"{REGION}-b"),
    ),
    Row(
        "own zone among the others",
        "resource_container_cluster.go",
        gcp_cluster_rules.own_zone,
        "when using a multi-zonal cluster, node_locations should not contain the original 'zone'",
        bad=cluster(location=f"{REGION}-a", nodeLocations=[f"{REGION}-a"]),
        good=cluster(location=f"{REGION}-a", nodeLocations=[f"{REGION}-b"]),
    ),
    Row(
        "no nodes to begin with",
        "logs",
        gcp_cluster_rules.initial_nodes,
        "googleapi: Error 400: Cluster.initial_node_count must be greater than zero., badRequest",
        bad=cluster(initialNodeCount=None),
        good=cluster(initialNodeCount=1),
    ),
    Row(
        "version the channel does not have",
        "2.6",
        gcp_cluster_rules.version,
        'googleapi: Error 400: No valid versions with the prefix "1.36" found., badRequest',
        bad=cluster(releaseChannel={"channel": "STABLE"}),
        good=cluster(releaseChannel={"channel": "STABLE"}, minMasterVersion="1.35"),
    ),
    Row(
        "whole version the channel does not have",
        "2.6",
        gcp_cluster_rules.version,
        'Master version "1.36.4-gke.7" is unsupported., badRequest',
        bad=cluster(minMasterVersion="1.36.4-gke.7"),
        good=cluster(minMasterVersion="1.36.3-gke.1767000"),
    ),
    Row(
        "network that is none",
        "terraform-provider-google #1367",
        gcp_cluster_rules.network,
        'googleapi: Error 400: Project "ml-project" has no network named "no"., badRequest',
        bad=cluster(network="no"),
        good=cluster(network=f"projects/{PROJECT}/global/networks/net"),
    ),
    Row(
        "subnet that is none",
        "the sandbox's reading",
        gcp_cluster_rules.subnetwork,
        'Network "net" has no subnetwork named "no" in "europe-west4".',
        confirmed=False,
        bad=cluster(subnetwork="no"),
        good=cluster(subnetwork=f"projects/{PROJECT}/regions/{REGION}/subnetworks/nodes"),
    ),
    Row(
        "subnet of another region",
        "the sandbox's reading",
        gcp_cluster_rules.subnetwork,
        "is not in region europe-west4.",
        confirmed=False,
        bad=cluster(subnetwork=f"projects/{PROJECT}/regions/us-central1/subnetworks/elsewhere", ipAllocationPolicy={}),
        good=cluster(ipAllocationPolicy={}),
    ),
    Row(
        "subnet of another network",
        "the sandbox's reading",
        gcp_cluster_rules.subnetwork,
        "is not in network projects/ml-project/global/networks/net.",
        confirmed=False,
        bad=cluster(subnetwork="others", ipAllocationPolicy={}),
        good=cluster(subnetwork="others", network="other", ipAllocationPolicy={}),
    ),
    Row(
        "range of pods that is none",
        "4.4",
        gcp_range_rules.secondary_ranges,
        'googleapi: Error 400: Pod secondary range "pod" not found in network "net", subnetwork "nodes"., badRequest',
        bad=cluster(ipAllocationPolicy={**_RANGES, "clusterSecondaryRangeName": "pod"}),
        good=cluster(ipAllocationPolicy=_RANGES),
    ),
    Row(
        "range of Services that is none",
        "4.4",
        gcp_range_rules.secondary_ranges,
        'Services secondary range "service" not found in network "net", subnetwork "nodes".',
        confirmed=False,
        bad=cluster(ipAllocationPolicy={**_RANGES, "servicesSecondaryRangeName": "service"}),
        good=cluster(ipAllocationPolicy=_RANGES),
    ),
    Row(
        "range of Services of another cluster",
        "page alias-ips",
        gcp_range_rules.services_of_one_cluster,
        'Services secondary range "services" is already in use by cluster "gke".',
        confirmed=False,
        bad=cluster(ipAllocationPolicy={**_RANGES, "servicesSecondaryRangeName": "services"}),
        good=cluster(ipAllocationPolicy=_RANGES),
    ),
    Row(
        "control plane in the range of pods",
        "pages alias-ips, private-clusters",
        gcp_range_rules.range_overlap,
        "The control plane range 10.16.0.0/28 overlaps the pod range 10.16.0.0/14.",
        confirmed=False,
        bad=cluster(privateClusterConfig=_hidden("10.16.0.0/28")),
        good=cluster(privateClusterConfig=_hidden("172.16.0.0/28")),
    ),
    Row(
        "control plane with a range, nodes with public addresses",
        "terraform-google-kubernetes-engine #1493",
        scale_rules.private_nodes,
        "1 error occurred:\n\t* googleapi: Error 400: EnablePrivateNodes must be enabled for private clusters with valid "
        "masterIpv4Cidr., badRequest",
        bad=cluster(privateClusterConfig={"masterIpv4CidrBlock": "172.16.0.0/28"}),
        good=cluster(privateClusterConfig=_hidden("172.16.0.0/28")),
    ),
    Row(
        "range of which only the size is said",
        "the sandbox's own",
        gcp_range_rules.whole_ranges,
        "the sandbox emulates clusterIpv4CidrBlock only as ADDRESS/SIZE, not as '/14'",
        bad=cluster(ipAllocationPolicy={"clusterIpv4CidrBlock": "/14"}),
        good=cluster(ipAllocationPolicy={"clusterIpv4CidrBlock": "10.64.0.0/14"}),
    ),
    Row(
        "range of Services that another subnet has",
        "4.4",
        gcp_range_rules.pods_and_services,
        "1 error occurred:\n\t* Error waiting for creating GKE cluster: Retry budget exhausted (10 attempts): Google Compute "
        "Engine: Invalid value for field 'resource.secondaryIpRanges[1].ipCidrRange': '10.9.0.0/20'. Invalid IPCidrRange: "
        "10.9.0.0/20 conflicts with reserved IP range '10.9.0.0/20'.",
        bad=cluster(
            ipAllocationPolicy={"clusterIpv4CidrBlock": "10.64.0.0/14", "servicesIpv4CidrBlock": "10.9.0.0/20"}
        ),
        good=cluster(
            ipAllocationPolicy={"clusterIpv4CidrBlock": "10.64.0.0/14", "servicesIpv4CidrBlock": "10.9.16.0/20"}
        ),
    ),
    Row(
        "control plane in another subnet of the network",
        "page private-clusters",
        gcp_range_rules.control_plane_range,
        "1 error occurred:\n\t* Error waiting for creating GKE cluster: Conflicting IP cidr range: Invalid IPCidrRange: "
        "10.9.0.0/28 conflicts with existing subnetwork 'elsewhere' in region 'us-central1'.",
        bad=cluster(privateClusterConfig=_hidden("10.9.0.0/28")),
        good=cluster(privateClusterConfig=_hidden("10.9.16.0/28")),
    ),
    Row(
        "control plane of another cluster",
        "page private-clusters",
        gcp_range_rules.control_plane_range,
        "172.16.0.0/28 conflicts with existing subnetwork 'gke-first-",
        given=(_private("first", "more-services"),),
        bad=_private("second", "services-3"),
        good=_private("second", "services-3", "172.16.0.16/28"),
    ),
    Row(
        "range of Services too small",
        "page alias-ips",
        gcp_range_rules.service_range_size,
        "Services range 10.40.0.0/28 must be between /16 and /27.",
        confirmed=False,
        bad=cluster(ipAllocationPolicy={"servicesIpv4CidrBlock": "10.40.0.0/28"}),
        good=cluster(ipAllocationPolicy={"servicesIpv4CidrBlock": "10.40.0.0/27"}),
    ),
    Row(
        "no room for the pods of a node",
        "page alias-ips",
        gcp_range_rules.pod_range_size,
        "Pod range 10.40.0.0/25 has no room for a node with 110 pods, which takes a /24.",
        confirmed=False,
        bad=cluster(ipAllocationPolicy={"clusterIpv4CidrBlock": "10.40.0.0/25"}),
        good=cluster(ipAllocationPolicy={"clusterIpv4CidrBlock": "10.40.0.0/25"}, defaultMaxPodsPerNode=64),
    ),
    Row(
        "zone of another region",
        "page regional-clusters",
        gcp_cluster_rules.zones,
        '"cluster.locations": zone "us-central1-a" is not in region "europe-west4".',
        confirmed=False,
        bad=cluster(nodeLocations=["us-central1-a"]),
        good=cluster(nodeLocations=[f"{REGION}-b"]),
    ),
    Row(
        "identities of another project",
        "page workload-identity",
        gcp_cluster_rules.workload_pool,
        "Currently, the only supported identity namespace is the workload identity pool of the cluster project",
        confirmed=False,
        bad=cluster(workloadIdentityConfig={"workloadPool": "other.svc.id.goog"}),
        good=cluster(workloadIdentityConfig={"workloadPool": f"{PROJECT}.svc.id.goog"}),
    ),
    Row(
        "Calico on Dataplane V2",
        "terraform-provider-google #7207",
        gcp_cluster_rules.policy_on_dataplane,
        "Enabling NetworkPolicy for clusters with DatapathProvider=ADVANCED_DATAPATH is not allowed., badRequest",
        bad=cluster(datapathProvider="ADVANCED_DATAPATH", networkPolicy={"enabled": True}),
        good=cluster(datapathProvider="ADVANCED_DATAPATH"),
    ),
    Row(
        "auto-provisioning without limits",
        "pulumi-gcp, ClusterClusterAutoscalingArgs",
        gcp_cluster_rules.autoscaling_limits,
        "resource limits of memory must be set",
        confirmed=False,
        bad=cluster(clusterAutoscaling={"enabled": True, "resourceLimits": [{"resourceType": "cpu", "maximum": 9}]}),
        good=cluster(clusterAutoscaling={"enabled": False, "autoscalingProfile": "OPTIMIZE_UTILIZATION"}),
    ),
    Row(
        "key of another region",
        "page encrypting-secrets",
        gcp_cluster_rules.encryption,
        "is not a key of region europe-west4.",
        confirmed=False,
        bad=cluster(databaseEncryption={"state": "ENCRYPTED", "keyName": _KEY.format("us-east1")}),
        good=cluster(databaseEncryption={"state": "ENCRYPTED", "keyName": _KEY.format(REGION)}),
        given=(key_granted(_KEY.format(REGION), agent_rules.kubernetes(PROJECT)),),
    ),
    Row(
        "key that Kubernetes Engine may not use",
        "page encrypting-secrets",
        agent_rules.secrets_key,
        "Error 403: Permission 'cloudkms.cryptoKeyVersions.useToEncrypt' denied on resource "
        f"'{_KEY.format(REGION)}2' (or it may not exist) for service-{gcp_ids.project_number(PROJECT)}@container-engine-robot.",
        confirmed=False,
        bad=cluster(databaseEncryption={"state": "ENCRYPTED", "keyName": f"{_KEY.format(REGION)}2"}),
        good=cluster(databaseEncryption={"state": "ENCRYPTED", "keyName": _KEY.format(REGION)}),
        given=(
            key_granted(_KEY.format(REGION), agent_rules.kubernetes(PROJECT)),
            key_granted(f"{_KEY.format(REGION)}2", agent_rules.compute(PROJECT)),
        ),
    ),
    Row(
        "Shared VPC whose project lets no agent in",
        "page cluster-shared-vpc",
        agent_rules.shared_vpc,
        "Error 403: Permission 'container.hostServiceAgent.use' denied on resource 'projects/closed-host'",
        confirmed=False,
        bad=_shared("closed-host"),
        good=_shared("open-host"),
        given=(*_host("closed-host"), *_host("open-host"), *_let_in("open-host", *_AGENTS)),
    ),
    Row(
        "Shared VPC whose subnet lets Google's APIs not in",
        "page cluster-shared-vpc",
        agent_rules.shared_vpc,
        "Error 403: Permission 'compute.subnetworks.use' denied on resource "
        f"'projects/closed-host/regions/{REGION}/subnetworks/shared' (or it may not exist) for {_AGENTS[1]}.",
        confirmed=False,
        bad=_shared("closed-host"),
        good=_shared("open-host"),
        given=(
            *_host("closed-host"),
            *_let_in("closed-host", _AGENTS[0]),
            *_host("open-host"),
            *_let_in("open-host", *_AGENTS),
        ),
    ),
    Row(
        "group of another name",
        "page google-groups-rbac",
        gcp_cluster_rules.groups,
        "it must be gke-security-groups@DOMAIN.",
        confirmed=False,
        bad=cluster(authenticatorGroupsConfig={"securityGroup": "ml@example.com"}),
        good=cluster(authenticatorGroupsConfig={"securityGroup": "gke-security-groups@example.com"}),
    ),
    Row(
        "no way in",
        "page network-isolation",
        gcp_cluster_rules.some_endpoint,
        "At least one of the DNS-based endpoint and the IP-based endpoints must be enabled.",
        confirmed=False,
        bad=cluster(controlPlaneEndpointsConfig={"ipEndpointsConfig": {"enabled": False}}),
        good=cluster(
            controlPlaneEndpointsConfig={
                "ipEndpointsConfig": {"enabled": False},
                "dnsEndpointConfig": {"allowExternalTraffic": True},
            }
        ),
    ),
    Row(
        "label in capitals",
        "labeling-resources",
        gcp_cluster_rules.resource_labels,
        "Invalid resource label Environment=dev",
        confirmed=False,
        bad=cluster(resourceLabels={"Environment": "dev"}),
        good=cluster(resourceLabels={"environment": "dev"}),
    ),
    Row(
        "two minor versions at once",
        "page upgrading-a-cluster",
        gcp_cluster_rules.upgrade,
        "cannot upgrade the master more than a minor version at a time.",
        confirmed=False,
        given=(cluster(minMasterVersion="1.34"),),
        bad=cluster(minMasterVersion="1.36"),
        good=cluster(minMasterVersion="1.35"),
    ),
    Row(
        "channel without the version there is",
        "page release-channels",
        gcp_cluster_rules.upgrade,
        "is unsupported.",
        confirmed=False,
        bad=Make(CLUSTER, {**CLUSTER_INPUTS, "releaseChannel": {"channel": "STABLE"}}),
        good=Make(CLUSTER, {**CLUSTER_INPUTS, "releaseChannel": {"channel": "RAPID"}}),
    ),
]
