"""A subscription's vCPU quotas: the limits, and how what exceeds them is said.

Azure counts three things in each region: all regular machines (`cores`), those of one family, and all spot machines
(`lowPriorityCores`), whatever their family (https://learn.microsoft.com/azure/quotas/per-vm-quota-requests, spot-quota).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sandbox.azure.machines import machines
from sandbox.azure.regions import plain
from sandbox.base.errors import SandboxError
from sandbox.cloud import quota_file

CORES = "cores"
LOW_PRIORITY = "lowPriorityCores"

_MORE = (
    "If you want to increase the quota, please follow this instruction: "
    "https://learn.microsoft.com/en-us/azure/quotas/view-quotas. Surge nodes would also consume vcpu quota, please consider use "
    "smaller maxSurge or use maxUnavailable to proceed upgrade without surge nodes, details: aka.ms/aks/maxUnavailable."
)


@dataclass(frozen=True)
class Excess:
    """A quota that does not suffice, in vCPUs: what was used before the request, and what it asks for beyond."""

    location: str
    name: str
    limit: int
    used: int
    required: int

    @property
    def at_the_door(self) -> str:
        """AKS' text for a request it refuses at once."""
        left = max(0, self.limit - self.used)
        if self.name == CORES:
            # AKS error page quotaexceeded, and several public logs of 2025 and 2026.
            head = f"Insufficient regional vcpu quota left for location {self.location}. "
            return f"{head}left regional vcpu quota {left}, requested quota {self.required}. {_MORE}"
        # 1ChristianAlex/motordesk #14
        head = f"Insufficient vcpu quota requested {self.required}, remaining {left} for family {self.name} "
        return f"{head}for region {self.location}. {_MORE}"

    @property
    def later(self) -> str:
        """The compute service's text, when the machines are asked for."""
        # openshift/release #33708, scylladb/scylla-cluster-tests #4994
        named = {CORES: "Total Regional Cores", LOW_PRIORITY: "LowPriorityCores"}
        return (
            "Operation could not be completed as it results in exceeding approved "
            f"{named.get(self.name, f'{self.name} Cores')} quota. Additional details - Deployment Model: Resource Manager, "
            f"Location: {self.location}, Current Limit: {self.limit}, Current Usage: {self.used}, "
            f"Additional Required: {self.required}, (Minimum) New Limit Required: {self.used + self.required}."
        )


def _key(name: str) -> str:
    # The SKU API itself spells families as `standardDSv5Family` and as `Standard NCASv3_T4 Family`.
    return name.replace(" ", "").lower()


@dataclass(frozen=True)
class Quotas:
    """Limits in vCPUs by region and name; what is absent is unlimited."""

    limits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Quotas:
        """`{westeurope: {cores: 100, lowPriorityCores: 16, standardNCASv3_T4Family: 8}}`, names in any case.

        Raises SandboxError with everything that is wrong, by path.
        """
        problems = [problem for region, limits in data.items() for problem in _problems(region, limits)]
        if problems:
            raise SandboxError("\n".join(problems))
        return cls(
            {plain(region): {_key(name): limit for name, limit in each.items()} for region, each in data.items()}
        )

    @classmethod
    def kept(cls, folder: Path) -> Quotas:
        """The limits of the emulated cloud in this folder."""
        return cls.read(quota_file.azure(quota_file.kept(folder)))

    def limit(self, location: str, name: str) -> int | None:
        return self.limits.get(location, {}).get(_key(name))


UNLIMITED = Quotas()


def _problems(region: Any, limits: Any) -> Iterator[str]:
    path = f"quotas.{region}"
    if not isinstance(region, str) or not isinstance(limits, Mapping):
        yield f"{path}: is not a region with an object of limits, such as westeurope: {{cores: 100}}"
        return
    known = {_key(name) for name in (CORES, LOW_PRIORITY, *(machine.family for machine in machines().values()))}
    for name, limit in limits.items():
        if not isinstance(name, str) or _key(name) not in known:
            yield f"{path}.{name}: is neither {CORES}, {LOW_PRIORITY} nor a machine family of the catalogue"
        elif not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
            yield f"{path}.{name}: is {limit!r}, not a number of vCPUs"
