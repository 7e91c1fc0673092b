"""Resources of pods and nodes: Kubernetes' quantities, added up."""

from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

Resources = dict[str, Decimal]

NONE = Decimal(0)

# https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/; `1e3` is a number to `Decimal`.
_FACTORS = {
    "": Decimal(1),
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate("num", -3)},
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate("kMGTPE", 1)},
    **{f"{suffix}i": Decimal(1024) ** power for power, suffix in enumerate("KMGTPE", 1)},
}
_LETTERS = "numkKMGTPEi"


@lru_cache(maxsize=4096)
def quantity(text: str) -> Decimal:
    """Return the number of a quantity: `1500m` is 1.5. Raises ValueError."""
    # The client library has this as well, and takes 0.4 s and 30 MB to import.
    number = text.rstrip(_LETTERS)
    try:
        return Decimal(number) * _FACTORS[text.removeprefix(number)]
    except (InvalidOperation, KeyError) as wrong:
        raise ValueError(f"{text!r} is no quantity") from wrong


def amounts(quantities: Mapping[str, Any] | None) -> Resources:
    """Return a `requests`, `capacity` or `allocatable` as numbers."""
    return {name: quantity(str(value)) for name, value in (quantities or {}).items()}


def requests(spec: Mapping[str, Any]) -> Resources:
    """Return the resources that a pod occupies: its containers together, or its largest init container where that is more.

    Init containers that restart (sidecars) stay and count with all that start after them
    (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers). Requests of
    the pod as a whole replace those of its containers. Each pod takes one of the node's `pods`.
    """
    sidecars: Resources = {}
    starting: Resources = {}
    for container in spec.get("initContainers") or []:
        needs = _requested(container)
        if container.get("restartPolicy") == "Always":
            sidecars = total([sidecars, needs])
            starting = larger(starting, sidecars)
        else:
            starting = larger(starting, total([sidecars, needs]))
    running = total([sidecars, *(_requested(container) for container in spec.get("containers") or [])])
    needed = larger(starting, running) | _requested(spec)
    return total([needed, amounts(spec.get("overhead")), {"pods": Decimal(1)}])


def _requested(part: Mapping[str, Any]) -> Resources:
    return amounts((part.get("resources") or {}).get("requests"))


def total(parts: Iterable[Resources]) -> Resources:
    result: Resources = {}
    for part in parts:
        for name, amount in part.items():
            result[name] = result.get(name, NONE) + amount
    return result


def larger(first: Resources, second: Resources) -> Resources:
    """Return the larger amount of each resource."""
    return {name: max(first.get(name, NONE), second.get(name, NONE)) for name in {**first, **second}}


def less(free: Resources, taken: Resources) -> Resources:
    return {name: amount - taken.get(name, NONE) for name, amount in free.items()}


def shortage(requests: Resources, free: Resources) -> str:
    """Return the first resource that does not suffice; empty when all do."""
    return next((name for name, amount in requests.items() if amount > 0 and amount > free.get(name, NONE)), "")
