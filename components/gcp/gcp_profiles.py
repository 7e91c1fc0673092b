"""The parts of a Cluster: pure translations of the stack file to GKE's properties.

A setting that can be switched off is always sent, or as long as the live cluster has it: the
provider keeps the old value of an omitted setting (Optional and Computed in its schema), and its
preview shows nothing (docs/adr/0016).
"""

from __future__ import annotations

from pulumi_gcp import container

from components import references
from components.gcp.gcp_live import EVERYBODY, LiveCluster
from config.clouds.gcp.gcp_autoscaler import GcpAutoscaler
from config.clouds.gcp.gcp_settings import (
    Gcp,
    GcpAccess,
    GcpEncryption,
    GcpLogging,
    GcpMonitoring,
    GcpNetwork,
)


def node_locations(cloud: Gcp) -> list[str] | None:
    """Return the zones of pools that name none; in a zonal cluster the zones beside its own
    (pulumi-gcp, `node_locations`).
    """
    return sorted(zone for zone in cloud.zones if zone != cloud.place) or None


def privacy(network: GcpNetwork, access: GcpAccess) -> container.ClusterPrivateClusterConfigArgs:
    """Return private nodes, and a private address of the API server (page network-isolation)."""
    return container.ClusterPrivateClusterConfigArgs(
        enable_private_nodes=network.private_nodes,
        enable_private_endpoint=access.ip_endpoint == "private",
        master_ipv4_cidr_block=network.control_plane_cidr or None,
    )


def endpoints(access: GcpAccess) -> container.ClusterControlPlaneEndpointsConfigArgs:
    """Return the endpoints of the API server (same page)."""
    return container.ClusterControlPlaneEndpointsConfigArgs(
        dns_endpoint_config=container.ClusterControlPlaneEndpointsConfigDnsEndpointConfigArgs(
            allow_external_traffic=access.dns_endpoint
        ),
        ip_endpoints_config=container.ClusterControlPlaneEndpointsConfigIpEndpointsConfigArgs(
            enabled=access.ip_endpoint != "none"
        ),
    )


def authorized_networks(
    access: GcpAccess, live: LiveCluster
) -> container.ClusterMasterAuthorizedNetworksConfigArgs | None:
    """Return the networks that may reach the address; None for all.

    A private address serves its own network and the listed ones. A public address is opened by
    listing the range of all addresses: the provider cannot switch the list off
    (resource_container_cluster.go, expandMasterAuthorizedNetworksConfig).
    """
    ranges = access.authorized_ranges
    if access.ip_endpoint == "public" and not ranges and live.closed:
        ranges = (EVERYBODY,)
    if access.ip_endpoint == "none" or (access.ip_endpoint == "public" and not ranges):
        return None
    return container.ClusterMasterAuthorizedNetworksConfigArgs(
        cidr_blocks=[
            container.ClusterMasterAuthorizedNetworksConfigCidrBlockArgs(cidr_block=range)
            for range in ranges
        ],
        # Otherwise every public address of Google Cloud passes (page authorized-networks; CIS GKE,
        # 5.6.3).
        gcp_public_cidrs_access_enabled=False,
    )


def dataplane(network: GcpNetwork) -> str:
    """Return the dataplane (docs.cloud.google.com/kubernetes-engine/docs/concepts/dataplane-v2)."""
    return "ADVANCED_DATAPATH" if network.dataplane == "v2" else "LEGACY_DATAPATH"


def autoscaler(
    spec: GcpAutoscaler, release: GcpAutoscaler
) -> container.ClusterClusterAutoscalingArgs:
    """Return the profile: the stack's, else the release's.

    `enabled` stays off: it lets GKE add pools of its own (page node-auto-provisioning).
    """
    profile = spec.profile or release.profile
    assert profile  # a release pins it
    return container.ClusterClusterAutoscalingArgs(
        enabled=False, autoscaling_profile=profile.replace("-", "_").upper()
    )


def logging(spec: GcpLogging) -> container.ClusterLoggingConfigArgs:
    """Return the logs that are kept."""
    return container.ClusterLoggingConfigArgs(enable_components=list(spec.components))


def monitoring(spec: GcpMonitoring) -> container.ClusterMonitoringConfigArgs:
    """Return the metrics that are kept."""
    return container.ClusterMonitoringConfigArgs(
        enable_components=list(spec.components),
        managed_prometheus=container.ClusterMonitoringConfigManagedPrometheusArgs(
            enabled=spec.managed_prometheus
        ),
    )


def etcd(spec: GcpEncryption) -> container.ClusterDatabaseEncryptionArgs:
    """Return the key that encrypts Secrets, beside Google's own encryption at rest."""
    if not spec.secrets_key:
        return container.ClusterDatabaseEncryptionArgs(state="DECRYPTED")
    return container.ClusterDatabaseEncryptionArgs(
        state="ENCRYPTED", key_name=references.output(spec.secrets_key)
    )


def everybody(
    access: GcpAccess, live: LiveCluster
) -> container.ClusterRbacBindingConfigArgs | None:
    """Return whether GKE accepts new RoleBindings to everybody (page best-practices/rbac); existing
    ones stay.

    The provider sends false for an omitted one of the two (resource_container_cluster.go,
    expandRBACBindingConfig).
    """
    if access.roles_for_everybody == "allowed" and not live.refuses_everybody:
        return None
    return container.ClusterRbacBindingConfigArgs(
        enable_insecure_binding_system_unauthenticated=access.roles_for_everybody == "allowed",
        enable_insecure_binding_system_authenticated=access.roles_for_everybody != "refused",
    )


def groups(
    access: GcpAccess, live: LiveCluster
) -> container.ClusterAuthenticatorGroupsConfigArgs | None:
    """Return the Google Groups in RoleBindings (page google-groups-rbac).

    An empty name switches them off (terraform-provider-google,
    TestAccContainerCluster_withAuthenticatorGroupsConfig).
    """
    if access.security_group or live.security_group:
        return container.ClusterAuthenticatorGroupsConfigArgs(
            security_group=access.security_group or ""
        )
    return None
