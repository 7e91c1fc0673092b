"""Rules of AKS on access to the API server, on customer-managed keys, and on the Container insights add-on.

Accounts, address ranges, private DNS zones; pages use-kms-etcd-encryption, azure-disk-customer-managed-keys, monitor-aks (codes:
list).
"""

import base64
import ipaddress
import re
import struct

from sandbox.azure import azure_errors, azure_ids
from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources import azure_identity
from sandbox.azure.resources.azure_requests import ClusterRequest, invalid
from sandbox.cloud import rules
from sandbox.cloud.state import Body

_MOST_RANGES = 200
_ZONE_ID = "/providers/microsoft.network/privatednszones/"
_ZONE_TARGET = "properties.apiServerAccessProfile.privateDNSZone"

# https://learn.microsoft.com/azure/role-based-access-control/built-in-roles/networking
_PRIVATE_DNS_ZONE_CONTRIBUTOR = "b12aa53e-6015-4669-85d0-8515ebb3ae7f"


@rules.as_read
def local_accounts(request: ClusterRequest) -> AzureRefused | None:
    # cilium PR 48265 (2026-09); the code is UNCONFIRMED.
    if not request.body.get("disableLocalAccounts") or request.part("aadProfile").get("managed"):
        return None
    text = (
        "Since kubernetes version 1.25, disableLocalAccounts can only be set on Azure AD integration enabled cluster."
    )
    return aks("BadRequest", text)


@rules.as_read
def entra_stays(request: ClusterRequest) -> AzureRefused | None:
    # AKS page enable-authentication: Entra integration cannot be switched off again. Text UNCONFIRMED.
    before, after = ((body or {}).get("aadProfile", {}).get("managed") for body in (request.current, request.body))
    if not before or after:
        return None
    return aks(
        "PropertyChangeNotAllowed", "Changing property 'aadProfile.managed' is not allowed.", "aadProfile.managed"
    )


@rules.as_read
def entra(request: ClusterRequest) -> AzureRefused | None:
    # REST text of enableAzureRBAC, and the page on the retired integration (aka.ms/aks/aad-legacy). UNCONFIRMED: all texts, and
    # the codes except InvalidAdminGroupObjectID (code: list).
    profile = request.part("aadProfile")
    if any(profile.get(name) for name in ("clientAppID", "serverAppID", "serverAppSecret")):
        return aks("BadRequest", "The legacy Azure AD integration is retired. Please use managed AAD.", "aadProfile")
    if profile.get("enableAzureRBAC") and not profile.get("managed"):
        return aks("BadRequest", "Azure RBAC needs managed AAD.", "aadProfile.enableAzureRBAC")
    for group in profile.get("adminGroupObjectIDs", []):
        if not azure_ids.GUID.fullmatch(group):
            text = f"Admin group object ID {group} is not a GUID."
            return aks("InvalidAdminGroupObjectID", text, "aadProfile.adminGroupObjectIDs")
    return None


def private_ranges(request: ClusterRequest) -> AzureRefused | None:
    access = request.part("apiServerAccessProfile")
    if not (access.get("enablePrivateCluster") and access.get("authorizedIPRanges")):
        return None
    return aks("InvalidParameter", "Private cluster cannot be enabled with AuthorizedIPRanges.")  # tfsec #571


def node_login(request: ClusterRequest) -> AzureRefused | None:
    # MicrosoftDocs/azure-docs #74569: a key of a few letters. That AKS also reads the lengths inside is how OpenSSH's format is
    # read by any program (RFC 4253, 6.6): a key that is cut has none.
    for key in request.part("linuxProfile").get("ssh", {}).get("publicKeys", []):
        if not _is_public_key(key.get("keyData", "")):
            return invalid("linuxProfile.ssh.publicKeys.keyData")
    return None


def _is_public_key(line: str) -> bool:
    try:
        kind, blob = line.split()[0], base64.b64decode(line.split()[1], validate=True)
        (length,) = struct.unpack_from(">I", blob)
        named, at = blob[4 : 4 + length], 4 + length
        while at < len(blob):
            at += 4 + int(struct.unpack_from(">I", blob, at)[0])
    except (IndexError, ValueError, struct.error):
        return False
    return named == kind.encode() and at == len(blob) and at > 4 + length


@rules.as_read
def range_formats(request: ClusterRequest) -> AzureRefused | None:
    # REST text ("CIDR format") and AKS page api-server-authorized-ip-ranges (at most 200). Texts UNCONFIRMED.
    ranges = request.part("apiServerAccessProfile").get("authorizedIPRanges", [])
    target = "properties.apiServerAccessProfile.authorizedIPRanges"
    for text in ranges:
        try:
            ipaddress.IPv4Network(text)
        except ValueError:
            return aks("InvalidParameter", f"Authorized IP range {text} is not in CIDR format.", target)
        if "/" not in text:
            return aks("InvalidParameter", f"Authorized IP range {text} is not in CIDR format.", target)
    if len(ranges) > _MOST_RANGES:
        return aks("InvalidParameter", f"{len(ranges)} authorized IP ranges are more than {_MOST_RANGES}.", target)
    return None


@rules.as_read
def zone_mode(request: ClusterRequest) -> AzureRefused | None:
    # AKS page private-clusters; code: list.
    access = request.part("apiServerAccessProfile")
    zone = access.get("privateDNSZone")
    if zone is None:
        return None
    if access.get("enablePrivateCluster") and (zone in ("system", "none") or _ZONE_ID in zone.lower()):
        return None
    text = f"Private DNS zone {zone} is neither system, none nor a zone's id, or the cluster is not private."
    return aks("InvalidPrivateDNSZoneMode", text, _ZONE_TARGET)


@rules.as_read
def zone_without_name(request: ClusterRequest) -> AzureRefused | None:
    # AKS page private-clusters: without a zone the public name is the only name. Code: list.
    access = request.part("apiServerAccessProfile")
    if access.get("privateDNSZone") != "none" or access.get("enablePrivateClusterPublicFQDN", True):
        return None
    text = "The public FQDN cannot be disabled when the private DNS zone is none."
    return aks("NonePrivateDNSZonePublicFQDNDisabledError", text, _ZONE_TARGET)


@rules.as_read
def zone_name(request: ClusterRequest) -> AzureRefused | None:
    # AKS page private-clusters; code: list.
    zone = request.part("apiServerAccessProfile").get("privateDNSZone", "")
    region = re.escape(request.body["location"])
    pattern = rf"([a-z0-9-]{{1,32}}\.)?private(link)?\.{region}\.azmk8s\.io"
    if not zone.startswith("/") or re.fullmatch(pattern, azure_ids.last(zone), re.IGNORECASE):
        return None
    text = f"The private DNS zone {azure_ids.last(zone)} should be privatelink.{region}.azmk8s.io or a subzone of it."
    return aks("InvalidPrivateDNSZoneResourceID", text, _ZONE_TARGET)


@rules.as_read
def zone_identity(request: ClusterRequest) -> AzureRefused | None:
    # AKS page private-clusters; code: list.
    zone = request.part("apiServerAccessProfile").get("privateDNSZone", "")
    if not zone.startswith("/") or request.identities or "identity" not in request.body:
        return None
    text = "A custom private DNS zone needs a user-assigned identity."
    return aks("SystemAssignedIdentityNotSupportedForCustomPrivateDNSZone", text, _ZONE_TARGET)


def zone_permission(request: ClusterRequest) -> AzureRefused | None:
    # AKS error page customprivatednszonemissingpermissions
    zone = request.part("apiServerAccessProfile").get("privateDNSZone", "")
    if not zone.startswith("/") or azure_identity.has_role(
        request.resources, request.identities, _PRIVATE_DNS_ZONE_CONTRIBUTOR, zone
    ):
        return None
    text = (
        "Service principal or user-assigned identity must be given permission to read and write to custom private dns zone "
        f"{zone}. Check access result not allowed for action Microsoft.Network/privateDnsZones/read."
    )
    return aks("CustomPrivateDNSZoneMissingPermissionError", text)


@rules.as_read
def subdomain(request: ClusterRequest) -> AzureRefused | None:
    # AKS page private-clusters: a subdomain needs a custom zone. Text UNCONFIRMED.
    zone = request.part("apiServerAccessProfile").get("privateDNSZone", "")
    if not request.body.get("fqdnSubdomain") or zone.startswith("/"):
        return None
    return aks("InvalidParameter", "fqdnSubdomain needs a custom private DNS zone.", "properties.fqdnSubdomain")


@rules.as_read
def api_server_subnet(request: ClusterRequest) -> AzureRefused | None:
    # ARM's 404; whether AKS reports a missing subnet in these words is UNCONFIRMED.
    subnet = request.part("apiServerAccessProfile").get("subnetId")
    if subnet and request.resources.get(subnet) is None:
        return azure_errors.resource_not_found(subnet)
    return None


_KEY = re.compile(r"https://[^/]+/keys/[^/]+/[^/]+")
_KMS = "securityProfile.azureKeyVaultKms"

# https://learn.microsoft.com/azure/role-based-access-control/built-in-roles/security
_KEY_VAULT_CRYPTO_USER = "12338af0-0e69-4776-bea7-57ae8d297424"


def _kms(request: ClusterRequest) -> Body:
    kms: Body = request.part("securityProfile").get("azureKeyVaultKms") or {}
    return kms if kms.get("enabled") else {}


@rules.as_read
def key(request: ClusterRequest) -> AzureRefused | None:
    # Page use-kms-etcd-encryption: the identifier contains the version. Text UNCONFIRMED.
    kms = _kms(request)
    if not kms or _KEY.fullmatch(kms.get("keyId", "")):
        return None
    return aks("InvalidParameter", f"The key identifier {kms.get('keyId', '')} is invalid.", f"{_KMS}.keyId")


@rules.as_read
def key_identity(request: ClusterRequest) -> AzureRefused | None:
    # "Doesn't work with system-assigned managed identity"; text UNCONFIRMED.
    if not _kms(request) or request.identities:
        return None
    return aks("BadRequest", "Key management service needs a user-assigned managed identity.", _KMS)


def vault(request: ClusterRequest) -> AzureRefused | None:
    # telescope PR 1121. The REST text has the opposite case; its text is UNCONFIRMED.
    kms, target = _kms(request), f"{_KMS}.keyVaultResourceId"
    private = kms.get("keyVaultNetworkAccess", "Public") == "Private"
    if not kms or private == bool(kms.get("keyVaultResourceId")):
        return None
    if private:
        return aks("BadRequest", "KeyVault resource ID is empty when KeyVault network access is Private.", target)
    return aks(
        "BadRequest", "KeyVault resource ID is not empty when KeyVault network access is Public.", target
    ).as_read()


@rules.as_read
def private_vault(request: ClusterRequest) -> AzureRefused | None:
    # The page: a private vault needs API server VNet integration. Text UNCONFIRMED.
    private = _kms(request).get("keyVaultNetworkAccess") == "Private"
    if not private or request.part("apiServerAccessProfile").get("enableVnetIntegration"):
        return None
    return aks("BadRequest", "A private key vault needs API server VNet integration.", _KMS)


def key_permission(request: ClusterRequest) -> AzureRefused | None:
    # azure-docs #98954. Private vaults are not checked, and access policies (instead of roles) are unknown here.
    kms = _kms(request)
    if not kms or kms.get("keyVaultNetworkAccess") == "Private":
        return None
    url = kms["keyId"].split("/keys/")[0]
    name = url.removeprefix("https://").split(".")[0].lower()
    vaults = [
        v for v in request.resources.of_type("azure-native:keyvault:Vault") if v.id.lower().endswith(f"/vaults/{name}")
    ]
    # A vault outside the state is accepted, like any other resource from outside.
    if not vaults or vaults[0].body["properties"].get("enableRbacAuthorization") is False:
        return None
    if azure_identity.has_role(request.resources, request.identities, _KEY_VAULT_CRYPTO_USER, vaults[0].id):
        return None
    text = f"The identity does not have keys encrypt/decrypt permission on key vault {url}"
    return aks("AzureKeyVaultKmsValidateIdentityPermissionCustomerError", text)


@rules.as_read
def disks(request: ClusterRequest) -> AzureRefused | None:
    # "In the same region as the cluster"; code: list. A missing set is ARM's 404, UNCONFIRMED of AKS.
    set_id = request.body.get("diskEncryptionSetID")
    if not set_id:
        return None
    encryption_set = request.resources.get(set_id)
    if encryption_set is None:
        return azure_errors.resource_not_found(set_id)
    if encryption_set.body["location"] == request.body["location"]:
        return None
    text = f"Disk encryption set {set_id} is not in the cluster's region {request.body['location']}."
    return aks("DiskEncryptionSetError", text, "diskEncryptionSetID")


_WORKSPACE = "logAnalyticsWorkspaceResourceID"


@rules.as_read
def log_workspace(request: ClusterRequest) -> AzureRefused | None:
    addon = request.part("addonProfiles").get("omsagent", {})
    if not addon.get("enabled"):
        return None
    # AKS accepts the keys of the add-on's settings in any letter case.
    config = {key.lower(): value for key, value in addon.get("config", {}).items()}
    workspace = config.get(_WORKSPACE.lower())
    if not workspace:
        return aks("LogAnalyticsWorkspaceNotSet", f"The omsagent add-on needs {_WORKSPACE}.", "addonProfiles.omsagent")
    if request.resources.get(workspace) is None:
        text = f"Log Analytics workspace {workspace} was not found."
        return aks("LogAnalyticsWorkspaceNotFound", text, "addonProfiles.omsagent")
    if config.get("useaadauth", "false").lower() not in ("true", "false"):
        text = f"useAADAuth is {config['useaadauth']}, neither true nor false."
        return aks("OmsagentInvalidAADAuthInput", text, "addonProfiles.omsagent")
    return None
