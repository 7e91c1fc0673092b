"""Operations that Azure refuses for a time: conflicts, request limits, concurrent writes, and what is not known everywhere yet."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from threading import Lock

from sandbox.azure import azure_errors, azure_ids
from sandbox.azure.azure_errors import AzureRefused, aks, arm
from sandbox.azure.resources.azure_identity import IDENTITY, ROLE, role_unknown
from sandbox.azure.resources.azure_requests import CLUSTER, POOL, pools_of
from sandbox.azure.resources.roles import DEFINITION
from sandbox.cloud.state import Body, Resources, States

STATES = States("provisioningState", "Creating", "Updating", "Deleting", "Succeeded", "Failed")


def conflict(resources: Resources, token: str, id: str) -> AzureRefused | None:
    """Return the refusal of a second operation on a cluster or pool; pools of one cluster may be worked on side by side.

    That pools may is how AKS behaves since it has an API for each; that nothing may beside a cluster's own operation is the
    stricter reading of the pages aks-pending-operation.
    """
    cluster = resources.get(id if token == CLUSTER else azure_ids.parent(id))
    if cluster is None:
        return None
    beside = pools_of(resources, cluster.id) if token == CLUSTER else [resources.get(id)]
    for record in (cluster, *beside):
        if record is not None and STATES.running(record):
            # azure-workload-identity #417. azure-native does not try again after this code.
            text = (
                f"Operation is not allowed: Another operation ({azure_ids.last(record.id)} - {STATES.mark_of(record)}) is "
                "in progress, please wait for it to finish before starting a new operation. See "
                "https://aka.ms/aks-pending-operation for more details"
            )
            return aks("OperationNotAllowed", text, status=409)
    return None


def network_conflict(resources: Resources, id: str, body: Body) -> AzureRefused | None:
    """Return the refusal of a new pool while AKS makes another in the same virtual network, whatever the subnets.

    Azure/AKS #4522; terraform-provider-azurerm PR 32682 (2026-06). There it comes after the request was accepted; refused at
    once here.
    """
    network = _network(body)
    for record in resources.of_type(POOL):
        if STATES.mark_of(record) != STATES.creating or azure_ids.key(record.id) == azure_ids.key(id):
            continue
        if network and network == _network(record.body):
            text = (
                "Set virtual network ownership failed. autorest/azure: Service returned an error. Status=400 "
                f'Code="VirtualNetworkNotInSucceededState" Message="Virtual network {network} is in Updating state. It needs to '
                'be in Succeeded state in order to set resource ownership."'
            )
            return aks("SetVNetOwnershipFailed", text)
    return None


def _network(pool: Body) -> str:
    return azure_ids.key(str(pool.get("vnetSubnetID") or "")).partition("/subnets/")[0]


def preempted() -> AzureRefused:
    """Return the end of an operation whose cluster was deleted meanwhile: deleting does not wait."""
    # AKS error page aksoperationpreempted
    return aks("AKSOperationPreemptedByDelete", "This operation has been preempted by Deleting operation.", status=409)


# Request limits of AKS: 20 PUTs of one cluster or pool at once, then one a minute (AKS page quotas-skus-regions).
#
# azure-native waits and asks again up to three times after a 429, so what the engine sees is a request that takes
# longer. The buckets are this process's own: each command of the sandbox starts with full ones, as it would after twenty
# minutes. Kept in a file they would make a script of many commands wait for a limit against a loop inside one command.

_BURST = 20
_SECONDS_A_PUT = 60.0
_RETRIES = 3


@dataclass
class _Bucket:
    tokens: float
    at: float


class Throttle:
    """One bucket for each object. `clock` gives seconds, `wait` lets them pass."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, wait: Callable[[float], None] = time.sleep) -> None:
        self._clock, self._wait = clock, wait
        self._buckets: dict[str, _Bucket] = {}
        self._lock = Lock()

    def admit(self, id: str) -> None:
        """Take a PUT of an object, when its time has come as azure-native waits for it. Raises the last refusal."""
        for left in range(_RETRIES, -1, -1):
            seconds = self._missing(id)
            if not seconds:
                return
            if not left:
                raise throttled(id, seconds)
            self._wait(seconds)

    def _missing(self, id: str) -> int:
        """Return 0 when a PUT is taken, else by how many seconds it is too early."""
        with self._lock:
            now = self._clock()
            bucket = self._buckets.setdefault(azure_ids.key(id), _Bucket(_BURST, now))
            bucket.tokens = min(_BURST, bucket.tokens + (now - bucket.at) / _SECONDS_A_PUT)
            bucket.at = now
            if bucket.tokens < 1:
                return ceil((1 - bucket.tokens) * _SECONDS_A_PUT)
            bucket.tokens -= 1
            return 0


def throttled(id: str, seconds: int) -> AzureRefused:
    # provider-upjet-azure #809 for pools; the same for clusters in AKS' error page throttled-429, which names the
    # subscription in place of the object.
    pool = azure_ids.arm_type(id).endswith("/agentPools")
    handler, what = ("PutAgentPoolHandler", "agentpool") if pool else ("PutManagedClusterHandler", "managedcluster")
    text = (
        f"The {handler}.PUT request limit has been exceeded for {what} {id}, please retry again in {seconds} seconds."
    )
    return aks("Throttled", text, status=429)


# Writes of federated credentials: Azure takes one at a time of an identity.
#
# Azure/bicep-registry-modules issue 1447 has code and words, hashicorp/terraform-provider-azurerm issues 19968 and 29242 that
# deletions count as well.

_PART = "/federatedidentitycredentials/"
_SECONDS_OF_A_WRITE = 0.05
"""A write's length, in which another one meets it."""


class CredentialWrites:
    """Identities whose credentials are being written by this process. `wait` lets seconds pass."""

    def __init__(self, wait: Callable[[float], None] = time.sleep) -> None:
        self._wait = wait
        self._busy: set[str] = set()
        self._lock = Lock()

    @contextmanager
    def around(self, id: str) -> Iterator[None]:
        """Yield the write of the resource with this id, of any type. Raises `Refused` while its identity has another one."""
        if _PART not in azure_ids.key(id):
            yield
            return
        identity = azure_ids.parent(id)
        with self._lock:
            if azure_ids.key(identity) in self._busy:
                text = (
                    f"Too many Federated Identity Credentials are written concurrently for the managed identity '{identity}'. "
                    "Concurrent Federated Identity Credentials writes under the same managed identity are not supported."
                )
                raise arm("ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity", text, status=409)
            self._busy.add(azure_ids.key(identity))
        try:
            self._wait(_SECONDS_OF_A_WRITE)
            yield
        finally:
            with self._lock:
                self._busy.discard(azure_ids.key(identity))


# Replication: what Azure has just made is not known to all of its parts, and the first requests that name it are refused.
#
# - A role assignment of a new role definition: `RoleDefinitionDoesNotExist` (page troubleshooting of role-based-access-control has
#   code and words; hashicorp/terraform-provider-azurerm issue 19916).
# - A federated credential of a new identity: `ParentResourceNotFound` (openshift/cloud-credential-operator pull request 878), or
#   "MS Graph resource not found" (Azure/Azure-Verified-Modules pull request 2673, hashicorp/terraform-provider-azurerm issue
#   32179). The code of the latter is UNCONFIRMED.
#
# azure-native asks again after neither (its client_azcore.go). In Azure it takes seconds to minutes. Here it is a number of
# requests, in the memory of one provider: the next command meets what is known everywhere.

FEDERATED = "azure-native:managedidentity:FederatedIdentityCredential"


def _graph(identity: str) -> AzureRefused:
    return azure_errors.arm(
        "NotFound", "MS Graph resource not found during Federated Identity Credential creation.", status=404
    )


def _parent(identity: str) -> AzureRefused:
    return azure_errors.parent_not_found(
        "userAssignedIdentities/federatedIdentityCredentials", azure_ids.last(identity)
    )


_OF_AN_IDENTITY: tuple[Callable[[str], AzureRefused], ...] = (_parent, _graph)
_OF_A_ROLE: tuple[Callable[[str], AzureRefused], ...] = (role_unknown, role_unknown)


class Propagation:
    """What a provider has made, and the refusals that are still due for each."""

    def __init__(self) -> None:
        self._due: dict[str, list[Callable[[str], AzureRefused]]] = {}
        self._lock = Lock()

    def note_created(self, token: str, id: str) -> None:
        """Note a resource that was just made."""
        refusals: Sequence[Callable[[str], AzureRefused]] = {IDENTITY: _OF_AN_IDENTITY, DEFINITION: _OF_A_ROLE}.get(
            token, ()
        )
        with self._lock:
            self._due[self._key(token, id)] = list(refusals)

    def admit(self, token: str, id: str, wanted: Body) -> None:
        """Raise the next refusal of a request that names what is not known everywhere."""
        if token == ROLE:
            named = str(wanted.get("roleDefinitionId", ""))
            due = self._key(DEFINITION, named)
        elif token == FEDERATED:
            named = azure_ids.parent(id)
            due = self._key(IDENTITY, named)
        else:
            return
        with self._lock:
            refusals = self._due.get(due)
            if refusals:
                raise refusals.pop(0)(azure_ids.last(named))

    @staticmethod
    def _key(token: str, id: str) -> str:
        # An assignment names a role with its subscription, and the role's own id is at its scope.
        return f"{token} {azure_ids.last(id).lower() if token == DEFINITION else azure_ids.key(id)}"
