"""Request limits of AKS: 20 PUTs of one cluster or pool at once, then one a minute (AKS page quotas-skus-regions).

azure-native waits and asks again up to three times after a 429, so what the engine sees is a request that takes
longer. The buckets are this process's own: each command of the sandbox starts with full ones, as it would after twenty
minutes. Kept in a file they would make a script of many commands wait for a limit against a loop inside one command.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from threading import Lock

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import AzureRefused, aks

_BURST = 20
_SECONDS = 60.0
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
        """0 when a PUT is taken, else how many seconds too early it is."""
        with self._lock:
            now = self._clock()
            bucket = self._buckets.setdefault(azure_ids.key(id), _Bucket(_BURST, now))
            bucket.tokens = min(_BURST, bucket.tokens + (now - bucket.at) / _SECONDS)
            bucket.at = now
            if bucket.tokens < 1:
                return ceil((1 - bucket.tokens) * _SECONDS)
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
