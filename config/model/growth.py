"""The settings of the order in which the cluster autoscaler grows pools."""

from __future__ import annotations

from pydantic import Field

from config.model.fields import Model


class ExpanderTier(Model):
    """Node groups made by somebody else, in the autoscaler's order of preference."""

    priority: int = Field(ge=1, description="the highest number grows first; the program's own are multiples of 10")
    groups: tuple[str, ...] = Field(min_length=1, description="regular expressions (RE2) of node group names")


class ExpanderOptions(Model):
    """The ConfigMap of the cluster autoscaler's priority expander, of which a cluster has one."""

    take_ownership: bool = Field(
        False, description="replace the ConfigMap that somebody else made in an existing cluster"
    )
    other_groups: tuple[ExpanderTier, ...] = Field((), description="further lines to keep in it")


class Growth(Model):
    """The order in which the autoscaler grows pools, where the program's own is not the wanted one."""

    order: tuple[str, ...] = Field(
        (),
        description="chains by their first pool, and on-demand pools, in the order in which they are tried; the others come "
        "after them, smaller machines first",
    )
