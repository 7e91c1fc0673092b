"""The provider's functions: Terraform's data sources, which read existing resources.

Each has its own text for a missing resource (terraform-provider-google-beta, data_source_*.go).
"""

from collections.abc import Callable
from typing import Any

from sandbox.cloud.provider import Props, Refused
from sandbox.cloud.schema import Fields, Shape
from sandbox.gcp import gcp_ids
from sandbox.gcp.gcp_cloud import GcpCloud
from sandbox.gcp.gcp_schema import STORED
from sandbox.gcp.resources.gcp_network import NETWORK, SUBNETWORK
from sandbox.gcp.resources.gcp_requests import CLUSTER
from sandbox.gcp.resources.gcp_resource_type import Settings
from sandbox.gcp.resources.gcp_table import TYPES

_GET_CLUSTER = "gcp:container/getCluster:getCluster"
_GET_SUBNETWORK = "gcp:compute/getSubnetwork:getSubnetwork"


def _arguments(args: Props, known: set[str], required: set[str]) -> None:
    for name in args.keys() - known:
        raise Refused(f"Invalid or unknown key: {name}")
    for name in sorted(required - args.keys()):
        raise Refused(f'"{name}": required field is not set')


def cluster(cloud: GcpCloud, settings: Settings, args: Props) -> Props:
    _arguments(args, {"name", "location", "project"}, {"name"})
    id = TYPES[CLUSTER].id(args, settings)
    body = cloud.get(id)
    if body is None:
        # The data source reads like the resource, which only forgets a missing cluster.
        raise Refused(f"{id} not found")
    labels = body["effectiveLabels"]
    shown = {**body, "id": id, "resourceLabels": labels, "pulumiLabels": labels}
    return _listed(STORED.outputs_of(_GET_CLUSTER), shown)


def network(cloud: GcpCloud, settings: Settings, args: Props) -> Props:
    _arguments(args, {"name", "project", "networkProfile"}, {"name"})
    id = TYPES[NETWORK].id(args, settings)
    body = cloud.get(id)
    if body is None:
        raise Refused(f"{id} not found")
    names = ("name", "project", "gatewayIpv4", "networkId", "numericId", "selfLink")
    links = [gcp_ids.self_link(subnet) for subnet in cloud.subnetworks(id)]
    return {
        "id": id,
        "description": body.get("description", ""),
        "internalIpv6Range": "",
        "subnetworksSelfLinks": links,
        **{name: body[name] for name in names},
    }


def subnetwork(cloud: GcpCloud, settings: Settings, args: Props) -> Props:
    _arguments(args, {"name", "project", "region", "selfLink"}, set())
    if "selfLink" in args:
        id = gcp_ids.path(args["selfLink"])
    elif "name" not in args:
        raise Refused("one of `self_link` or `name` must be specified")
    else:
        id = TYPES[SUBNETWORK].id(args, settings)
    body = cloud.get(id)
    if body is None:
        raise Refused(f"{id} not found")
    outputs = {name: body.get(name, "") for name in STORED.outputs_of(_GET_SUBNETWORK).shapes}
    ranges = [{"rangeName": r["rangeName"], "ipCidrRange": r["ipCidrRange"]} for r in body.get("secondaryIpRanges", [])]
    return {**outputs, "id": id, "secondaryIpRanges": ranges}


def project(cloud: GcpCloud, settings: Settings, args: Props) -> Props:
    """Return the project of an id: every project exists, because the sandbox creates none."""
    _arguments(args, {"projectId"}, set())
    id = args.get("projectId") or settings.project
    if not id:
        raise Refused(
            "no project value set. `project_id` must be set at the resource level, or a default `project` value must be "
            "specified on the provider"
        )
    return {
        "autoCreateNetwork": True,
        "billingAccount": "000000-000000-000000",
        "deletionPolicy": "",
        "effectiveLabels": {},
        "folderId": "",
        "id": f"projects/{id}",
        "labels": {},
        "name": id,
        "number": gcp_ids.project_number(id),
        "orgId": "",
        "projectId": id,
        "pulumiLabels": {},
        "tags": {},
    }


FUNCTIONS: dict[str, Callable[[GcpCloud, Settings, Props], Props]] = {
    _GET_CLUSTER: cluster,
    _GET_SUBNETWORK: subnetwork,
    "gcp:compute/getNetwork:getNetwork": network,
    "gcp:organizations/getProject:getProject": project,
}


def _listed(fields: Fields, body: Props) -> Props:
    """Return a resource's body in the form of a data source, where every block is a list with a plural name."""
    return {name: _shown(shape, _singular(name, body)) for name, shape in fields.shapes.items()}


def _singular(name: str, body: Props) -> Any:
    for known in (name, name.removesuffix("ies") + "y", name.removesuffix("es"), name.removesuffix("s")):
        if known in body:
            return body[known]
    return None


_EMPTY: dict[str, Any] = {"string": "", "boolean": False, "integer": 0, "number": 0, "map": {}}


def _shown(shape: Shape, value: Any) -> Any:
    if shape.kind == "array" and shape.item:
        items = value if isinstance(value, list) else [] if value is None else [value]
        return [_shown(shape.item, item) for item in items]
    if shape.inside:
        return _listed(shape.inside(), value)
    return _EMPTY.get(shape.kind) if value is None else value
