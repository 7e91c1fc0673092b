"""Rules of AKS on a managed cluster: one function a rule, in the order of the tables at the end.

Each returns the refusal or None. Codes and texts are quoted from the source beside them. A rule that no source confirms says
UNCONFIRMED and is marked `as_read`. Rules that need all of a cluster's pools are in `cluster_pools_rules`.
"""

import re
from typing import Any

from sandbox.azure import azure_catalogue, azure_errors, azure_ids
from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources import access_rules, azure_network_rules, cluster_pools_rules, provisioning_rules
from sandbox.azure.resources.azure_identity import assigned
from sandbox.azure.resources.azure_requests import ClusterRequest, ClusterRule, invalid
from sandbox.cloud import rules

# azure-native replaces a cluster for most of these before it sends a request; the pages private-clusters and
# azure-disk-customer-managed-keys say that the others cannot change. AKS can update outbound type, policy and dataplane.
_IMMUTABLE = (
    *("dnsPrefix", "fqdnSubdomain", "nodeResourceGroup", "diskEncryptionSetID"),
    *("networkProfile.networkPlugin", "networkProfile.podCidr", "networkProfile.serviceCidr"),
    *("networkProfile.dnsServiceIP", "apiServerAccessProfile.enablePrivateCluster"),
    "apiServerAccessProfile.privateDNSZone",
)

# Values of a cluster whose body lacks the property.
_IMPLIED = {"apiServerAccessProfile.enablePrivateCluster": False, "apiServerAccessProfile.privateDNSZone": "system"}

# AKS page aks-naming-rules: 1 to 54 letters, digits and hyphens, no hyphen first or last.
_DNS_PREFIX = r"[a-zA-Z0-9]([a-zA-Z0-9-]{0,52}[a-zA-Z0-9])?"


def location(request: ClusterRequest) -> AzureRefused | None:
    # ARM's documented code (page common-deployment-errors); the text as in tests of Azure/azure-sdk-for-net.
    if not request.body.get("location"):
        return azure_errors.location_required()
    return azure_catalogue.region_refusal(request.body["location"], azure_ids.arm_type(request.id))


@rules.as_read
def pools_named_once(request: ClusterRequest) -> AzureRefused | None:
    names = [profile["name"] for profile in request.wanted.get("agentPoolProfiles", [])]
    if len(set(names)) == len(names):
        return None
    # Text UNCONFIRMED.
    return aks("InvalidParameter", "Agent pool names must be unique.", "agentPoolProfiles")


def new_inline_pool(request: ClusterRequest) -> AzureRefused | None:
    # azure-native #579, tyger #121
    if request.current is None:
        return None
    for profile in request.wanted.get("agentPoolProfiles", []):
        if request.resources.get(f"{request.id}/agentPools/{profile['name']}") is None:
            text = (
                "A new agent pool was introduced. Adding agent pools to an existing cluster is not allowed through managed "
                "cluster operations. For agent pool specific change, please use per agent pool operations: "
                "https://aka.ms/agent-pool-rest-api"
            )
            return aks("BadRequest", text, "agentPoolProfiles")
    return None


@rules.as_read
def identity(request: ClusterRequest) -> AzureRefused | None:
    # A cluster needs an identity or a service principal; texts UNCONFIRMED, also that of the 404 of an identity.
    if "identity" not in request.body and "servicePrincipalProfile" not in request.body:
        text = "Required parameter servicePrincipalProfile is missing (null)."
        return aks("InvalidParameter", text, "servicePrincipalProfile")
    sent = request.wanted.get("identity", {})
    identity_ids = sent.get("userAssignedIdentities", [])
    if sent and (sent.get("type") == "UserAssigned") != bool(identity_ids):
        text = "userAssignedIdentities must be given if, and only if, the identity type is UserAssigned."
        return aks("InvalidParameter", text, "identity")
    for id in identity_ids:
        if assigned(request.resources, id) is None:
            return azure_errors.resource_not_found(id)
    return None


@rules.as_read
def dns_name(request: ClusterRequest) -> AzureRefused | None:
    # The service needs exactly one of the two; text UNCONFIRMED.
    if bool(request.body.get("dnsPrefix")) != bool(request.body.get("fqdnSubdomain")):
        return None
    return aks("InvalidParameter", "Exactly one of dnsPrefix and fqdnSubdomain is required.", "properties.dnsPrefix")


@rules.as_read
def dns_prefix(request: ClusterRequest) -> AzureRefused | None:
    # Text as for a pool's name (Azure/AKS #3300), for a DNS prefix UNCONFIRMED.
    if re.fullmatch(_DNS_PREFIX, request.body.get("dnsPrefix") or "a"):
        return None
    return invalid("dnsPrefix")


@rules.as_read
def immutable_change(request: ClusterRequest) -> AzureRefused | None:
    # Text as in azure-native #959 for a pool's property; for a cluster's UNCONFIRMED.
    if request.current is None:
        return None
    for path in _IMMUTABLE:
        wanted, current = _at(request.wanted, path), _at(request.current, path)
        if wanted is not None and wanted != (_IMPLIED.get(path) if current is None else current):
            target = f"properties.{path}"
            return aks("PropertyChangeNotAllowed", f"Changing property '{target}' is not allowed.", target)
    return None


def _at(body: Any, path: str) -> Any:
    for name in path.split("."):
        body = (body or {}).get(name)
    return body


def moved(request: ClusterRequest) -> AzureRefused | None:
    # ARM's documented code (page common-deployment-errors); the text as in the Azure page on private endpoints' networking.
    current: str = (request.current or request.body)["location"]
    wanted: str = request.body["location"]
    return None if current == wanted else azure_errors.location_taken(request.id, current, wanted)


@rules.as_read
def support_plan(request: ClusterRequest) -> AzureRefused | None:
    # AKS page long-term-support; code and text UNCONFIRMED.
    if request.body.get("supportPlan") != "AKSLongTermSupport" or request.part("sku").get("tier") == "Premium":
        return None
    return aks("BadRequest", "Support plan AKSLongTermSupport needs the Premium tier.", "properties.supportPlan")


@rules.as_read
def issuer_stays(request: ClusterRequest) -> AzureRefused | None:
    # AKS page use-oidc-issuer; code: list.
    before, after = (
        (body or {}).get("oidcIssuerProfile", {}).get("enabled") for body in (request.current, request.body)
    )
    if not before or after:
        return None
    return aks(
        "OIDCIssuerCannotBeDisabled", "The OIDC issuer cannot be disabled.", "properties.oidcIssuerProfile.enabled"
    )


@rules.as_read
def workload_identity(request: ClusterRequest) -> AzureRefused | None:
    # AKS page workload-identity-deploy-cluster: workload identity needs the OIDC issuer. Code and text UNCONFIRMED.
    enabled = request.part("securityProfile").get("workloadIdentity", {}).get("enabled")
    if not enabled or request.part("oidcIssuerProfile").get("enabled"):
        return None
    return aks("BadRequest", "Workload identity needs the OIDC issuer.", "properties.securityProfile.workloadIdentity")


# AKS page cluster-autoscaler (2026-07-30). `skip-nodes-with-local-storage` is false in several GETs that users pasted; the REST
# text says true. No GET shows the three daemonset booleans.
AUTOSCALER_DEFAULTS = {
    "balanceSimilarNodeGroups": "false",
    "expander": "random",
    "maxEmptyBulkDelete": "10",
    "maxGracefulTerminationSec": "600",
    "maxNodeProvisionTime": "15m",
    "maxTotalUnreadyPercentage": "45",
    "newPodScaleUpDelay": "0s",
    "okTotalUnreadyCount": "3",
    "scaleDownDelayAfterAdd": "10m",
    "scaleDownDelayAfterDelete": "10s",
    "scaleDownDelayAfterFailure": "3m",
    "scaleDownUnneededTime": "10m",
    "scaleDownUnreadyTime": "20m",
    "scaleDownUtilizationThreshold": "0.5",
    "scanInterval": "10s",
    "skipNodesWithLocalStorage": "false",
    "skipNodesWithSystemPods": "true",
}

_MINUTES = r"[0-9]+m"
_BOOLEAN = r"true|false"
_FORMATS = {
    # azure-sdk-for-go #14311: `1m` is refused. The REST text mentions a bare number: UNCONFIRMED.
    "scanInterval": r"[1-9][0-9]*s",
    # azure-docs #121999 and #123289: `0m` is accepted, `0s` and `30s` are refused.
    "maxNodeProvisionTime": _MINUTES,
    "scaleDownDelayAfterAdd": _MINUTES,
    "scaleDownDelayAfterFailure": _MINUTES,
    "scaleDownUnneededTime": _MINUTES,
    "scaleDownUnreadyTime": _MINUTES,
    # The REST text asks for minutes; AKS itself shows seconds, and terraform-provider-azurerm #23339 sends seconds.
    "scaleDownDelayAfterDelete": r"[0-9]+[sm]",
    "newPodScaleUpDelay": r"[0-9]+[smh]",
    "maxGracefulTerminationSec": r"[0-9]+",
    "maxEmptyBulkDelete": r"[1-9][0-9]*",
    "okTotalUnreadyCount": r"[0-9]+",
    "maxTotalUnreadyPercentage": r"[0-9]{1,2}|100",
    "scaleDownUtilizationThreshold": r"0(\.[0-9]+)?|1(\.0+)?",
    "balanceSimilarNodeGroups": _BOOLEAN,
    "skipNodesWithLocalStorage": _BOOLEAN,
    "skipNodesWithSystemPods": _BOOLEAN,
}
"""Formats of the text fields. The provider itself checks the values of `expander` and the three booleans."""


def profile_formats(request: ClusterRequest) -> AzureRefused | None:
    # azure-sdk-for-go #14311
    for field, value in request.wanted.get("autoScalerProfile", {}).items():
        if field in _FORMATS and not re.fullmatch(_FORMATS[field], value):
            flag = re.sub("[A-Z]", lambda letter: "-" + letter[0].lower(), field)
            text = (
                f"Invalid value specified for the cluster-autoscaler parameter '{flag}'. Please refer to "
                "https://aka.ms/cluster-autoscaler for more details."
            )
            return aks("InvalidParameter", text)
    return None


SENT: tuple[ClusterRule, ...] = (
    *(location, moved, pools_named_once, new_inline_pool, identity, dns_name, dns_prefix, immutable_change),
    *(cluster_pools_rules.version, cluster_pools_rules.version_step, cluster_pools_rules.spot_with_cluster),
    *(cluster_pools_rules.pool_versions, cluster_pools_rules.upgraded_with_channel),
    *(support_plan, issuer_stays, workload_identity, access_rules.local_accounts, access_rules.entra),
    *(access_rules.entra_stays, access_rules.node_login, access_rules.private_ranges),
    *(access_rules.range_formats, access_rules.zone_mode, access_rules.zone_without_name),
    *(access_rules.zone_name, access_rules.zone_identity, access_rules.zone_permission, access_rules.subdomain),
    *(access_rules.api_server_subnet, access_rules.log_workspace, profile_formats),
    *(access_rules.key, access_rules.key_identity, access_rules.vault, access_rules.private_vault),
    *(access_rules.key_permission, access_rules.disks),
)
"""Rules on the body that was sent, before defaults are added."""

RESULT: tuple[ClusterRule, ...] = (
    *(azure_network_rules.overlay_plugin, azure_network_rules.pod_range_plugin),
    *(azure_network_rules.cilium_plugin, azure_network_rules.cilium_policy, azure_network_rules.policy_plugin),
    *(azure_network_rules.balancer, azure_network_rules.kept_ranges, azure_network_rules.service_range_size),
    *(azure_network_rules.dns_address, azure_network_rules.ranges_overlap),
    *provisioning_rules.RESULT,
)
"""Rules on the resulting body: defaults and kept values included."""
