"""The table of emulated resource types. A type that is not in it is refused."""

from __future__ import annotations

from sandbox.azure.resources.cluster import ManagedCluster
from sandbox.azure.resources.group import ResourceGroup
from sandbox.azure.resources.identity import FederatedIdentityCredential, RoleAssignment, UserAssignedIdentity
from sandbox.azure.resources.kind import Kind
from sandbox.azure.resources.network import Subnet, VirtualNetwork
from sandbox.azure.resources.pool import AgentPool
from sandbox.provider import Refused

_KINDS: tuple[Kind, ...] = (
    ResourceGroup(),
    VirtualNetwork(),
    Subnet(),
    UserAssignedIdentity(),
    FederatedIdentityCredential(),
    RoleAssignment(),
    ManagedCluster(),
    AgentPool(),
)

KINDS = {kind.token: kind for kind in _KINDS}


def kind_of(token: str) -> Kind:
    """Raises `Refused` for a type that is not emulated."""
    if token not in KINDS:
        raise Refused(f"the sandbox does not emulate {token}; it knows {', '.join(sorted(KINDS))}")
    return KINDS[token]


def kind_of_id(id: str) -> Kind | None:
    """The type an ARM id is of; None when no emulated type has such ids."""
    # A role assignment's id holds its scope's, so the longest template that fits is the right one.
    found = [kind for kind in _KINDS if kind.matches(id) is not None]
    return max(found, key=lambda kind: kind.token == RoleAssignment.token, default=None)
