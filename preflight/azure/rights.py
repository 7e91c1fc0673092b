"""Rights: whether whoever deploys may make what a stack declares, each at the place where it is made."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from config.clouds.azure.kept import kept_group
from config.clouds.azure.settings import Azure
from preflight.answers import Answers, Document
from preflight.azure.names import group
from preflight.demand import Demand
from ready.check import Said, ok, wrong

_ACTIONS = (
    "Microsoft.ContainerService/managedClusters/write",
    "Microsoft.ContainerService/managedClusters/agentPools/write",
    "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action",
)
_OF_GRANTS = "Microsoft.Authorization/roleAssignments/write"
_OF_IDENTITIES = "Microsoft.ManagedIdentity/userAssignedIdentities/write"
_OF_A_CLUSTER = (
    "Microsoft.Network/virtualNetworks/write",
    "Microsoft.Network/virtualNetworks/subnets/join/action",
    _OF_IDENTITIES,
    "Microsoft.ManagedIdentity/userAssignedIdentities/assign/action",
    _OF_GRANTS,
)
_OF_STORAGE = (
    "Microsoft.Storage/storageAccounts/write",
    "Microsoft.Storage/storageAccounts/blobServices/write",
    "Microsoft.Storage/storageAccounts/blobServices/containers/write",
)
_OF_EXPIRY = "Microsoft.Storage/storageAccounts/managementPolicies/write"
_OF_ROLES = ("Microsoft.Authorization/roleDefinitions/write", "Microsoft.Authorization/roleDefinitions/delete")
_OF_PROFILES = (
    _OF_IDENTITIES,
    "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials/write",
)
_OF_A_GROUP = "Microsoft.Resources/subscriptions/resourceGroups/write"


@dataclass(frozen=True)
class Place:
    """What is to be done at one place."""

    part: str
    """The name of the answer that lists what whoever deploys may do there."""
    where: str
    actions: tuple[str, ...]
    group: str = ""
    """The name of the answer that has the resource group, where the stack makes it."""


def places(demand: Demand) -> Iterator[Place]:
    """Where a stack makes what (docs/azure.md and docs/storage.md, Rights)."""
    cloud = demand.spec.cloud
    assert isinstance(cloud, Azure)
    workloads, name = demand.spec.workloads, group(demand)
    own = cloud.existing_resource_group is None
    cluster = [*_ACTIONS, *(_OF_A_CLUSTER if demand.new else ())]
    if demand.new and own:
        cluster.append(_OF_A_GROUP)
    if workloads.profiles:
        cluster += _OF_PROFILES
    grants = (_OF_GRANTS,) if workloads.profiles else ()
    expiry = (_OF_EXPIRY,) if workloads.checkpoints and workloads.checkpoints.expire_after_days else ()
    storage = (*_OF_STORAGE, *expiry, *_OF_ROLES, *grants)
    if demand.bucket and not own:
        cluster += storage
    made = "resourceGroup" if demand.new and own else ""
    yield Place("permissions", f"resource group {name}", tuple(dict.fromkeys(cluster)), made)
    if demand.bucket and own:
        # The group of the account is another one than the cluster's, and outlives it.
        kept = f"resource group {kept_group(name, demand.bucket)}"
        yield Place("storagePermissions", kept, (_OF_A_GROUP, *storage), "storageGroup")
    if account := demand.existing_bucket:
        # The stack's own role can be assigned in the whole group of the account.
        yield Place("accountGroupPermissions", f"resource group {account.split('/')[4]}", _OF_ROLES)
        if grants:
            yield Place("accountPermissions", f"storage account {account.rpartition('/')[2]}", grants)


def rights(answers: Answers) -> Iterator[Said]:
    """Each action against what whoever deploys may do."""
    count, fine = 0, True
    for place in places(answers.demand):
        granted = answers.part(place.part)
        if granted is None:  # An account that is not there, of which its own check says so.
            continue
        there = not place.group or answers.parts.get(place.group)
        where = place.where if there else f"the subscription, where {place.where} is to be made"
        count += len(place.actions)
        for action in place.actions:
            if not any(_allows(entry, action) for entry in granted):
                fine = False
                yield wrong(
                    f"whoever deploys may not {action} on {where}",
                    "ask for a role that has it (docs/azure.md and docs/storage.md, Rights)",
                )
    if fine:
        yield ok(f"whoever deploys has {count} of {count} rights")


def _allows(entry: Document, action: str) -> bool:
    """Actions without the `notActions` of the same role; `*` stands for any text, and case does not count
    (learn.microsoft.com/azure/role-based-access-control/role-definitions)."""
    return any(_covers(form, action) for form in entry.get("actions") or ()) and not any(
        _covers(form, action) for form in entry.get("notActions") or ()
    )


def _covers(form: str, action: str) -> bool:
    return re.fullmatch(re.escape(form).replace(r"\*", ".*"), action, re.IGNORECASE) is not None
