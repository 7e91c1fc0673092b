"""The table of emulated resource types. A type that is not in it is refused."""

from __future__ import annotations

from sandbox.azure.resources.cluster import ManagedCluster
from sandbox.azure.resources.collection_association import DataCollectionRuleAssociation
from sandbox.azure.resources.collection_endpoint import DataCollectionEndpoint
from sandbox.azure.resources.collection_rule import DataCollectionRule
from sandbox.azure.resources.deployment import Deployment
from sandbox.azure.resources.diagnostics import DiagnosticSetting
from sandbox.azure.resources.disk_encryption import DiskEncryptionSet
from sandbox.azure.resources.group import ResourceGroup
from sandbox.azure.resources.identity import FederatedIdentityCredential, RoleAssignment, UserAssignedIdentity
from sandbox.azure.resources.maintenance import MaintenanceConfiguration
from sandbox.azure.resources.monitor_account import AzureMonitorWorkspace
from sandbox.azure.resources.nat_gateway import NatGateway
from sandbox.azure.resources.network import Subnet, VirtualNetwork
from sandbox.azure.resources.pool import AgentPool
from sandbox.azure.resources.public_address import PublicIPAddress
from sandbox.azure.resources.registry import Registry
from sandbox.azure.resources.resource_type import Kind
from sandbox.azure.resources.route_table import RouteTable
from sandbox.azure.resources.vault import Vault
from sandbox.azure.resources.workspace import Workspace
from sandbox.cloud.provider import Refused

_KINDS: tuple[Kind, ...] = (
    ResourceGroup(),
    VirtualNetwork(),
    Subnet(),
    NatGateway(),
    PublicIPAddress(),
    RouteTable(),
    UserAssignedIdentity(),
    FederatedIdentityCredential(),
    RoleAssignment(),
    ManagedCluster(),
    AgentPool(),
    MaintenanceConfiguration(),
    Deployment(),
    Workspace(),
    AzureMonitorWorkspace(),
    DataCollectionEndpoint(),
    DataCollectionRule(),
    DataCollectionRuleAssociation(),
    DiagnosticSetting(),
    Registry(),
    Vault(),
    DiskEncryptionSet(),
)

KINDS = {kind.token: kind for kind in _KINDS}


def kind_of(token: str) -> Kind:
    """Raises `Refused` for a type that is not emulated."""
    if token not in KINDS:
        raise Refused(f"the sandbox does not emulate {token}; it knows {', '.join(sorted(KINDS))}")
    return KINDS[token]


def kind_of_id(id: str) -> Kind | None:
    """The type an ARM id is of; None when no emulated type has such ids."""
    return next((kind for kind in _KINDS if kind.matches(id) is not None), None)
