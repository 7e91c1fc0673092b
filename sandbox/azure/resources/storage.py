"""Storage accounts, their blob service, containers and lifecycle.

Codes and words of accounts' names are those of learn.microsoft.com/azure/azure-resource-manager/troubleshooting, page
error-storage-account-name.
"""

from collections.abc import Callable

from sandbox.azure import azure_errors, azure_ids
from sandbox.azure.azure_errors import AzureRefused, arm
from sandbox.azure.resources.azure_resource_type import AzureType, merged, require_group
from sandbox.cloud import rules
from sandbox.cloud.rules import ResourceRequest
from sandbox.cloud.state import Body, Record, Resources

ACCOUNT = "azure-native:storage:StorageAccount"
BLOB_SERVICE = "azure-native:storage:BlobServiceProperties"
CONTAINER = "azure-native:storage:BlobContainer"
POLICY = "azure-native:storage:ManagementPolicy"

Rule = Callable[[ResourceRequest], AzureRefused | None]

_MOST_DAYS = 365
"""Pages soft-delete-blob-overview and soft-delete-container-overview: 1 to 365."""
_MOST_RULES = 100
"""Page lifecycle-management-policy-structure."""


def name_in_another_group(request: ResourceRequest) -> AzureRefused | None:
    for other in _namesakes(request):
        if other.id.split("/")[2] == request.id.split("/")[2]:
            text = (
                f"The account {azure_ids.last(request.id)} is already in another resource group in this subscription."
            )
            return arm("StorageAccountInAnotherResourceGroup", text, status=409)
    return None


def name_taken(request: ResourceRequest) -> AzureRefused | None:
    """Refuse a name that another account of the cloud has."""
    if _namesakes(request):
        text = f"The storage account named {azure_ids.last(request.id)} is already taken."
        return arm("StorageAccountAlreadyTaken", text, status=409)
    return None


def _namesakes(request: ResourceRequest) -> list[Record]:
    name, own = azure_ids.last(request.id), azure_ids.key(request.id)
    return [
        r for r in request.resources.of_type(ACCOUNT) if azure_ids.last(r.id) == name and azure_ids.key(r.id) != own
    ]


@rules.as_read
def zones(request: ResourceRequest) -> AzureRefused | None:
    # Page redundancy-migration: a conversion is asked for; code and words are UNCONFIRMED
    name = request.body["sku"]["name"]
    if not request.current or ("ZRS" in request.current["sku"]["name"]) == ("ZRS" in name):
        return None
    text = f"The property 'sku.name' cannot be updated to {name}; request a conversion instead."
    return arm("AccountPropertyCannotBeUpdated", text, status=409)


ACCOUNT_RULES: tuple[Rule, ...] = (name_in_another_group, name_taken, zones)


def account(request: ResourceRequest) -> None:
    """Check an account."""
    rules.raise_first(ACCOUNT_RULES, request)


@rules.as_read
def soft_delete(request: ResourceRequest) -> AzureRefused | None:
    # Code and words are UNCONFIRMED
    for name in ("deleteRetentionPolicy", "containerDeleteRetentionPolicy"):
        kept = request.body.get(name, {})
        if kept.get("enabled") and not 1 <= kept.get("days", 0) <= _MOST_DAYS:
            return arm("InvalidRequestPropertyValue", f"The value of '{name}.days' must be between 1 and {_MOST_DAYS}.")
    return None


def public_access(request: ResourceRequest) -> AzureRefused | None:
    # Page anonymous-read-access-prevent has code and words
    owner = _account(request.resources, request.id)
    if request.body["publicAccess"] == "None" or owner.body["allowBlobPublicAccess"]:
        return None
    return arm("PublicAccessNotPermitted", "Public access is not permitted on this storage account.", status=409)


@rules.as_read
def rule_names(request: ResourceRequest) -> AzureRefused | None:
    # Page lifecycle-management-policy-structure; code and words are UNCONFIRMED
    names = [rule["name"] for rule in request.body["policy"]["rules"]]
    if len(names) <= _MOST_RULES and len(set(names)) == len(names):
        return None
    return arm("InvalidRequestPropertyValue", f"The names of the rules must be unique, at most {_MOST_RULES}.")


@rules.as_read
def rule_filters(request: ResourceRequest) -> AzureRefused | None:
    # Same page: blob types are required, and a prefix begins with a container's name; code and words are UNCONFIRMED
    for rule in request.body["policy"]["rules"]:
        filters = rule["definition"].get("filters", {})
        containers = [prefix.partition("/")[0] for prefix in filters.get("prefixMatch", [])]
        if not filters.get("blobTypes") or not all(3 <= len(name) <= 63 for name in containers):
            return arm("InvalidRequestPropertyValue", f"The filters of rule '{rule['name']}' are not valid.")
    return None


BLOB_SERVICE_RULES: tuple[Rule, ...] = (soft_delete,)
CONTAINER_RULES: tuple[Rule, ...] = (public_access,)
POLICY_RULES: tuple[Rule, ...] = (rule_names, rule_filters)


def _account(resources: Resources, id: str) -> Record:
    owner = "/".join(id.split("/")[:9])
    record = resources.get(owner)
    if record is None:
        raise azure_errors.parent_not_found("Microsoft.Storage/storageAccounts", owner)
    return record


class Part(AzureType):
    """A part of an account: there are none without one."""

    def __init__(self, token: str, rules_of: Callable[[], tuple[Rule, ...]]) -> None:
        super().__init__(token)
        self._rules = rules_of

    def put(self, resources: Resources, id: str, wanted: Body, current: Body | None) -> Body:
        require_group(resources, id)
        _account(resources, id)
        request = ResourceRequest(id, wanted, merged(self.service, merged(current or {}, wanted)), current, resources)
        rules.raise_first(self._rules(), request)
        return self.completed(id, request.body)


PARTS = (
    Part(BLOB_SERVICE, lambda: BLOB_SERVICE_RULES),
    Part(CONTAINER, lambda: CONTAINER_RULES),
    Part(POLICY, lambda: POLICY_RULES),
)
