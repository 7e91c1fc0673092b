"""Rules about storage accounts, and about who may use what is in them."""

from typing import Any

from sandbox.azure.resources import azure_identity, roles, storage
from sandbox.cloud.state import Record
from sandbox.tests.rule_walk import ABSENT, Row, Step

from ..conftest import FEDERATED, GROUP, ROLE, Account, ml
from .requests import GROUP as ML
from .requests import GUID, Put, granted

_PLACE = ml(accountName="mlcheckpoints")
_KIND: dict[str, Any] = {"kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
_BLOBS = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs"


def _account(**changes: Any) -> Put:
    return Put(storage.ACCOUNT, {**_PLACE, **_KIND, **changes})


def _kept(days: int) -> Put:
    kept = {"enabled": True, "days": days}
    return Put(storage.BLOB_SERVICE, {**_PLACE, "blobServicesName": "default", "containerDeleteRetentionPolicy": kept})


def _container(access: str) -> Put:
    return Put(storage.CONTAINER, {**_PLACE, "containerName": "checkpoints", "publicAccess": access})


def _policy(*names: str, **filters: Any) -> Put:
    expiry = {"actions": {"baseBlob": {"delete": {"daysAfterModificationGreaterThan": 9}}}}
    definition = {**expiry, "filters": {"blobTypes": ["blockBlob"], **filters}}
    written = [{"name": name, "type": "Lifecycle", "definition": definition} for name in names or ("expire",)]
    return Put(storage.POLICY, {**_PLACE, "managementPolicyName": "default", "policy": {"rules": written}})


def _role(title: str = "blobs", guid: str = GUID, scope: str = ML, action: str = f"{_BLOBS}/read") -> Put:
    allowed = {"permissions": [{"dataActions": [action]}]}
    inputs = {"roleDefinitionId": guid, "roleName": title, "scope": ML, "assignableScopes": [scope], **allowed}
    return Put(roles.DEFINITION, inputs)


def _conditional(text: str, version: str | None = "2.0") -> Put:
    grant = granted(GUID, ML)
    return Put(ROLE, {**grant.inputs, "condition": text, "conditionVersion": version})


def _credentials(first: int, last: int) -> Step:
    def steps(account: Account) -> None:
        for number in range(first, last + 1):
            inputs = ml(resourceName="control", issuer="https://issuer/")
            named = {"federatedIdentityCredentialResourceName": f"sa-{number}", "subject": f"sa:{number}"}
            Put(FEDERATED, {**inputs, **named, "audiences": ["api://AzureADTokenExchange"]})(account)

    return steps


def _deleted(account: Account) -> None:
    account.cloud.delete(f"{ML}/providers/Microsoft.Authorization/roleDefinitions/{GUID}")


def _goes_unused(account: Account) -> None:
    account.cloud.delete(f"{ML}/providers/Microsoft.Authorization/roleAssignments/{GUID}")
    _deleted(account)


_ELSEWHERE = Put(GROUP, {"resourceGroupName": "other"})
_THEIRS = "/subscriptions/22222222-2222-4222-8222-222222222222"


def _of_others(account: Account) -> None:
    """Put the same account into another subscription."""
    id = f"{_THEIRS}/resourceGroups/theirs/providers/Microsoft.Storage/storageAccounts/mlcheckpoints"
    with account.cloud._change() as resources:
        resources.put(Record(storage.ACCOUNT, id, {**_KIND, "location": "westeurope"}))


ROWS = [
    Row("account in another group", storage.name_in_another_group, "page error-storage-account-name")
    .says(
        "StorageAccountInAnotherResourceGroup",
        "The account mlcheckpoints is already in another resource group in this subscription.",
    )
    .given(_ELSEWHERE, _account(resourceGroupName="other"))
    .tries(_account, accountName=(ABSENT, "mlcheckpoints2")),
    Row("account of somebody else", storage.name_taken, "page error-storage-account-name")
    .says("StorageAccountAlreadyTaken", "The storage account named mlcheckpoints is already taken.")
    .given(_of_others)
    .tries(_account, accountName=(ABSENT, "mlcheckpoints2")),
    Row("account to other zones", storage.zones, "page redundancy-migration")
    .assumes("AccountPropertyCannotBeUpdated", "cannot be updated to Standard_ZRS")
    .given(_account())
    .tries(_account, sku={"name": ("Standard_ZRS", "Standard_GRS")}),
    Row("soft delete of years", storage.soft_delete, "page soft-delete-container-overview")
    .assumes("InvalidRequestPropertyValue", "between 1 and 365")
    .given(_account())
    .tries(_kept, (366, 365)),
    Row("public container", storage.public_access, "page anonymous-read-access-prevent")
    .says("PublicAccessNotPermitted", "Public access is not permitted on this storage account.")
    .given(_account())
    .tries(_container, ("Blob", "None")),
    Row("lifecycle rules of one name", storage.rule_names, "page lifecycle-management-policy-structure")
    .assumes("InvalidRequestPropertyValue", "must be unique")
    .given(_account())
    .tries(_policy, "expire", ("expire", "expire-too")),
    Row("lifecycle rule of no container", storage.rule_filters, "page lifecycle-management-policy-structure")
    .assumes("InvalidRequestPropertyValue", "The filters of rule 'expire' are not valid.")
    .given(_account())
    .tries(_policy, prefixMatch=[("/checkpoints", "checkpoints/")]),
    Row("role by a name", roles.guid_form, "as of a role assignment")
    .assumes("InvalidRoleDefinitionId", "must be a GUID")
    .tries(_role, guid=("blobs", ABSENT)),
    Row("role for one resource", roles.assignable, "page role-definitions")
    .assumes("InvalidAssignableScope", "is not valid")
    .tries(
        _role,
        scope=(f"{ML}/providers/Microsoft.Storage/storageAccounts/mlcheckpoints", ML.rpartition("/resourceGroups/")[0]),
    ),
    Row("role for an action that does not exist", roles.actions_exist, "page troubleshooting")
    .says("InvalidActionOrNotAction", "does not match any of the actions supported by the providers.")
    .tries(_role, action=(f"{_BLOBS}/raed", f"{_BLOBS}/*")),
    Row("role with a name that is taken", roles.name_is_new, "Kong/developer.konghq.com, gateway peering")
    .says("RoleDefinitionWithSameNameExists", "A custom role with the same name already exists in this directory.")
    .given(_role(guid="33333333-3333-4333-8333-333333333333"))
    .tries(_role, ("Blobs", "more blobs")),
    Row("role in use", roles.in_use, "page custom-roles")
    .says("RoleDefinitionHasAssignments", "There are existing role assignments referencing role.")
    .given(_role(), granted(GUID, ML))
    .refuses(_deleted)
    .accepts(_goes_unused),
    Row("assignment of no role", azure_identity.unknown_role, "page troubleshooting")
    .says("RoleDefinitionDoesNotExist", "does not exist.")
    .given(_role())
    .tries(granted, ("33333333-3333-4333-8333-333333333333", GUID), ML),
    Row("condition without its version", azure_identity.unreadable, "REST text")
    .assumes("InvalidConditionVersion", "The condition version must be 2.0.")
    .given(_role())
    .refuses(_conditional(f"(!(ActionMatches{{'{_BLOBS}/read'}}))", None))
    .accepts(_conditional(f"(!(ActionMatches{{'{_BLOBS}/read'}}))")),
    Row("condition that ends too early", azure_identity.unreadable, "page conditions-format")
    .assumes("InvalidCondition", "a ) is missing")
    .given(_role())
    .tries(
        _conditional,
        (
            f"(!(ActionMatches{{'{_BLOBS}/read'}})",
            f"(@Resource[{_BLOBS}:path] StringLike 'a/*' OR NOT @Request[{_BLOBS}:prefix] StringEquals 'b')",
        ),
    ),
    Row("credentials beyond the limit", azure_identity.too_many, "page workload-identity-federation-considerations")
    .assumes("TooManyFederatedIdentityCredentials", "A maximum of 20 federated identity credentials")
    .given(_credentials(1, 20))
    .tries(_credentials, (21, 20), (21, 20)),
]
