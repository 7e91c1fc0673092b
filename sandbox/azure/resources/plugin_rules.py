"""Rules of AKS on combinations of network plugin, policy and dataplane."""

from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources.azure_cluster_request import ClusterRequest
from sandbox.cloud import rules

_POLICY = "networkProfile.networkPolicy"


@rules.as_read
def overlay_plugin(request: ClusterRequest) -> AzureRefused | None:
    # AKS page azure-cni-overlay; code and text UNCONFIRMED.
    profile = request.body["networkProfile"]
    if profile.get("networkPluginMode") != "overlay" or profile["networkPlugin"] == "azure":
        return None
    text = f"Network plugin mode overlay needs network plugin azure, not {profile['networkPlugin']}."
    return aks("BadRequest", text, "networkProfile.networkPluginMode")


@rules.as_read
def pod_range_plugin(request: ClusterRequest) -> AzureRefused | None:
    # azure-cli PR 25113: a pod CIDR is for kubenet and overlay; code and text of the service UNCONFIRMED.
    profile = request.body["networkProfile"]
    if (
        profile["networkPlugin"] != "azure"
        or profile.get("networkPluginMode") == "overlay"
        or not profile.get("podCidr")
    ):
        return None
    text = "podCidr cannot be set with network plugin azure unless its mode is overlay."
    return aks("InvalidParameter", text, "networkProfile.podCIDR")


@rules.as_read
def cilium_plugin(request: ClusterRequest) -> AzureRefused | None:
    # AKS page azure-cni-powered-by-cilium; code and text UNCONFIRMED.
    profile = request.body["networkProfile"]
    if profile["networkDataplane"] != "cilium" or profile["networkPlugin"] == "azure":
        return None
    text = f"Cilium dataplane requires network plugin azure, not {profile['networkPlugin']}."
    return aks("BadRequest", text, "networkProfile.networkPlugin")


def cilium_policy(request: ClusterRequest) -> AzureRefused | None:
    # AKS-Construction #535, bicep-registry-modules PR 3361. A missing policy is `none` (REST text), and that is refused too
    # (azure-cli-extensions PR 7011).
    profile = request.body["networkProfile"]
    if profile["networkDataplane"] == "cilium" and profile["networkPolicy"] != "cilium":
        subcode = "CiliumDataplaneRequiresNetworkPolicyCilium"
        return aks("BadRequest", "Cilium dataplane requires network policy cilium.", _POLICY, subcode=subcode)
    if profile["networkPolicy"] == "cilium" and profile["networkDataplane"] != "cilium":
        # REST text of networkPolicy; code and text UNCONFIRMED.
        return aks("BadRequest", "Network policy cilium requires network dataplane cilium.", _POLICY).as_read()
    return None


@rules.as_read
def policy_plugin(request: ClusterRequest) -> AzureRefused | None:
    # AKS pages use-network-policies and use-byo-cni; codes: list.
    profile = request.body["networkProfile"]
    plugin, policy = profile["networkPlugin"], profile["networkPolicy"]
    if plugin == "kubenet" and policy == "azure":
        text = "Network policy azure is not supported for network plugin kubenet."
        return aks("NetworkPolicyAzureNotSupportedForKubenet", text, _POLICY)
    if plugin == "none" and policy != "none":
        text = "Network policy is not supported for network plugin none."
        return aks("NetworkPolicyNotSupportedForNone", text, _POLICY)
    return None
