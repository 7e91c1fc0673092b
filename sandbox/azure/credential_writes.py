"""Writes of federated credentials: Azure takes one at a time of an identity.

Azure/bicep-registry-modules issue 1447 has code and words, hashicorp/terraform-provider-azurerm issues 19968 and 29242 that
deletions count as well.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import arm

_PART = "/federatedidentitycredentials/"
_SECONDS = 0.05
"""A write's length, in which another one meets it."""


class CredentialWrites:
    """Identities whose credentials are being written by this process. `wait` lets seconds pass."""

    def __init__(self, wait: Callable[[float], None] = time.sleep) -> None:
        self._wait = wait
        self._busy: set[str] = set()
        self._lock = Lock()

    @contextmanager
    def around(self, id: str) -> Iterator[None]:
        """The write of the resource with this id, of any type. Raises `Refused` while its identity has another one."""
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
            self._wait(_SECONDS)
            yield
        finally:
            with self._lock:
                self._busy.discard(azure_ids.key(identity))
