"""What AKS refuses about a managed cluster: one function a rule, in the order of the tables at the end.

Each returns the refusal or None. Codes and texts are quoted from the source beside them; where no source gives the text, it
says UNCONFIRMED.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from sandbox.azure import errors, ids, versions
from sandbox.azure.errors import AzureRefused, aks, arm
from sandbox.azure.resources import network, pool_rules
from sandbox.azure.resources.identity import assigned
from sandbox.azure.state import Body, Record, Resources


@dataclass
class ClusterRequest:
    """A PUT of a cluster. `wanted` is what was sent, `body` what would result (defaults added for `check_result`)."""

    id: str
    name: str
    wanted: Body
    current: Body | None
    body: Body
    resources: Resources


Rule = Callable[[ClusterRequest], AzureRefused | None]


def location(request: ClusterRequest) -> AzureRefused | None:
    # ARM's documented code for a missing location.
    if request.body.get("location"):
        return None
    return arm("LocationRequired", "The location property is required for this definition.")


def identity(request: ClusterRequest) -> AzureRefused | None:
    # A cluster needs an identity or a service principal; texts UNCONFIRMED.
    if "identity" not in request.body and "servicePrincipalProfile" not in request.body:
        text = "Required parameter servicePrincipalProfile is missing (null)."
        return aks("InvalidParameter", text, "servicePrincipalProfile")
    sent = request.wanted.get("identity", {})
    wanted = sent.get("userAssignedIdentities", [])
    if sent and (sent.get("type") == "UserAssigned") != bool(wanted):
        text = "userAssignedIdentities must be given if, and only if, the identity type is UserAssigned."
        return aks("InvalidParameter", text, "identity")
    for one in wanted:
        if assigned(request.resources, one) is None:
            return errors.resource_not_found(one)
    return None


def dns_name(request: ClusterRequest) -> AzureRefused | None:
    # UNCONFIRMED text; the service needs exactly one of the two.
    if bool(request.body.get("dnsPrefix")) != bool(request.body.get("fqdnSubdomain")):
        return None
    return aks("InvalidParameter", "Exactly one of dnsPrefix and fqdnSubdomain is required.", "properties.dnsPrefix")


def version(request: ClusterRequest) -> AzureRefused | None:
    wanted = request.body.get("kubernetesVersion", versions.DEFAULT)
    current = (request.current or {}).get("currentKubernetesVersion", "")
    if request.current is not None and wanted == request.current["kubernetesVersion"]:
        return None
    if versions.patch(wanted) is None:
        # azure-native PR 3550; Microsoft-Defender-for-Cloud #923
        if versions.alias(wanted) in versions.PATCHES:
            text = f"Managed cluster {request.name} has invalid version {wanted}."
        else:
            text = (
                f"Managed cluster {request.name} is on version {wanted} which is not supported in this region. "
                "Please use [az aks get-versions] command to get the supported version list in this region."
            )
        return aks("K8sVersionNotSupported", text)
    if current:
        # AKS page upgrade-aks-cluster: one minor at a time and never back; code and text UNCONFIRMED.
        step = versions.minor(wanted) - versions.minor(current)
        if step not in (0, 1):
            text = f"Upgrading Kubernetes version {current} to {wanted} is not allowed."
            return aks("OperationNotAllowed", text, "properties.kubernetesVersion")
    return None


def system_pool(request: ClusterRequest) -> AzureRefused | None:
    # Azure/AKS #1568, #1602. A pool is a system pool only when its mode says so.
    if request.current is not None:
        return None
    profiles = request.wanted.get("agentPoolProfiles", [])
    if any(profile.get("mode") == "System" for profile in profiles):
        return None
    return aks("MustDefineAtLeastOneSystemPool", "Must define at least one system pool.", subcode="2020")


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


def local_accounts(request: ClusterRequest) -> AzureRefused | None:
    # cilium PR 48265 (2026-09); the code is UNCONFIRMED.
    if not request.body.get("disableLocalAccounts") or request.body.get("aadProfile"):
        return None
    text = (
        "Since kubernetes version 1.25, disableLocalAccounts can only be set on Azure AD integration enabled cluster."
    )
    return aks("BadRequest", text)


def authorised_ranges(request: ClusterRequest) -> AzureRefused | None:
    access = request.body.get("apiServerAccessProfile", {})
    if not (access.get("enablePrivateCluster") and access.get("authorizedIPRanges")):
        return None
    return aks("InvalidParameter", "Private cluster cannot be enabled with AuthorizedIPRanges.")  # tfsec #571


def node_provisioning(request: ClusterRequest) -> AzureRefused | None:
    # Azure/AKS #4759 and the AKS page node-auto-provisioning.
    if request.body.get("nodeProvisioningProfile", {}).get("mode") != "Auto":
        return None
    target = "properties.nodeProvisioningProfile.mode"
    prefix = ".properties.nodeProvisioningProfile.mode cannot be Auto"
    if request.body["networkProfile"]["ipFamilies"] != ["IPv4"]:
        text = f"{prefix} unless .properties.networkProfile.ipFamilies is set to one of [IPv4]."
        return aks("OperationNotAllowed", text, target)
    if "identity" not in request.body:
        return aks("OperationNotAllowed", f"{prefix} if .properties.servicePrincipalProfile is specified.", target)
    return None


def _networks(request: ClusterRequest) -> Iterator[Record]:
    """The networks the cluster's pools are in."""
    profiles = request.wanted.get("agentPoolProfiles", [])
    subnets = {p.get(field) for p in profiles for field in ("vnetSubnetID", "podSubnetID")} - {None}
    found = {ids.key(ids.parent(subnet)): request.resources.get(ids.parent(subnet)) for subnet in subnets}
    yield from (record for record in found.values() if record is not None)


def service_range(request: ClusterRequest) -> AzureRefused | None:
    # AKS error page servicecidroverlapexistingsubnetscidr
    for text in request.body["networkProfile"]["serviceCidrs"]:
        service = network.cidr(text, "networkProfile.serviceCIDR")
        for vnet in _networks(request):
            for subnet in request.resources.of(network.Subnet.token, below=vnet.id):
                for taken in network.prefixes(subnet.body):
                    if network.overlap(service, network.cidr(taken, subnet.id)):
                        message = (
                            f"The specified service CIDR {text} is conflicted with an existing subnet CIDR {taken}"
                        )
                        target = "networkProfile.serviceCIDR"
                        return aks("ServiceCidrOverlapExistingSubnetsCidr", message, target)
    return None


def pod_range(request: ClusterRequest) -> AzureRefused | None:
    # AKS-Construction #403
    for text in request.body["networkProfile"].get("podCidrs", []):
        pods = network.cidr(text, "networkProfile.podCIDR")
        for vnet in _networks(request):
            for taken in network.space(vnet.body):
                if network.overlap(pods, network.cidr(taken, vnet.id)):
                    message = f"NetworkProfile CIDR {text} overlaps with reserved VNET CIDR {taken}"
                    return aks("NetworkProfileCIDROverlapVNET", message, "networkProfile.podCIDR")
        for service_text in request.body["networkProfile"]["serviceCidrs"]:
            if network.overlap(pods, network.cidr(service_text, "networkProfile.serviceCIDR")):
                # Documented as not allowed; code and text UNCONFIRMED.
                message = f"The specified pod CIDR {text} is conflicted with service CIDR {service_text}"
                return aks("InvalidParameter", message, "networkProfile.podCIDR")
    return None


def api_server_subnet(request: ClusterRequest) -> AzureRefused | None:
    subnet = request.body.get("apiServerAccessProfile", {}).get("subnetId")
    if subnet and request.resources.get(subnet) is None:
        return errors.resource_not_found(subnet)
    return None


_SENT: tuple[Rule, ...] = (
    location,
    system_pool,
    pools_named_once,
    new_inline_pool,
    identity,
    dns_name,
    version,
    local_accounts,
    authorised_ranges,
)
"""Rules about what was sent: before defaults are added."""

_RESULT: tuple[Rule, ...] = (api_server_subnet, service_range, pod_range, node_provisioning)
"""Rules about what would result: defaults and kept values included."""


def check_sent(request: ClusterRequest) -> None:
    _check(_SENT, request)


def check_result(request: ClusterRequest) -> None:
    _check(_RESULT, request)


def _check(rules: Iterable[Rule], request: ClusterRequest) -> None:
    for rule in rules:
        refused = rule(request)
        if refused is not None:
            raise refused


def check_pools(request: ClusterRequest, pools: list[Record]) -> None:
    """Rules that need every pool of the cluster, standalone ones too."""
    if not any(pool.body.get("mode") == "System" for pool in pools):
        raise aks("MustDefineAtLeastOneSystemPool", "Must define at least one system pool.", subcode="2020")
    automatic = request.body.get("nodeProvisioningProfile", {}).get("mode") == "Auto"
    for pool in pools:
        if automatic and pool.body["enableAutoScaling"]:
            raise pool_rules.nap_with_autoscaling()
        refused = pool_rules.skew(pool.body["currentOrchestratorVersion"], request.body["currentKubernetesVersion"])
        if refused is not None:
            raise refused
