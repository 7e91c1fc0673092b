"""The order in which AKS' cluster autoscaler grows pools: its priority expander's ConfigMap."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
from pulumi_kubernetes import core

CATCH_ALL = 1
STEP = 10


def priorities(growth_order: Sequence[str]) -> str:
    """The ConfigMap's value: YAML from priority to a list of regular expressions; the highest number wins.

    Expressions are unanchored RE2, hence `^` and `$`. A group that matches nothing is dropped as soon as another one
    matches, hence `.*` at the bottom, for the system pool and pools made by hand.
    Sources: kubernetes/autoscaler expander/priority/readme.md; scale set names `aks-<pool>-<digits>-vmss` from AKS' docs.
    """
    tiers = [(CATCH_ALL, ".*")]
    tiers += [(STEP * (rank + 1), f"^aks-{pool}-[0-9]+-vmss$") for rank, pool in enumerate(reversed(growth_order))]
    return "".join(f"{priority}:\n  - {expression}\n" for priority, expression in reversed(tiers))


class PriorityExpander(pulumi.ComponentResource):
    """The ConfigMap the autoscaler reads; its name and namespace are the autoscaler's choice."""

    def __init__(
        self, name: str, growth_order: Sequence[str], *, opts: pulumi.ResourceOptions, child: pulumi.ResourceOptions
    ) -> None:
        super().__init__("kubeflow-spot:addons:PriorityExpander", name, None, opts)
        core.v1.ConfigMap(
            name,
            metadata={"name": "cluster-autoscaler-priority-expander", "namespace": "kube-system"},
            data={"priorities": priorities(growth_order)},
            opts=pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(parent=self)),
        )
        self.register_outputs({})
