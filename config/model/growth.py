"""The settings of the order in which the cluster autoscaler grows pools."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from config.model.fields import Duration, Model

_UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds(duration: str) -> int:
    """The seconds of a `Duration`."""
    return int(duration[:-1]) * _UNITS[duration[-1]]


class ExpanderTier(Model):
    """Existing node groups in the autoscaler's order of preference."""

    priority: int = Field(
        ge=1,
        description="The highest number grows first; the program's own numbers are multiples of 10.",
        examples=[15],
    )
    groups: tuple[Annotated[str, StringConstraints(max_length=1000)], ...] = Field(
        min_length=1,
        description="Regular expressions (RE2) of node group names.",
        examples=[["^aks-spotpool-[0-9]+-vmss$"]],
    )


class ExpanderOptions(Model):
    """The ConfigMap of the cluster autoscaler's priority expander, of which a cluster has one."""

    take_ownership: bool = Field(
        False, description="Whether the stack replaces the ConfigMap of an existing cluster."
    )
    other_groups: tuple[ExpanderTier, ...] = Field(
        (), description="Further lines to keep in the ConfigMap."
    )


class Growth(Model):
    """The order in which the autoscaler grows pools, and the wait that a team accepts for it."""

    order: tuple[str, ...] = Field(
        (),
        description="Names of pools in the order in which they are tried: a chain by its first pool, and on-demand pools. The "
        "others come after them, smaller machines first. An order that names further steps of a chain or twins, such as `t4od`, "
        "names GPU pools one by one, and what stands in it is no more ordered by its price.",
        examples=[["t4", "a100"]],
    )
    accepted_wait: Duration = Field(
        "15m",
        description="The longest that a pod may wait for the last step of its chain before the program warns of the settings that "
        "make it wait; from `24h` on, pods may wait until spot is back. Nothing in the cluster depends on it.",
        examples=["30m"],
    )
