"""Faults of the emulated clouds, for tests: requests that are refused for a time, that fail after they were accepted, or whose
answer is lost.

A fault acts in the process of one command: `stack.run("up", prepare=Faults(Fault("clusters/ml", 500, times=2)))`. Between cloud
and engine stands what the provider's client does about it, without its waits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from threading import Lock, local
from typing import Any

from sandbox.azure import azure_errors, azure_operations
from sandbox.azure.azure_cloud import AzureCloud
from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.provider import Refused
from sandbox.cloud.state import Record
from sandbox.gcp.gcp_cloud import GcpCloud
from sandbox.gcp.gcp_errors import GcpRefused

LOST, FAILED = "the answer is lost", "the operation fails"
ALWAYS = 1000
"""More often than any client asks."""

_AZURE_ASKS = 4
"""azure-native asks again three times, after 20, 60 and 120 s (`initPipelineOpts` in its provider/pkg/azure/client_azcore.go;
`defaultMaxRetries` in azcore's runtime/policy_retry.go)."""
_AZURE_REPEATED = (408, 429, 500, 502, 503, 504)
"""The same file. Of 409s only those with the code AnotherOperationInProgress, which AKS does not send."""

_GOOGLE_ASKS = 10
"""The Google provider asks again for 90 s, after 0.5, 1, 1.5, 2.5, 4, 6.5, 10.5, 17 and 27.5 s (terraform-provider-google-beta
93c65b2d, transport/retry_transport.go)."""
_GOOGLE_REPEATED = (409, 429, 500, 502, 503)
"""`isCommonRetryableErrorCode` and `is409OperationInProgressError` in transport/error_retry_predicates.go."""


class AnswerLost(OSError):
    """A request whose end the client does not know."""


@dataclass
class Fault:
    """What the first requests meet that make, change or delete a resource; `id` is the end of the resource's id."""

    id: str
    answer: int | str
    times: int = ALWAYS
    deletes: bool = False

    def meets(self, id: str, *, deletes: bool) -> bool:
        """Return whether a request meets this fault; each such request counts."""
        if self.times < 1 or deletes != self.deletes or not id.endswith(self.id):
            return False
        self.times -= 1
        return True


class Faults:
    """The faults of one command."""

    def __init__(self, *faults: Fault) -> None:
        self._faults = faults

    def __call__(self) -> None:
        """Put the faults between the providers and the clouds of this process."""
        self._lock, self._asked = Lock(), local()
        for cloud, method in ((AzureCloud, "_put"), (GcpCloud, "create"), (GcpCloud, "update")):
            self._wrap(cloud, method, 1, deletes=False)
        self._wrap(EmulatedCloud, "delete", 0, deletes=True)
        self._wrap_operations()

    def _wrap(self, cloud: type[EmulatedCloud], method: str, id_at: int, *, deletes: bool) -> None:
        original = getattr(cloud, method)

        @wraps(original)
        def asked(this: EmulatedCloud, *arguments: Any, **options: Any) -> Any:
            def request() -> Any:
                return original(this, *arguments, **options)

            azure = isinstance(this, AzureCloud)
            worked_on = arguments[0] in (this.cluster, this.pool)
            return self._ask(request, str(arguments[id_at]), azure=azure, worked_on=worked_on, deletes=deletes)

        setattr(cloud, method, asked)

    def _ask(self, request: Callable[[], Any], id: str, *, azure: bool, worked_on: bool, deletes: bool) -> Any:
        """Ask as the provider's client does."""
        repeated, asks = (_AZURE_REPEATED, _AZURE_ASKS) if azure else (_GOOGLE_REPEATED, _GOOGLE_ASKS)
        for left in reversed(range(asks)):
            answer = self._next(id, deletes=deletes, operation=False)
            if answer is None:
                self._asked.by_a_provider = True
                try:
                    return request()
                finally:
                    self._asked.by_a_provider = False
            if answer == LOST:
                result = request()
                if deletes or (azure and not worked_on):
                    # The second request changes nothing.
                    return result
                # The second request meets the first one's operation or resource, and nothing is in the state: issue 4024 of
                # terraform-provider-google, issues 3200 and 4761 of pulumi-azure-native.
                raise AnswerLost(str(_refusal(409, id) if azure else _exists(id)))
            if answer not in repeated or not left:
                raise _refusal(int(answer), id) if azure else _google_refusal(int(answer), id)
        raise AssertionError("the last answer was raised")

    def _wrap_operations(self) -> None:
        """Let operations fail that a cloud has accepted. Both providers keep the resource then: `HandleErrorWithCheckpoint` in
        azure-native's crud.go, "Don't clear cluster id" in resource_container_cluster.go."""
        original = EmulatedCloud._operate

        @wraps(original)
        def operated(this: EmulatedCloud, record: Record, failure: str = "", *arguments: Any) -> Any:
            # A command repairs clusters by itself as well.
            asked = getattr(self._asked, "by_a_provider", False)
            if asked and self._next(record.id, deletes=False, operation=True):
                # tpgresource/common_operation.go has "Error waiting for %s: %s".
                code = ("InternalOperationError", "Internal server error")
                azure = isinstance(this, AzureCloud)
                failure = (
                    azure_errors.operation_failed([code]) if azure else "Error waiting for creating: Internal error."
                )
            return original(this, record, failure, *arguments)

        EmulatedCloud._operate = operated  # type: ignore[method-assign]

    def _next(self, id: str, *, deletes: bool, operation: bool) -> int | str | None:
        with self._lock:
            for fault in self._faults:
                if (fault.answer == FAILED) == operation and fault.meets(id, deletes=deletes):
                    return fault.answer
        return None


def _refusal(status: int, id: str) -> Refused:
    if status == 429:
        return azure_operations.throttled(id, 30)
    if status == 409:
        # azure-workload-identity #417
        text = (
            "Operation is not allowed: Another operation is in progress, please wait for it to finish before starting a new "
            "operation. See https://aka.ms/aks-pending-operation for more details"
        )
        return azure_errors.aks("OperationNotAllowed", text, status=409)
    # MicrosoftDocs/azure-docs #40361
    return azure_errors.aks("InternalOperationError", "Internal server error", status=status)


def _google_refusal(status: int, id: str) -> Refused:
    if status == 429:
        # terraform-provider-google #15579
        text = f"Too many operations: {id} hits the concurrent operations quota 5, please try again later."
        return GcpRefused(429, text, "rateLimitExceeded")
    if status == 409:
        # terraform-provider-google #3279, from which the provider has its rule
        return GcpRefused(
            409, "Operation failed because another operation was already in progress.", "operationInProgress"
        )
    # hashicorp/terraform #20029
    return GcpRefused(status, "Internal error encountered.", "backendError")


def _exists(id: str) -> Refused:
    return GcpRefused(409, f"Already exists: {id}.", "alreadyExists")
