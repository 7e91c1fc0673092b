"""The identity of AKS' control plane, and the rights that it and the nodes need outside the cluster."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import authorization, managedidentity

from components import links
from components.azure.placed import Placed


@dataclass(frozen=True)
class Role:
    """A built-in role (learn.microsoft.com/azure/role-based-access-control/built-in-roles)."""

    word: str
    """The role's word in names of resources."""
    guid: str


ACR_PULL = Role("pull", "7f951dda-4ed3-4680-a7ca-43fe172d538d")
CONTRIBUTOR = Role("capacity", "b24988ac-6180-42a0-ab88-20f7382dd24c")
"""For capacity reservation groups alone, which have no role of their own (page use-capacity-reservation-groups)."""
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
    """Tells apart several grants of one role in one cluster."""
    condition: str = ""
    """Limits the grant (learn.microsoft.com/azure/role-based-access-control/conditions-format); empty for none."""
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
        """Declare the assignment to a managed identity. It is replaced together with the resources in `replace_with`.

        `known_principal`: False where a preview in which the identity gets another tag does not know the principal. It would show
        a replacement that no update makes, so previews do not compare the principal. Updates do: an identity that somebody deleted
        comes back with another one.
        """
        scope = links.output(self.scope)
        unknown = not known_principal and pulumi.runtime.is_dry_run()
        ignored = ["roleAssignmentName", *(["principalId"] if unknown else [])]
        return authorization.RoleAssignment(
            "-".join(filter(None, [name, self.role.word, self.at])),
            # Azure wants a GUID that is unique at each scope: two stacks of one name may share a registry. Derived from the
            # assignment, it stays the same when the state is lost. An existing assignment keeps its GUID.
            role_assignment_name=pulumi.Output.all(principal_id, scope).apply(
                lambda parts: str(uuid.uuid5(uuid.NAMESPACE_URL, "/".join([*parts, self.role.guid])))
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
            ),
        )


class ControlPlaneIdentity(pulumi.ComponentResource):
    """A user-assigned identity with exactly the given rights."""

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
            resource_group_name=placed.resource_group,
            location=placed.location,
            tags=placed.tags,
            opts=pulumi.ResourceOptions(parent=self),
        )
        self.access = [
            grant.to(name, identity.principal_id, parent=self, replace_with=[identity], known_principal=False)
            for grant in grants
        ]
        self.id = identity.id
        self.register_outputs({"id": self.id})
