"""Quotas of the emulated clouds: limits by region and name, as the cloud files gave them, and where they are kept."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from sandbox.base.errors import SandboxError
from sandbox.base.files import read_json

KEPT = "cloudfile.json"
"""The record that `sandbox.engine.cloud_file` keeps of the cloud files, beside the clouds' own memory."""


def kept(folder: Path) -> dict[str, Any]:
    """Return all quotas of the emulated clouds in this folder; empty where no cloud file had any."""
    try:
        quotas: dict[str, Any] = read_json(folder / KEPT)["quotas"] or {}
    except FileNotFoundError:
        return {}
    return quotas


@dataclass(frozen=True)
class Excess:
    """A quota that does not suffice: the usage before a request, and the amount that it requires beyond."""

    region: str
    name: str
    limit: int
    used: int
    required: int

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


@dataclass(frozen=True)
class Quotas(ABC):
    """One cloud's limits by region and name; what is absent is unlimited."""

    limits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    where: ClassVar[str]
    """The path of this cloud's limits in a cloud file."""
    example: ClassVar[str]
    unit: ClassVar[str] = ""
    no_region: ClassVar[str] = "not a region"

    @classmethod
    def parse_quotas(cls, data: Any) -> Self:
        """Return limits as a cloud file has them. Raises SandboxError with everything that is wrong, by path."""
        if not isinstance(data, Mapping):
            raise SandboxError(f"{cls.where}: is not an object of regions")
        problems = [problem for region, limits in data.items() for problem in cls._problems(region, limits)]
        if problems:
            raise SandboxError("\n".join(problems))
        return cls(
            {
                cls.region(region): {cls.name(name): limit for name, limit in each.items()}
                for region, each in data.items()
            }
        )

    def limit(self, region: str, name: str) -> int | None:
        return self.limits.get(region, {}).get(self.name(name))

    @staticmethod
    def region(text: str) -> str:
        """Return a region's name in its one spelling."""
        return text

    @staticmethod
    def name(text: str) -> str:
        """Return a quota's name in its one spelling."""
        return text

    @classmethod
    @abstractmethod
    def known(cls, region: str) -> Collection[str]:
        """Return the quotas of a region, in their one spelling; none for an unknown region."""

    @classmethod
    @abstractmethod
    def unknown(cls, region: str) -> str:
        """Return the problem of a name that is no quota of a region."""

    @classmethod
    def _problems(cls, region: Any, limits: Any) -> Iterator[str]:
        path = f"{cls.where}.{region}"
        known = cls.known(region) if isinstance(region, str) else ()
        if not known:
            yield f"{path}: is {cls.no_region}"
        elif not isinstance(limits, Mapping):
            yield f"{path}: is not an object of limits, such as {cls.example}"
        else:
            for name, limit in limits.items():
                if not isinstance(name, str) or cls.name(name) not in known:
                    yield f"{path}.{name}: {cls.unknown(region)}"
                elif not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
                    yield f"{path}.{name}: is {limit!r}, not a number{cls.unit}"
