"""A node pool in words that both clouds share, as the rules about pools see it."""

from __future__ import annotations

from dataclasses import dataclass

from policy.declared import UNKNOWN, Unknown

_KEEP_OFF = ("NoSchedule", "NoExecute", UNKNOWN)


@dataclass(frozen=True)
class Taint:
    """A taint in Kubernetes' spelling; an effect or key that is not known is `UNKNOWN`."""

    key: str | Unknown
    effect: str | Unknown


@dataclass(frozen=True)
class Taints:
    """The taints of a pool, and where they are declared."""

    path: str
    found: tuple[Taint, ...] | Unknown
    """`UNKNOWN` where any of them is not known."""
    spell: str
    """How one is written there; `{key}` and `{value}` stand for its parts."""

    def lack(self, *keys: str) -> bool:
        """Whether certainly none of these keys keeps pods off."""
        if self.found is UNKNOWN or not isinstance(self.found, tuple):
            return False
        return not any(
            taint.key is UNKNOWN or (taint.key in keys and taint.effect in _KEEP_OFF) for taint in self.found
        )

    def written(self, key: str, value: str) -> str:
        """A taint as it is to be written."""
        return self.spell.replace("{key}", key).replace("{value}", value)


@dataclass(frozen=True)
class Bounds:
    """How large a pool may get: what it grows to, or its fixed size."""

    path: str
    maximum: float | Unknown | None
    """Nodes of the whole pool; None where nothing ends its growth."""


@dataclass(frozen=True)
class Spot:
    """How a pool says that its machines may vanish."""

    path: str
    taint: tuple[str, str]
    """The cloud's own, as key and value."""
    kept_off_by: tuple[str, ...]
    """Keys of which any one keeps pods off that do not ask for such nodes."""


@dataclass(frozen=True)
class Pool:
    """One pool; what is not known is left out, or no rule could be sure."""

    nvidia_at: str | None
    """The path that says it has NVIDIA GPUs; None where it has none."""
    spot: Spot | None
    """None where it is on-demand."""
    system_at: str | None
    """The path that says it is there for the cluster's own pods; None where nothing does."""
    taints: Taints
    bounds: Bounds | None
    """None where that is not known, or the cloud is asked in a way these rules do not read."""
