"""Conflicts: the refusals of an operation while another one still runs."""

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources.azure_cluster_path import CLUSTER, POOL, pools_of
from sandbox.cloud.operations import States
from sandbox.cloud.state import Body, Resources

STATES = States("provisioningState", "Creating", "Updating", "Deleting", "Succeeded", "Failed")


def conflict(resources: Resources, token: str, id: str) -> AzureRefused | None:
    """The refusal of a second operation on a cluster or pool; pools of one cluster may be worked on side by side.

    That pools may is how AKS behaves since it has an API for each; that nothing may beside a cluster's own operation is the
    stricter reading of the pages aks-pending-operation.
    """
    cluster = resources.get(id if token == CLUSTER else azure_ids.parent(id))
    if cluster is None:
        return None
    beside = pools_of(resources, cluster.id) if token == CLUSTER else [resources.get(id)]
    for record in (cluster, *beside):
        if record is not None and STATES.running(record):
            # azure-workload-identity #417. azure-native does not try again after this code.
            text = (
                f"Operation is not allowed: Another operation ({azure_ids.last(record.id)} - {STATES.of(record)}) is "
                "in progress, please wait for it to finish before starting a new operation. See "
                "https://aka.ms/aks-pending-operation for more details"
            )
            return aks("OperationNotAllowed", text, status=409)
    return None


def network_conflict(resources: Resources, id: str, body: Body) -> AzureRefused | None:
    """The refusal of a new pool while AKS makes another in the same virtual network, whatever the subnets.

    Azure/AKS #4522; terraform-provider-azurerm PR 32682 (2026-06). There it comes after the request was accepted; refused at
    once here.
    """
    network = _network(body)
    for record in resources.of(POOL):
        if STATES.of(record) != STATES.creating or azure_ids.key(record.id) == azure_ids.key(id):
            continue
        if network and network == _network(record.body):
            text = (
                "Set virtual network ownership failed. autorest/azure: Service returned an error. Status=400 "
                f'Code="VirtualNetworkNotInSucceededState" Message="Virtual network {network} is in Updating state. It needs to '
                'be in Succeeded state in order to set resource ownership."'
            )
            return aks("SetVNetOwnershipFailed", text)
    return None


def _network(pool: Body) -> str:
    return azure_ids.key(str(pool.get("vnetSubnetID") or "")).partition("/subnets/")[0]


def preempted() -> AzureRefused:
    """The end of an operation whose cluster was deleted meanwhile: deleting does not wait."""
    # AKS error page aksoperationpreempted
    return aks("AKSOperationPreemptedByDelete", "This operation has been preempted by Deleting operation.", status=409)
