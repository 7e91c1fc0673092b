"""The table of emulated resource types. A type that is not in it is refused."""

from __future__ import annotations

from sandbox.cloud.provider import Refused
from sandbox.gcp.resources.cluster import Cluster
from sandbox.gcp.resources.identity import Account, KeyMember, ProjectMember, RepositoryMember, SubnetworkMember
from sandbox.gcp.resources.network import Network
from sandbox.gcp.resources.pool import NodePool
from sandbox.gcp.resources.resource_type import Kind
from sandbox.gcp.resources.router import Router, RouterNat
from sandbox.gcp.resources.subnetwork import Subnetwork

_KINDS: tuple[Kind, ...] = (
    Network(),
    Subnetwork(),
    Router(),
    RouterNat(),
    Account(),
    ProjectMember(),
    RepositoryMember(),
    KeyMember(),
    SubnetworkMember(),
    Cluster(),
    NodePool(),
)

KINDS = {kind.token: kind for kind in _KINDS}


def kind_of(token: str) -> Kind:
    """Raises `Refused` for a type that is not emulated."""
    if token not in KINDS:
        raise Refused(f"the sandbox does not emulate {token}; it knows {', '.join(sorted(KINDS))}")
    return KINDS[token]
