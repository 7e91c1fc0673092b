"""Networks, subnets, NAT, accounts and grants."""

from typing import Any

from sandbox.gcp import gcp_cloud
from sandbox.gcp.resources import gcp_identity, gcp_network, router
from sandbox.gcp.resources import gcp_network as subnets
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import (
    ACCOUNT,
    CLUSTER_ID,
    MEMBER,
    NAT,
    NAT_INPUTS,
    NETWORK,
    NETWORK_INPUTS,
    PROJECT,
    READER,
    REGION,
    ROUTER,
    ROUTER_INPUTS,
    SUBNETWORK,
    SUBNETWORK_INPUTS,
)
from .requests import Again, Delete, Make

_IN_USE = "resourceInUseByAnotherResource"
_ROBOT = f"ml-nodes@{PROJECT}.iam.gserviceaccount.com"


def _subnet(**changes: Any) -> Make:
    """Make a new subnet beside `nodes`."""
    fresh = {**SUBNETWORK_INPUTS, "name": "two", "ipCidrRange": "10.10.0.0/20", "secondaryIpRanges": []}
    return Make(SUBNETWORK, {**fresh, **changes})


def _ranges(*ranges: tuple[str, str]) -> list[dict[str, str]]:
    return [{"rangeName": name, "ipCidrRange": text} for name, text in ranges]


def _nat(**changes: Any) -> Make:
    """Make a NAT of a router in another network, which has no NAT yet."""
    return Make(NAT, {**NAT_INPUTS, "name": "two", "router": "second", **changes})


_SECOND = Make(ROUTER, {**ROUTER_INPUTS, "name": "second", "network": "other"})
_BESIDE = Make(ROUTER, {**ROUTER_INPUTS, "name": "second"})


def _grant(token: str = MEMBER, **changes: Any) -> Make:
    grant = {
        "project": PROJECT,
        "role": "roles/container.defaultNodeServiceAccount",
        "member": f"serviceAccount:{_ROBOT}",
    }
    return Make(token, {**grant, **changes})


ROWS = [
    Row("network twice", gcp_cloud._exists, "4.4")
    .says("googleapi: Error 409: The resource 'projects/ml-project/global/networks/net' already exists, alreadyExists")
    .tries(Again, NETWORK, (NETWORK_INPUTS, {**NETWORK_INPUTS, "name": "two"})),
    Row("NAT twice", gcp_cloud._exists, "resource_compute_router_nat.go")
    .says("Unable to create RouterNat, existing object already found")
    .refuses(Again(NAT, NAT_INPUTS))
    .accepts(Make(NAT, NAT_INPUTS)),
    Row("account twice", gcp_cloud._exists, "4.4")
    .says(
        "Error creating service account: googleapi: Error 409: Service account ml-nodes already exists within project "
        "projects/ml-project., alreadyExists"
    )
    .tries(Again, ACCOUNT, {"accountId": ("ml-nodes", "ml-nodes-2")}),
    Row("network with a subnet", gcp_network.Network.check_delete, "pulumi-gcp #1253")
    .says(
        "The network resource 'projects/ml-project/global/networks/other' is already being used by "
        f"'projects/ml-project/regions/europe-west4/subnetworks/others', {_IN_USE}"
    )
    .tries(
        Delete, (f"projects/{PROJECT}/global/networks/other", f"projects/{PROJECT}/regions/{REGION}/subnetworks/others")
    ),
    Row("subnet with a cluster", subnets.Subnetwork.check_delete, "pulumi-gcp #1253")
    .says(
        "The subnetwork resource 'projects/ml-project/regions/europe-west4/subnetworks/nodes' is already being used by"
    )
    .tries(Delete, (f"projects/{PROJECT}/regions/{REGION}/subnetworks/nodes", CLUSTER_ID)),
    Row("subnet without its network", gcp_network.require_network, "4.4")
    .says(
        "Error creating Subnetwork: googleapi: Error 404: The resource 'projects/ml-project/global/networks/no' was not found, "
        "notFound"
    )
    .tries(_subnet, network=("no", f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/global/networks/net")),
    Row("region that is none", gcp_network.region_exists, "the sandbox's reading")
    .assumes("Unknown region., invalid")
    .tries(_subnet, region=("europe-west5", "europe-west3")),
    Row("subnet without a range", gcp_network.range_given, "REST reference")
    .assumes("Must be specified.")
    .refuses(Make(SUBNETWORK, {"name": "two", "region": REGION, "network": "net"}))
    .accepts(_subnet()),
    Row("two ranges of a name", gcp_network.own_names, "REST reference")
    .assumes("duplicate range name pods")
    .tries(
        _subnet,
        secondaryIpRanges=(
            _ranges(("pods", "10.30.0.0/20"), ("pods", "10.31.0.0/20")),
            _ranges(("pods", "10.30.0.0/20"), ("services", "10.31.0.0/20")),
        ),
    ),
    Row("host bits", gcp_network.network_address, "the sandbox's reading")
    .assumes("Invalid IPCidrRange: 10.10.0.1/20 has host bits set.")
    .tries(_subnet, ipCidrRange=("10.10.0.1/20", "10.10.16.0/20")),
    Row("share of flows", gcp_network.sampling, "REST reference subnetworks")
    .assumes("Invalid value for field 'resource.logConfig.flowSampling': '1.5'. Must be in [0, 1].")
    .tries(_subnet, logConfig={"flowSampling": (1.5, 1)}),
    Row("range too small", gcp_network.usable_range, "page subnets")
    .assumes("Invalid IPCidrRange: 10.10.0.0/30 is not allowed.")
    .tries(_subnet, ipCidrRange=("10.10.0.0/30", "10.10.0.0/29")),
    Row("public range", gcp_network.usable_range, "page subnets")
    .assumes("8.8.0.0/20 is not allowed")
    .tries(_subnet, ipCidrRange=("8.8.0.0/20", "203.0.113.0/24")),
    Row("range that no subnet may have", gcp_network.usable_range, "page subnets")
    .assumes("169.254.0.0/20 is not allowed")
    .tries(_subnet, ipCidrRange=("169.254.0.0/20", "240.0.0.0/20")),
    Row("ranges of one subnet overlap", gcp_network.own_overlap, "page subnets")
    .says(
        "Error 400: Invalid value for field 'resource.secondaryIpRanges[0].ipCidrRange': '10.10.8.0/24'. Invalid IPCidrRange: "
        "10.10.8.0/24 conflicts with existing subnetwork 'two' in region 'europe-west4'., invalid"
    )
    .tries(_subnet, secondaryIpRanges=(_ranges(("pods", "10.10.8.0/24")), _ranges(("pods", "10.10.16.0/24")))),
    Row("subnets overlap, also of two regions", gcp_network.overlap, "terraform-google-kubernetes-engine")
    .says(
        "'resource.ipCidrRange': '10.16.0.0/20'. Invalid IPCidrRange: 10.16.0.0/20 conflicts "
        "with existing subnetwork 'nodes' in region 'europe-west4'., invalid"
    )
    .tries(_subnet, ipCidrRange="10.16.0.0/20", region=("us-east1", ABSENT), network=(ABSENT, "other")),
    Row("range in use taken away", gcp_network.range_in_use, "page alias-ips")
    .assumes(f"Cannot remove secondary range services which is in use by {CLUSTER_ID}")
    .tries(
        Make,
        SUBNETWORK,
        {
            **SUBNETWORK_INPUTS,
            "secondaryIpRanges": (
                _ranges(("pods", "10.16.0.0/14")),
                _ranges(("pods", "10.16.0.0/14"), ("services", "10.20.0.0/20")),
            ),
        },
    ),
    Row("NAT without addresses", router.addresses, "REST reference")
    .assumes("natIpAllocateOption': ''. Must be specified.")
    .given(_SECOND)
    .tries(_nat, natIpAllocateOption=("", ABSENT)),
    Row("NAT with addresses of two kinds", router.addresses, "REST reference")
    .assumes("natIps need MANUAL_ONLY")
    .given(_SECOND)
    .tries(_nat, natIps=["one"], natIpAllocateOption=(ABSENT, "MANUAL_ONLY")),
    Row("NAT of listed subnets without a list", router.listed_subnetworks, "REST reference")
    .assumes("subnetworks need LIST_OF_SUBNETWORKS")
    .given(_SECOND)
    .tries(
        _nat,
        sourceSubnetworkIpRangesToNat="LIST_OF_SUBNETWORKS",
        subnetworks=(ABSENT, [{"name": "others", "sourceIpRangesToNats": ["ALL_IP_RANGES"]}]),
    ),
    Row("NAT of a subnet that is none", router.subnetworks_exist, "4.4")
    .assumes("subnetworks/no' was not found, notFound")
    .given(_SECOND)
    .tries(
        _nat,
        sourceSubnetworkIpRangesToNat="LIST_OF_SUBNETWORKS",
        subnetworks=[{"name": ("no", "others"), "sourceIpRangesToNats": ["ALL_IP_RANGES"]}],
    ),
    Row("second NAT for all subnets", router.alone, "provider's text")
    .assumes("Only one NAT of a network and region can be for all subnetworks; nat exists.")
    .given(_BESIDE)
    .refuses(_nat())
    .accepts(_subnet()),
    Row("member of no kind", gcp_identity.member_form, "REST reference")
    .assumes(
        f'Error applying IAM policy for project "{PROJECT}": Error setting IAM policy for project "{PROJECT}": googleapi: '
        "Error 400: Invalid argument: 'me@example.com' is not a member., badRequest"
    )
    .tries(_grant, member=("me@example.com", "user:me@example.com")),
    Row("role that is none", gcp_identity.role_form, "logs")
    .says("Role container.admin is not supported for this resource., badRequest")
    .tries(_grant, role=("container.admin", "roles/container.admin")),
    Row("grant to an account that is none", gcp_identity.account_exists, "terraform-provider-google #11463")
    .says(f"Service account gone@{PROJECT}.iam.gserviceaccount.com does not exist., badRequest")
    .tries(
        _grant,
        member=(
            f"serviceAccount:gone@{PROJECT}.iam.gserviceaccount.com",
            "serviceAccount:theirs@other-project.iam.gserviceaccount.com",
        ),
    ),
    Row(
        "grant on a repository to an account that is none",
        gcp_identity.account_exists,
        "terraform-provider-google #11463",
    )
    .says(
        'IAM policy for artifactregistry repository "projects/ml-project/locations/europe/repositories/images": googleapi: '
    )
    .tries(
        _grant,
        READER,
        repository="images",
        location="europe",
        member=(f"serviceAccount:gone@{PROJECT}.iam.gserviceaccount.com", ABSENT),
    ),
]
