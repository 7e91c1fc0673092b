"""The identity AKS' control plane acts as, and the one right it needs outside the cluster."""

from __future__ import annotations

import uuid

import pulumi
from pulumi_azure_native import authorization, managedidentity

_NETWORK_CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"
"""learn.microsoft.com/azure/role-based-access-control/built-in-roles"""


class ControlPlaneIdentity(pulumi.ComponentResource):
    """A user-assigned identity that may join machines to the nodes' subnet and nothing else."""

    id: pulumi.Output[str]
    network_access: authorization.RoleAssignment

    def __init__(
        self,
        name: str,
        *,
        resource_group: pulumi.Input[str],
        location: str,
        subnet_id: pulumi.Output[str],
        tags: dict[str, str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("kubeflow-spot:azure:ControlPlaneIdentity", name, None, opts)
        child = pulumi.ResourceOptions(parent=self)
        identity = managedidentity.UserAssignedIdentity(
            f"{name}-identity",
            resource_name_=name,
            resource_group_name=resource_group,
            location=location,
            tags=tags,
            opts=child,
        )
        self.network_access = authorization.RoleAssignment(
            f"{name}-network",
            # Azure wants a GUID; one derived from the names stays the same when the state is lost.
            role_assignment_name=str(
                uuid.uuid5(uuid.NAMESPACE_URL, f"{pulumi.get_stack()}/{name}/network-contributor")
            ),
            principal_id=identity.principal_id,
            principal_type="ServicePrincipal",
            role_definition_id=subnet_id.apply(
                lambda id: (
                    f"/subscriptions/{id.split('/')[2]}/providers/Microsoft.Authorization"
                    f"/roleDefinitions/{_NETWORK_CONTRIBUTOR}"
                )
            ),
            scope=subnet_id,
            opts=child,
        )
        self.id = identity.id
        self.register_outputs({"id": self.id})
