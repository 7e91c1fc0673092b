"""The parts of a Cluster, one translation each: from the stack file's words to GKE's own. Pure.

A setting that can be switched off again is sent either way, or as long as the live cluster has it: the provider keeps the old
value of a setting that is left out (Optional and Computed in its schema), and its preview shows nothing (docs/adr/0029).
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
    """Zones of pools that name none; in a zonal cluster the zones beside its own (pulumi-gcp, `node_locations`)."""
    return sorted(zone for zone in cloud.zones if zone != cloud.place) or None


def privacy(network: GcpNetwork, access: GcpAccess) -> dict[str, Any]:
    """Private nodes, and a private address of the API server (page network-isolation)."""
    profile: dict[str, Any] = {
        "enablePrivateNodes": network.private_nodes,
        "enablePrivateEndpoint": access.ip_endpoint == "private",
    }
    return profile | ({"masterIpv4CidrBlock": network.control_plane_cidr} if network.control_plane_cidr else {})


def endpoints(access: GcpAccess) -> dict[str, Any]:
    """Endpoints of the API server (same page)."""
    return {
        "dnsEndpointConfig": {"allowExternalTraffic": access.dns_endpoint},
        "ipEndpointsConfig": {"enabled": access.ip_endpoint != "none"},
    }


def authorized_networks(access: GcpAccess, live: LiveCluster) -> dict[str, Any] | None:
    """Networks that may reach the address; None for all. A private address is for its own network and the listed ones.

    To open an address, the range of all addresses is listed: the provider switches the list off in no other way
    (resource_container_cluster.go, expandMasterAuthorizedNetworksConfig).
    """
    ranges = access.authorized_ranges
    if access.ip_endpoint == "public" and not ranges and live.closed:
        ranges = (EVERYBODY,)
    if access.ip_endpoint == "none" or (access.ip_endpoint == "public" and not ranges):
        return None
    return {
        "cidrBlocks": [{"cidrBlock": range} for range in ranges],
        # Otherwise every machine in Google Cloud with a public address gets past the list (page authorized-networks;
        # CIS GKE, 5.6.3).
        "gcpPublicCidrsAccessEnabled": False,
    }


def dataplane(network: GcpNetwork) -> str:
    """https://docs.cloud.google.com/kubernetes-engine/docs/concepts/dataplane-v2"""
    return "ADVANCED_DATAPATH" if network.dataplane == "v2" else "LEGACY_DATAPATH"


def autoscaler(spec: GcpAutoscaler, release: GcpAutoscaler) -> dict[str, Any]:
    """The profile: the stack's, else the release's.

    `enabled` stays off: it lets GKE make pools of its own choice (page node-auto-provisioning).
    """
    profile = spec.profile or release.profile
    assert profile  # a release pins it
    return {"enabled": False, "autoscalingProfile": profile.replace("-", "_").upper()}


def logging(spec: GcpLogging) -> dict[str, Any]:
    """Logs that are kept."""
    return {"enableComponents": list(spec.components)}


def monitoring(spec: GcpMonitoring) -> dict[str, Any]:
    """Metrics that are kept."""
    return {
        "enableComponents": list(spec.components),
        "managedPrometheus": {"enabled": spec.managed_prometheus},
    }


def etcd(spec: GcpEncryption) -> dict[str, Any]:
    """The key that encrypts Secrets, beside Google's own encryption at rest."""
    return {"state": "ENCRYPTED", "keyName": spec.secrets_key} if spec.secrets_key else {"state": "DECRYPTED"}


def maintenance(spec: GcpMaintenance | None) -> dict[str, Any] | None:
    """The window in which GKE may upgrade; None: at any time."""
    return {"dailyMaintenanceWindow": {"startTime": spec.start_time}} if spec else None


def everybody(access: GcpAccess, live: LiveCluster) -> dict[str, bool] | None:
    """RoleBindings to everybody (page best-practices/rbac). GKE refuses new ones; those that exist stay.

    The provider sends false for the one of the two that is left out (resource_container_cluster.go, expandRBACBindingConfig).
    """
    if access.roles_for_everybody == "allowed" and not live.refuses_everybody:
        return None
    return {
        "enableInsecureBindingSystemUnauthenticated": access.roles_for_everybody == "allowed",
        "enableInsecureBindingSystemAuthenticated": access.roles_for_everybody != "refused",
    }


def groups(access: GcpAccess, live: LiveCluster) -> dict[str, Any] | None:
    """Google Groups in RoleBindings (page google-groups-rbac).

    An empty name switches them off (terraform-provider-google, TestAccContainerCluster_withAuthenticatorGroupsConfig).
    """
    if access.security_group or live.security_group:
        return {"securityGroup": access.security_group or ""}
    return None
