"""A node pool in words that both clouds share, as the rules about pools see it."""

from __future__ import annotations

from dataclasses import dataclass

from policy.declared import UNKNOWN, Unknown

_KEEP_OFF = ("NoSchedule", "NoExecute", UNKNOWN)


@dataclass(frozen=True)
class Taint:
    """A taint in Kubernetes' spelling; an unknown effect or key is `UNKNOWN`."""

    key: str | Unknown
    effect: str | Unknown


@dataclass(frozen=True)
class Taints:
    """The taints of a pool, and where they are declared."""

    path: str
    listed: tuple[Taint, ...] | Unknown
    """`UNKNOWN` where any of them is unknown."""
    spell: str
    """The form of a taint at `path`; `{key}` and `{value}` stand for its parts."""

    def lack(self, *keys: str) -> bool:
        """Whether none of these keys keeps pods off, for certain."""
        if self.listed is UNKNOWN or not isinstance(self.listed, tuple):
            return False
        return not any(
            taint.key is UNKNOWN or (taint.key in keys and taint.effect in _KEEP_OFF)
            for taint in self.listed
        )

    def written(self, key: str, value: str) -> str:
        """A taint in that form."""
        return self.spell.replace("{key}", key).replace("{value}", value)


@dataclass(frozen=True)
class Bounds:
    """The largest size of a pool: its maximum, or its constant size."""

    path: str
    maximum: float | Unknown | None
    """Nodes of the whole pool; None without a maximum."""


@dataclass(frozen=True)
class Spot:
    """The setting by which a pool's machines may be evicted."""

    path: str
    taint: tuple[str, str]
    """The cloud's own, as key and value."""
    kept_off_by: tuple[str, ...]
    """Keys of taints; each of them keeps pods off that do not ask for such nodes."""


@dataclass(frozen=True)
class Pool:
    """One pool; unknown values are left out, as no rule may rely on them."""

    nvidia_at: str | None
    """The path of the setting that means NVIDIA GPUs; None where it has none."""
    spot: Spot | None
    """None where it is on-demand."""
    system_at: str | None
    """The path of the setting that makes it a pool for the cluster's own pods; None where no setting does."""
    taints: Taints
    bounds: Bounds | None
    """None where the size is unknown, or declared in a way that these rules do not read."""
