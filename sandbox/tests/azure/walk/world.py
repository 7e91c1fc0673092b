"""The walk over the rules of AKS: its tables, its rows, and the subscription in which they begin."""

import json

from sandbox.azure.azure_errors import AzureRefused
from sandbox.azure.resources import azure_cluster_rules, azure_pool_rules, cluster_pools_rules, roles, storage
from sandbox.cloud.provider import InitFailed
from sandbox.tests.rule_walk import Refusal, Walk, marked

from ..conftest import IDENTITY, Account, ml
from . import access, clusters, networks, pools, provisioning
from . import storage as storages
from .requests import Put

MODULES = (pools, clusters, access, networks, provisioning, storages)
TABLES = [
    *((module, table) for module in (azure_cluster_rules, azure_pool_rules) for table in ("SENT", "RESULT")),
    *((cluster_pools_rules, table) for table in ("RULES", "REMAINING")),
    *((storage, f"{part}_RULES") for part in ("ACCOUNT", "BLOB_SERVICE", "CONTAINER", "POLICY")),
    (roles, "RULES"),
]
ROUTES = {
    "routed": {"addressPrefix": "0.0.0.0/0", "nextHopType": "VirtualAppliance", "nextHopIpAddress": "10.100.255.4"},
    "leaking": {"addressPrefix": "0.0.0.0/0", "nextHopType": "Internet"},
    "lost": {"addressPrefix": "10.0.0.0/8", "nextHopType": "VnetLocal"},
}


def build(account: Account) -> None:
    """Make a cluster `aks`, an identity, and a network with subnets of several kinds."""
    account.cluster()
    Put(IDENTITY, ml(resourceName="control"))(account)
    account.network()
    account.subnet()
    for name, prefix in (("small", "16.0/28"), ("GatewaySubnet", "34.0/24"), ("pods", "32.0/24")):
        account.subnet(subnetName=name, addressPrefix=f"10.100.{prefix}")
    sku = {"sku": {"name": "Standard"}, "resourceGroupName": "ml", "natGatewayName": "out"}
    gateway = account.create("azure-native:network:NatGateway", sku)
    account.subnet(subnetName="nat", addressPrefix="10.100.33.0/24", natGateway={"id": gateway.id})
    for index, (name, route) in enumerate(ROUTES.items()):
        inputs = ml(routeTableName=name, routes=[{"name": "out", **route}])
        table = account.create("azure-native:network:RouteTable", inputs)
        account.subnet(subnetName=name, addressPrefix=f"10.100.{40 + index}.0/24", routeTable={"id": table.id})


def refusal(error: Exception) -> Refusal:
    """Read a refusal, at once or later. The line that the user sees ends in the mark."""
    if isinstance(error, AzureRefused):
        return Refusal(error.code, error.message, marked(str(error)))
    if not isinstance(error, InitFailed):
        return Refusal(type(error).__name__, str(error), marked=False)
    (reason, *_) = error.reasons
    if "ResourceOperationFailure" in reason:
        (inner,) = json.loads(reason.partition('Message="')[2][:-1])["details"]
        return Refusal(inner["code"], inner["message"], marked=False)
    return Refusal("InternalServerError", reason, marked=False)


WALK = Walk(
    "azure", TABLES, [row for module in MODULES for row in module.ROWS], Account, build, refusal, "InvalidParameter"
)
