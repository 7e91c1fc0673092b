"""The parts of a Cluster, one translation each: from the stack file's words to GKE's own. Pure.

What can be switched off again is sent either way, or as long as the live cluster has it: the provider keeps the old value of
what is left out (Optional and Computed in its schema), and its preview shows nothing (docs/adr/0029).
"""

from __future__ import annotations

from typing import Any

from components.gcp.live import EVERYBODY, LiveCluster
from config.clouds.gcp.autoscaler import GcpAutoscaler
from config.clouds.gcp.settings import (
    Gcp,
    GcpAccess,
    GcpEncryption,
    GcpLogging,
    GcpMaintenance,
    GcpMonitoring,
    GcpNetwork,
)


def node_locations(cloud: Gcp) -> list[str] | None:
    """Where pools go that name no zones; of a zonal cluster the zones beside its own (pulumi-gcp, `node_locations`)."""
    return sorted(zone for zone in cloud.zones if zone != cloud.place) or None


def privacy(network: GcpNetwork, access: GcpAccess) -> dict[str, Any]:
    """Whether nodes, and the API server's address, are private (page network-isolation)."""
    profile: dict[str, Any] = {
        "enablePrivateNodes": network.private_nodes,
        "enablePrivateEndpoint": access.ip_endpoint == "private",
    }
    return profile | ({"masterIpv4CidrBlock": network.control_plane_cidr} if network.control_plane_cidr else {})


def endpoints(access: GcpAccess) -> dict[str, Any]:
    """By which ways the API server is reached (page as above)."""
    return {
        "dnsEndpointConfig": {"allowExternalTraffic": access.dns_endpoint},
        "ipEndpointsConfig": {"enabled": access.ip_endpoint != "none"},
    }


def authorized_networks(access: GcpAccess, live: LiveCluster) -> dict[str, Any] | None:
    """Who may reach the address; None for everybody. A private one is for the network, and for nobody else unless listed.

    An address that is closed to some is opened by naming everybody: the provider switches the list off in no other way
    (resource_container_cluster.go, expandMasterAuthorizedNetworksConfig).
    """
    if access.ip_endpoint == "none":
        return None
    if access.ip_endpoint == "public" and not access.authorized_ranges:
        return {"cidrBlocks": [{"cidrBlock": EVERYBODY}]} if live.closed else None
    return {"cidrBlocks": [{"cidrBlock": one} for one in access.authorized_ranges]}


def dataplane(network: GcpNetwork) -> str:
    """https://docs.cloud.google.com/kubernetes-engine/docs/concepts/dataplane-v2"""
    return "ADVANCED_DATAPATH" if network.dataplane == "v2" else "LEGACY_DATAPATH"


def autoscaler(spec: GcpAutoscaler, release: GcpAutoscaler) -> dict[str, Any]:
    """The profile: the stack's, else the release's.

    Not `enabled`: that would let GKE make pools of its own choice (page node-auto-provisioning).
    """
    profile = spec.profile or release.profile
    assert profile  # a release pins it
    return {"enabled": False, "autoscalingProfile": profile.replace("-", "_").upper()}


def logging(spec: GcpLogging) -> dict[str, Any]:
    """Which logs are kept."""
    return {"enableComponents": list(spec.components)}


def monitoring(spec: GcpMonitoring) -> dict[str, Any]:
    """Which metrics are kept."""
    return {
        "enableComponents": list(spec.components),
        "managedPrometheus": {"enabled": spec.managed_prometheus},
    }


def etcd(spec: GcpEncryption) -> dict[str, Any]:
    """Whose key encrypts Secrets; Google's is there in any case."""
    return {"state": "ENCRYPTED", "keyName": spec.secrets_key} if spec.secrets_key else {"state": "DECRYPTED"}


def maintenance(spec: GcpMaintenance | None) -> dict[str, Any] | None:
    """When GKE may upgrade; None: whenever it likes."""
    return {"dailyMaintenanceWindow": {"startTime": spec.start_time}} if spec else None


def groups(access: GcpAccess, live: LiveCluster) -> dict[str, Any] | None:
    """Google Groups in RoleBindings (page google-groups-rbac).

    An empty name switches them off (terraform-provider-google, TestAccContainerCluster_withAuthenticatorGroupsConfig).
    """
    if access.security_group or live.security_group:
        return {"securityGroup": access.security_group or ""}
    return None
