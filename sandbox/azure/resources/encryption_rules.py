"""Rules of AKS on customer-managed keys (pages use-kms-etcd-encryption, azure-disk-customer-managed-keys)."""

import re

from sandbox.azure import azure_errors
from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources import permissions
from sandbox.azure.resources.azure_cluster_request import ClusterRequest
from sandbox.cloud import rules
from sandbox.cloud.state import Body

_KEY = re.compile(r"https://[^/]+/keys/[^/]+/[^/]+")
_TARGET = "securityProfile.azureKeyVaultKms"

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
    return aks("InvalidParameter", f"The key identifier {kms.get('keyId', '')} is invalid.", f"{_TARGET}.keyId")


@rules.as_read
def key_identity(request: ClusterRequest) -> AzureRefused | None:
    # "Doesn't work with system-assigned managed identity"; text UNCONFIRMED.
    if not _kms(request) or request.identities:
        return None
    return aks("BadRequest", "Key management service needs a user-assigned managed identity.", _TARGET)


def vault(request: ClusterRequest) -> AzureRefused | None:
    # telescope PR 1121. The REST text has the opposite case; its text is UNCONFIRMED.
    kms, target = _kms(request), f"{_TARGET}.keyVaultResourceId"
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
    return aks("BadRequest", "A private key vault needs API server VNet integration.", _TARGET)


def key_permission(request: ClusterRequest) -> AzureRefused | None:
    # azure-docs #98954. Private vaults are not checked, and access policies (instead of roles) are unknown here.
    kms = _kms(request)
    if not kms or kms.get("keyVaultNetworkAccess") == "Private":
        return None
    url = kms["keyId"].split("/keys/")[0]
    name = url.removeprefix("https://").split(".")[0].lower()
    vaults = [
        v for v in request.resources.of("azure-native:keyvault:Vault") if v.id.lower().endswith(f"/vaults/{name}")
    ]
    # A vault outside the state is accepted, like any other resource from outside.
    if not vaults or vaults[0].body["properties"].get("enableRbacAuthorization") is False:
        return None
    if permissions.holds(request.resources, request.identities, _KEY_VAULT_CRYPTO_USER, vaults[0].id):
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
