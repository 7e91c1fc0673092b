"""Rules of AKS on pools with a capacity reservation group (page use-capacity-reservation-groups).

The groups themselves are not emulated: an id stands for one that exists, with a reservation of the pool's size and zones.
"""

import re

from sandbox.azure.azure_errors import AzureRefused, aks, arm
from sandbox.azure.resources import permissions
from sandbox.azure.resources.azure_pool_request import PoolRequest
from sandbox.cloud import rules
from sandbox.cloud.state import Body, Resources

_TARGET = "properties.capacityReservationGroupID"
_GROUP = re.compile(
    r"/subscriptions/([^/]+)/resourceGroups/[^/]+/providers/Microsoft\.Compute/capacityReservationGroups/[^/]+",
    re.IGNORECASE,
)

# https://learn.microsoft.com/azure/role-based-access-control/built-in-roles/privileged
_CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"
_OWNER = "8e3af657-a8ff-443c-a75c-2fe8c4bcb635"


def _group(request: PoolRequest) -> str:
    """The group that a new pool names; an existing pool keeps its own (`pool_rules`)."""
    return "" if request.current else str(request.body.get("capacityReservationGroupID") or "")


def _identities(cluster: Body) -> list[str]:
    return list((cluster.get("identity") or {}).get("userAssignedIdentities") or [])


@rules.as_read
def form(request: PoolRequest) -> AzureRefused | None:
    group = _group(request)
    if not group or _GROUP.fullmatch(group):
        return None
    return aks("InvalidParameter", f"{group} is not the id of a capacity reservation group.", _TARGET)


@rules.as_read
def spot(request: PoolRequest) -> AzureRefused | None:
    # Page capacity-reservation-overview, limitations. Text UNCONFIRMED.
    if not _group(request) or not request.spot:
        return None
    return aks("InvalidParameter", "Spot node pools cannot use a capacity reservation group.", _TARGET)


@rules.as_read
def user_assigned(request: PoolRequest) -> AzureRefused | None:
    # "System-assigned managed identities don't work for this feature"; text UNCONFIRMED.
    if not _group(request) or _identities(request.cluster):
        return None
    return aks("BadRequest", "A capacity reservation group needs a cluster with a user-assigned identity.", _TARGET)


@rules.as_read
def permission(request: PoolRequest) -> AzureRefused | None:
    # Azure/karpenter-provider-azure pull request 1839: the actions, which Contributor at the group has. ARM's code for a missing
    # right at a linked resource; that AKS says it so is UNCONFIRMED.
    return _unpermitted(request.resources, _identities(request.cluster), _group(request))


def dissociation(resources: Resources, cluster: Body, pool: Body) -> AzureRefused | None:
    """The refusal to delete a pool that the identity may not take out of its group any more.

    A pool that is deleted is taken out of its group first (the page's note); that this needs the right is UNCONFIRMED.
    """
    refused = _unpermitted(resources, _identities(cluster), str(pool.get("capacityReservationGroupID") or ""))
    return refused.as_read() if refused else None


def _unpermitted(resources: Resources, identities: list[str], group: str) -> AzureRefused | None:
    if not group or any(permissions.holds(resources, identities, role, group) for role in (_CONTRIBUTOR, _OWNER)):
        return None
    text = (
        "The cluster's identity does not have permission to perform action "
        f"'Microsoft.Compute/capacityReservationGroups/deploy/action' on the linked scope '{group}'."
    )
    return arm("LinkedAuthorizationFailed", text, status=403)


RULES = (form, spot, user_assigned, permission)
