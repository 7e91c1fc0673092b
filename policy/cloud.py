"""A cloud as the rules see it. Each has a folder with a `CLOUD`, and a line in `policy.clouds`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from policy.declared import Declared
from policy.pool import Pool
from policy.rule import Finding

Check = Callable[[Declared], Iterator[Finding]]
"""Findings in one resource; none in a resource of another type or cloud."""


@dataclass(frozen=True)
class Cloud:
    """Types and checks of one cloud."""

    cluster: str
    """The type of its clusters."""
    tags: Mapping[str, str]
    """By type of resource, the path of the tags or labels that its bills are divided by."""
    pools: Callable[[Declared], Iterator[Pool]]
    """The node pools in one resource, which may be several."""
    api_server: Callable[[Declared, int], Iterator[Finding]]
    """API servers that more than so many public addresses may try."""
    accounts: Check
    """Logins that belong to no person."""
    roles: Check
    """Rights over everything for nodes or workloads."""
    checks: Mapping[str, Check] = field(default_factory=dict)
    """By rule (`policy.rules.hardening`), the check of a setting that the cloud has."""
    logs: Callable[[Sequence[Declared]], Iterator[tuple[Declared, Finding]]] = lambda resources: (
        iter(())
    )
    """Clusters whose logs nobody keeps, in all resources of a stack."""
