"""Identities of an AKS cluster, and the rights that they need outside it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_azure_native import authorization, containerservice, managedidentity

from components import references
from components.azure.azure_live import LiveCluster
from components.azure.azure_network import Network
from components.azure.placed import Placed
from config.clouds.azure.azure_pool import settings_of
from config.clouds.azure.azure_settings import Azure
from config.placement.node_pools import NodePool


@dataclass(frozen=True)
class Role:
    """A built-in role (learn.microsoft.com/azure/role-based-access-control/built-in-roles)."""

    word: str
    """The role's word in names of resources."""
    guid: str


ACR_PULL = Role("pull", "7f951dda-4ed3-4680-a7ca-43fe172d538d")
CONTRIBUTOR = Role("capacity", "b24988ac-6180-42a0-ab88-20f7382dd24c")
"""For capacity reservation groups alone, which have no role of their own (page
use-capacity-reservation-groups)."""
DISK_ENCRYPTION_READER = Role("disks", "acdd72a7-3385-48ef-bd42-f606fba81ae7")
KEY_VAULT_CRYPTO_USER = Role("key", "12338af0-0e69-4776-bea7-57ae8d297424")
NETWORK_CONTRIBUTOR = Role("network", "4d97b98b-1d4f-4787-a291-c67834d212e7")
PRIVATE_DNS_ZONE_CONTRIBUTOR = Role("dns", "b12aa53e-6015-4669-85d0-8515ebb3ae7f")


@dataclass(frozen=True)
class Grant:
    """One role at one resource."""

    role: Role
    scope: pulumi.Input[str]
    """The resource's id."""
    at: str = ""
    """Distinguishes several grants of one role in one cluster."""
    formerly_at: str | None = None
    """`at` of an earlier program."""
    condition: str = ""
    """Limits the grant (learn.microsoft.com, page conditions-format); empty for none."""
    after: tuple[pulumi.Resource, ...] = ()
    """What must exist before: a role of the program's own."""

    def to(
        self,
        name: str,
        principal_id: pulumi.Input[str],
        *,
        parent: pulumi.Resource,
        replace_with: Sequence[pulumi.Resource] = (),
        known_principal: bool = True,
        hooks: pulumi.ResourceHookBinding | None = None,
    ) -> authorization.RoleAssignment:
        """Declare the assignment to a managed identity. It is replaced together with the resources
        in `replace_with`.

        `known_principal`: False if a preview may not know the principal, as when the identity gets
        another tag. The preview would show a replacement that no update makes, so it does not
        compare the principal. Updates compare it: a deleted identity is made again with another
        principal.
        """
        scope = pulumi.Output.from_input(self.scope)
        unknown = not known_principal and pulumi.runtime.is_dry_run()
        ignored = ["roleAssignmentName", *(["principalId"] if unknown else [])]
        former = (
            [pulumi.Alias(name=self._name(name, self.formerly_at))] if self.formerly_at else None
        )
        return authorization.RoleAssignment(
            self._name(name, self.at),
            # The GUID must be unique at each scope: two stacks of one name may share a registry. It
            # is derived from the assignment, so it survives a lost state. An existing assignment
            # keeps its GUID.
            role_assignment_name=pulumi.Output.all(principal_id, scope).apply(
                lambda parts: str(
                    uuid.uuid5(uuid.NAMESPACE_URL, "/".join([*parts, self.role.guid]))
                )
            ),
            principal_id=principal_id,
            principal_type="ServicePrincipal",
            role_definition_id=scope.apply(
                lambda id: (
                    f"/subscriptions/{id.split('/')[2]}/providers/Microsoft.Authorization"
                    f"/roleDefinitions/{self.role.guid}"
                )
            ),
            scope=scope,
            condition=self.condition or None,
            condition_version="2.0" if self.condition else None,
            opts=pulumi.ResourceOptions(
                parent=parent,
                replace_with=list(replace_with),
                ignore_changes=ignored,
                depends_on=list(self.after),
                hooks=hooks,
                aliases=former,
            ),
        )

    def _name(self, name: str, at: str) -> str:
        return "-".join(filter(None, [name, self.role.word, at]))


class ControlPlaneIdentity(pulumi.ComponentResource):
    """A user-assigned identity with exactly the given rights; it deliberately has no right to the
    whole resource group.
    """

    id: pulumi.Output[str]
    access: list[authorization.RoleAssignment]
    """Assignments that the cluster must wait for."""

    def __init__(
        self,
        name: str,
        grants: Iterable[Grant],
        placed: Placed,
        *,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("kubeflow-spot:azure:ControlPlaneIdentity", name, None, opts)
        identity = managedidentity.UserAssignedIdentity(
            f"{name}-identity",
            resource_name_=placed.cluster,
            **placed.inputs,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.access = [
            grant.to(
                name,
                identity.principal_id,
                parent=self,
                replace_with=[identity],
                known_principal=False,
            )
            for grant in grants
        ]
        self.id = identity.id
        self.register_outputs({"id": self.id})


def control_plane_grants(cloud: Azure, network: Network, pools: Sequence[NodePool]) -> list[Grant]:
    """Return the rights that the control plane's identity needs before the cluster exists."""
    grants: list[Grant] = []
    access, encryption = cloud.access, cloud.encryption
    if access.private and access.private_dns_zone != "none":
        # AKS links the zone of the API server's name to the network itself (page private-clusters).
        grants.append(Grant(NETWORK_CONTRIBUTOR, network.id))
    else:
        grants += subnet_grants(network, pools)
    if access.private_dns_zone and access.private_dns_zone.startswith("/"):
        grants.append(Grant(PRIVATE_DNS_ZONE_CONTRIBUTOR, access.private_dns_zone))
    if encryption.disk_encryption_set:
        # Page azure-disk-customer-managed-keys
        grants.append(
            Grant(DISK_ENCRYPTION_READER, references.output(encryption.disk_encryption_set))
        )
    if encryption.kms and encryption.kms.vault_id:
        # Page use-kms-etcd-encryption
        grants.append(Grant(KEY_VAULT_CRYPTO_USER, encryption.kms.vault_id))
    return grants


def subnet_grants(network: Network, pools: Sequence[NodePool]) -> Iterator[Grant]:
    """Yield the right at each subnet of these pools.

    A grant is named after its subnet, or after a pool in it if another resource makes the subnet:
    the name may be unknown.
    """
    subnets = [(settings_of(pool.source).subnet or network.default, pool.label) for pool in pools]
    for text in each_once(subnet.text for subnet, _ in subnets):
        # A plain name before the same one from another resource.
        same = [(subnet, label) for subnet, label in subnets if subnet.text.lower() == text.lower()]
        subnet, label = min(same, key=lambda pair: pair[0].source is not None)
        at, formerly = text, None
        if subnet.source is not None:
            # No subnet's name has a `/`.
            at, formerly = f"{label}/subnet", subnet.known
        if text == network.default.text:
            at, formerly = "", None
        yield Grant(NETWORK_CONTRIBUTOR, network.subnet_id(subnet), at=at, formerly_at=formerly)


def reservation_grants(groups: Iterable[str]) -> list[Grant]:
    """Return the rights at capacity reservation groups, which the identity needs before a pool
    names one.

    The right at the group itself is enough (Azure/karpenter-provider-azure pull request 1839); the
    page grants it at the group's resource group.
    """
    return [
        # /subscriptions/S/resourceGroups/GROUP/providers/P/T/NAME: names are unique in their
        # resource group only.
        Grant(CONTRIBUTOR, group, at="-".join(group.lower().split("/")[4::4]))
        for group in each_once(groups)
    ]


def each_once(names: Iterable[str]) -> list[str]:
    """Sort Azure names or ids; drop those that differ in case only, as a role assignment does."""
    return sorted({name.lower(): name for name in sorted(names, reverse=True)}.values())


def kubelet(cluster: containerservice.ManagedCluster, live: LiveCluster) -> pulumi.Input[str]:
    """Return the object id of the identity with which nodes pull images."""
    profile = _known(live, "identityProfile")
    if profile:
        return str(profile["kubeletidentity"]["objectId"])
    return cluster.identity_profile.apply(lambda own: str((own or {})["kubeletidentity"].object_id))


def token_issuer(cluster: containerservice.ManagedCluster, live: LiveCluster) -> pulumi.Input[str]:
    """Return the URL of the issuer of the cluster's tokens."""
    profile = _known(live, "oidcIssuerProfile")
    return str(profile["issuerURL"]) if profile else cluster.oidc_issuer_profile.issuer_url


def _known(live: LiveCluster, output: str) -> Any:
    """Return an output of the live cluster in a preview.

    A preview knows no outputs of an updated cluster, so it would show the right to pull as
    replaced.
    """
    return (live.answer or {}).get(output) if pulumi.runtime.is_dry_run() else None
