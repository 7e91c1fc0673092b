"""Rules about storage accounts, and about who may use what is in them."""

from __future__ import annotations

from typing import Any

from sandbox.azure.resources import azure_identity, roles, storage
from sandbox.cloud.state import Record

from ..conftest import FEDERATED, GROUP, ROLE, Account
from .grants import GROUP as ML
from .grants import GUID, granted
from .row import Put, Row, Step

_PLACE = {"resourceGroupName": "ml", "accountName": "mlcheckpoints"}
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
            inputs = {"resourceGroupName": "ml", "resourceName": "control", "issuer": "https://issuer/"}
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
    """The same account in another subscription."""
    id = f"{_THEIRS}/resourceGroups/theirs/providers/Microsoft.Storage/storageAccounts/mlcheckpoints"
    with account.cloud._change() as resources:
        resources.put(Record(storage.ACCOUNT, id, {**_KIND, "location": "westeurope"}))


ROWS = [
    Row(
        "account in another group",
        "page error-storage-account-name",
        storage.name_in_another_group,
        "StorageAccountInAnotherResourceGroup",
        "The account mlcheckpoints is already in another resource group in this subscription.",
        given=(_ELSEWHERE, _account(resourceGroupName="other")),
        bad=_account(),
        good=_account(accountName="mlcheckpoints2"),
    ),
    Row(
        "account of somebody else",
        "page error-storage-account-name",
        storage.name_taken,
        "StorageAccountAlreadyTaken",
        "The storage account named mlcheckpoints is already taken.",
        given=(_of_others,),
        bad=_account(),
        good=_account(accountName="mlcheckpoints2"),
    ),
    Row(
        "account to other zones",
        "page redundancy-migration",
        storage.zones,
        "AccountPropertyCannotBeUpdated",
        "cannot be updated to Standard_ZRS",
        confirmed=False,
        given=(_account(),),
        bad=_account(sku={"name": "Standard_ZRS"}),
        good=_account(sku={"name": "Standard_GRS"}),
    ),
    Row(
        "soft delete of years",
        "page soft-delete-container-overview",
        storage.soft_delete,
        "InvalidRequestPropertyValue",
        "between 1 and 365",
        confirmed=False,
        given=(_account(),),
        bad=_kept(366),
        good=_kept(365),
    ),
    Row(
        "public container",
        "page anonymous-read-access-prevent",
        storage.public_access,
        "PublicAccessNotPermitted",
        "Public access is not permitted on this storage account.",
        given=(_account(),),
        bad=_container("Blob"),
        good=_container("None"),
    ),
    Row(
        "lifecycle rules of one name",
        "page lifecycle-management-policy-structure",
        storage.rule_names,
        "InvalidRequestPropertyValue",
        "must be unique",
        confirmed=False,
        given=(_account(),),
        bad=_policy("expire", "expire"),
        good=_policy("expire", "expire-too"),
    ),
    Row(
        "lifecycle rule of no container",
        "page lifecycle-management-policy-structure",
        storage.rule_filters,
        "InvalidRequestPropertyValue",
        "The filters of rule 'expire' are not valid.",
        confirmed=False,
        given=(_account(),),
        bad=_policy(prefixMatch=["/checkpoints"]),
        good=_policy(prefixMatch=["checkpoints/"]),
    ),
    Row(
        "role by a name",
        "as of a role assignment",
        roles.guid_form,
        "InvalidRoleDefinitionId",
        "must be a GUID",
        confirmed=False,
        bad=_role(guid="blobs"),
        good=_role(),
    ),
    Row(
        "role for one resource",
        "page role-definitions",
        roles.assignable,
        "InvalidAssignableScope",
        "is not valid",
        confirmed=False,
        bad=_role(scope=f"{ML}/providers/Microsoft.Storage/storageAccounts/mlcheckpoints"),
        good=_role(scope=ML.rpartition("/resourceGroups/")[0]),
    ),
    Row(
        "role for an action that does not exist",
        "page troubleshooting",
        roles.actions_exist,
        "InvalidActionOrNotAction",
        "does not match any of the actions supported by the providers.",
        bad=_role(action=f"{_BLOBS}/raed"),
        good=_role(action=f"{_BLOBS}/*"),
    ),
    Row(
        "role with a name that is taken",
        "Kong/developer.konghq.com, gateway peering",
        roles.name_is_new,
        "RoleDefinitionWithSameNameExists",
        "A custom role with the same name already exists in this directory.",
        given=(_role(guid="33333333-3333-4333-8333-333333333333"),),
        bad=_role("Blobs"),
        good=_role("more blobs"),
    ),
    Row(
        "role in use",
        "page custom-roles",
        roles.in_use,
        "RoleDefinitionHasAssignments",
        "There are existing role assignments referencing role.",
        given=(_role(), granted(GUID, ML)),
        bad=_deleted,
        good=_goes_unused,
    ),
    Row(
        "assignment of no role",
        "page troubleshooting",
        azure_identity.unknown_role,
        "RoleDefinitionDoesNotExist",
        "does not exist.",
        given=(_role(),),
        bad=granted("33333333-3333-4333-8333-333333333333", ML),
        good=granted(GUID, ML),
    ),
    Row(
        "condition without its version",
        "REST text",
        azure_identity.unreadable,
        "InvalidConditionVersion",
        "The condition version must be 2.0.",
        confirmed=False,
        given=(_role(),),
        bad=_conditional(f"(!(ActionMatches{{'{_BLOBS}/read'}}))", None),
        good=_conditional(f"(!(ActionMatches{{'{_BLOBS}/read'}}))"),
    ),
    Row(
        "condition that ends too early",
        "page conditions-format",
        azure_identity.unreadable,
        "InvalidCondition",
        "a ) is missing",
        confirmed=False,
        given=(_role(),),
        bad=_conditional(f"(!(ActionMatches{{'{_BLOBS}/read'}})"),
        good=_conditional(
            f"(@Resource[{_BLOBS}:path] StringLike 'a/*' OR NOT @Request[{_BLOBS}:prefix] StringEquals 'b')"
        ),
    ),
    Row(
        "credentials beyond the limit",
        "page workload-identity-federation-considerations",
        azure_identity.too_many,
        "TooManyFederatedIdentityCredentials",
        "A maximum of 20 federated identity credentials",
        confirmed=False,
        given=(_credentials(1, 20),),
        bad=_credentials(21, 21),
        good=_credentials(20, 20),
    ),
]
