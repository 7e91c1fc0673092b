"""Networks, subnets, NAT, accounts and grants."""

from __future__ import annotations

from typing import Any

from sandbox.gcp import gcp_cloud
from sandbox.gcp.resources import gcp_identity, gcp_network, gcp_subnet_rules, nat_rules
from sandbox.gcp.resources import subnetwork as subnets

from ..conftest import (
    ACCOUNT,
    CLUSTER_ID,
    MEMBER,
    NAT,
    NETWORK,
    NETWORK_INPUTS,
    PROJECT,
    READER,
    REGION,
    ROUTER,
    SUBNETWORK,
    SUBNETWORK_INPUTS,
)
from .row import Again, Delete, Make, Row

_IN_USE = "resourceInUseByAnotherResource"
_ROBOT = f"ml-nodes@{PROJECT}.iam.gserviceaccount.com"


def _subnet(**changes: Any) -> Make:
    """A new subnet beside `nodes`."""
    fresh = {**SUBNETWORK_INPUTS, "name": "two", "ipCidrRange": "10.10.0.0/20", "secondaryIpRanges": []}
    return Make(SUBNETWORK, {**fresh, **changes})


def _ranges(*ranges: tuple[str, str]) -> list[dict[str, str]]:
    return [{"rangeName": name, "ipCidrRange": text} for name, text in ranges]


def _nat(**changes: Any) -> Make:
    """A NAT of a router in another network, which has no NAT yet."""
    gateway = {"name": "two", "router": "second", "region": REGION, "natIpAllocateOption": "AUTO_ONLY"}
    return Make(NAT, {**gateway, "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES", **changes})


_SECOND = Make(ROUTER, {"name": "second", "region": REGION, "network": "other"})
_BESIDE = Make(ROUTER, {"name": "second", "region": REGION, "network": "net"})


def _grant(token: str = MEMBER, **changes: Any) -> Make:
    grant = {
        "project": PROJECT,
        "role": "roles/container.defaultNodeServiceAccount",
        "member": f"serviceAccount:{_ROBOT}",
    }
    return Make(token, {**grant, **changes})


ROWS = [
    Row(
        "network twice",
        "4.4",
        gcp_cloud._exists,
        "googleapi: Error 409: The resource 'projects/ml-project/global/networks/net' already exists, alreadyExists",
        bad=Again(NETWORK, NETWORK_INPUTS),
        good=Again(NETWORK, {**NETWORK_INPUTS, "name": "two"}),
    ),
    Row(
        "NAT twice",
        "resource_compute_router_nat.go",
        gcp_cloud._exists,
        "Unable to create RouterNat, existing object already found",
        bad=Again(NAT, {**_nat().inputs, "name": "nat", "router": "router"}),
        good=Make(NAT, {**_nat().inputs, "name": "nat", "router": "router"}),
    ),
    Row(
        "account twice",
        "4.4",
        gcp_cloud._exists,
        "Error creating service account: googleapi: Error 409: Service account ml-nodes already exists within project "
        "projects/ml-project., alreadyExists",
        bad=Again(ACCOUNT, {"accountId": "ml-nodes"}),
        good=Again(ACCOUNT, {"accountId": "ml-nodes-2"}),
    ),
    Row(
        "network with a subnet",
        "pulumi-gcp #1253",
        gcp_network.Network.check_delete,
        "The network resource 'projects/ml-project/global/networks/other' is already being used by "
        f"'projects/ml-project/regions/europe-west4/subnetworks/others', {_IN_USE}",
        bad=Delete(f"projects/{PROJECT}/global/networks/other"),
        good=Delete(f"projects/{PROJECT}/regions/{REGION}/subnetworks/others"),
    ),
    Row(
        "subnet with a cluster",
        "pulumi-gcp #1253",
        subnets.Subnetwork.check_delete,
        "The subnetwork resource 'projects/ml-project/regions/europe-west4/subnetworks/nodes' is already being used by",
        bad=Delete(f"projects/{PROJECT}/regions/{REGION}/subnetworks/nodes"),
        good=Delete(CLUSTER_ID),
    ),
    Row(
        "subnet without its network",
        "4.4",
        gcp_network.require_network,
        "Error creating Subnetwork: googleapi: Error 404: The resource 'projects/ml-project/global/networks/no' was not found, "
        "notFound",
        bad=_subnet(network="no"),
        good=_subnet(network=f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/global/networks/net"),
    ),
    Row(
        "region that is none",
        "the sandbox's reading",
        gcp_subnet_rules.region_exists,
        "Unknown region., invalid",
        confirmed=False,
        bad=_subnet(region="europe-west5"),
        good=_subnet(region="europe-west3"),
    ),
    Row(
        "subnet without a range",
        "REST reference",
        gcp_subnet_rules.range_given,
        "Must be specified.",
        confirmed=False,
        bad=Make(SUBNETWORK, {"name": "two", "region": REGION, "network": "net"}),
        good=_subnet(),
    ),
    Row(
        "two ranges of a name",
        "REST reference",
        gcp_subnet_rules.own_names,
        "duplicate range name pods",
        confirmed=False,
        bad=_subnet(secondaryIpRanges=_ranges(("pods", "10.30.0.0/20"), ("pods", "10.31.0.0/20"))),
        good=_subnet(secondaryIpRanges=_ranges(("pods", "10.30.0.0/20"), ("services", "10.31.0.0/20"))),
    ),
    Row(
        "host bits",
        "the sandbox's reading",
        gcp_subnet_rules.network_address,
        "Invalid IPCidrRange: 10.10.0.1/20 has host bits set.",
        confirmed=False,
        bad=_subnet(ipCidrRange="10.10.0.1/20"),
        good=_subnet(ipCidrRange="10.10.16.0/20"),
    ),
    Row(
        "share of flows",
        "REST reference subnetworks",
        gcp_subnet_rules.sampling,
        "Invalid value for field 'resource.logConfig.flowSampling': '1.5'. Must be in [0, 1].",
        confirmed=False,
        bad=_subnet(logConfig={"flowSampling": 1.5}),
        good=_subnet(logConfig={"flowSampling": 1}),
    ),
    Row(
        "range too small",
        "page subnets",
        gcp_subnet_rules.usable_range,
        "Invalid IPCidrRange: 10.10.0.0/30 is not allowed.",
        confirmed=False,
        bad=_subnet(ipCidrRange="10.10.0.0/30"),
        good=_subnet(ipCidrRange="10.10.0.0/29"),
    ),
    Row(
        "public range",
        "page subnets",
        gcp_subnet_rules.usable_range,
        "8.8.0.0/20 is not allowed",
        confirmed=False,
        bad=_subnet(ipCidrRange="8.8.0.0/20"),
        good=_subnet(ipCidrRange="203.0.113.0/24"),
    ),
    Row(
        "range that no subnet may have",
        "page subnets",
        gcp_subnet_rules.usable_range,
        "169.254.0.0/20 is not allowed",
        confirmed=False,
        bad=_subnet(ipCidrRange="169.254.0.0/20"),
        good=_subnet(ipCidrRange="240.0.0.0/20"),
    ),
    Row(
        "ranges of one subnet overlap",
        "page subnets",
        gcp_subnet_rules.own_overlap,
        "Error 400: Invalid value for field 'resource.secondaryIpRanges[0].ipCidrRange': '10.10.8.0/24'. Invalid IPCidrRange: "
        "10.10.8.0/24 conflicts with existing subnetwork 'two' in region 'europe-west4'., invalid",
        bad=_subnet(secondaryIpRanges=_ranges(("pods", "10.10.8.0/24"))),
        good=_subnet(secondaryIpRanges=_ranges(("pods", "10.10.16.0/24"))),
    ),
    Row(
        "subnets overlap, also of two regions",
        "terraform-google-kubernetes-engine",
        gcp_subnet_rules.overlap,
        "'resource.ipCidrRange': '10.16.0.0/20'. Invalid IPCidrRange: 10.16.0.0/20 conflicts "
        "with existing subnetwork 'nodes' in region 'europe-west4'., invalid",
        bad=_subnet(ipCidrRange="10.16.0.0/20", region="us-east1"),
        good=_subnet(ipCidrRange="10.16.0.0/20", network="other"),
    ),
    Row(
        "range in use taken away",
        "page alias-ips",
        gcp_subnet_rules.range_in_use,
        f"Cannot remove secondary range services which is in use by {CLUSTER_ID}",
        confirmed=False,
        bad=Make(
            SUBNETWORK,
            {**SUBNETWORK_INPUTS, "secondaryIpRanges": _ranges(("pods", "10.16.0.0/14"))},
        ),
        good=Make(
            SUBNETWORK,
            {
                **SUBNETWORK_INPUTS,
                "secondaryIpRanges": _ranges(("pods", "10.16.0.0/14"), ("services", "10.20.0.0/20")),
            },
        ),
    ),
    Row(
        "NAT without addresses",
        "REST reference",
        nat_rules.addresses,
        "natIpAllocateOption': ''. Must be specified.",
        confirmed=False,
        given=(_SECOND,),
        bad=_nat(natIpAllocateOption=""),
        good=_nat(),
    ),
    Row(
        "NAT with addresses of two kinds",
        "REST reference",
        nat_rules.addresses,
        "natIps need MANUAL_ONLY",
        confirmed=False,
        given=(_SECOND,),
        bad=_nat(natIps=["one"]),
        good=_nat(natIps=["one"], natIpAllocateOption="MANUAL_ONLY"),
    ),
    Row(
        "NAT of listed subnets without a list",
        "REST reference",
        nat_rules.listed_subnetworks,
        "subnetworks need LIST_OF_SUBNETWORKS",
        confirmed=False,
        given=(_SECOND,),
        bad=_nat(sourceSubnetworkIpRangesToNat="LIST_OF_SUBNETWORKS"),
        good=_nat(
            sourceSubnetworkIpRangesToNat="LIST_OF_SUBNETWORKS",
            subnetworks=[{"name": "others", "sourceIpRangesToNats": ["ALL_IP_RANGES"]}],
        ),
    ),
    Row(
        "NAT of a subnet that is none",
        "4.4",
        nat_rules.subnetworks_exist,
        "subnetworks/no' was not found, notFound",
        confirmed=False,
        given=(_SECOND,),
        bad=_nat(
            sourceSubnetworkIpRangesToNat="LIST_OF_SUBNETWORKS",
            subnetworks=[{"name": "no", "sourceIpRangesToNats": ["ALL_IP_RANGES"]}],
        ),
        good=_nat(
            sourceSubnetworkIpRangesToNat="LIST_OF_SUBNETWORKS",
            subnetworks=[{"name": "others", "sourceIpRangesToNats": ["ALL_IP_RANGES"]}],
        ),
    ),
    Row(
        "second NAT for all subnets",
        "provider's text",
        nat_rules.alone,
        "Only one NAT of a network and region can be for all subnetworks; nat exists.",
        confirmed=False,
        given=(_BESIDE,),
        bad=_nat(),
        good=_subnet(),
    ),
    Row(
        "member of no kind",
        "REST reference",
        gcp_identity.member_form,
        f'Error applying IAM policy for project "{PROJECT}": Error setting IAM policy for project "{PROJECT}": googleapi: '
        "Error 400: Invalid argument: 'me@example.com' is not a member., badRequest",
        confirmed=False,
        bad=_grant(member="me@example.com"),
        good=_grant(member="user:me@example.com"),
    ),
    Row(
        "role that is none",
        "logs",
        gcp_identity.role_form,
        "Role container.admin is not supported for this resource., badRequest",
        bad=_grant(role="container.admin"),
        good=_grant(role="roles/container.admin"),
    ),
    Row(
        "grant to an account that is none",
        "terraform-provider-google #11463",
        gcp_identity.account_exists,
        f"Service account gone@{PROJECT}.iam.gserviceaccount.com does not exist., badRequest",
        bad=_grant(member=f"serviceAccount:gone@{PROJECT}.iam.gserviceaccount.com"),
        good=_grant(member="serviceAccount:theirs@other-project.iam.gserviceaccount.com"),
    ),
    Row(
        "grant on a repository to an account that is none",
        "terraform-provider-google #11463",
        gcp_identity.account_exists,
        'IAM policy for artifactregistry repository "projects/ml-project/locations/europe/repositories/images": googleapi: ',
        bad=_grant(
            READER,
            repository="images",
            location="europe",
            member=f"serviceAccount:gone@{PROJECT}.iam.gserviceaccount.com",
        ),
        good=_grant(READER, repository="images", location="europe"),
    ),
]
