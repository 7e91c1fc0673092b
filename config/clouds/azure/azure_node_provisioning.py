"""The settings of AKS' node auto-provisioning (Karpenter), which replaces the cluster autoscaler.

Sources: AKS' pages node-auto-provisioning, node-auto-provisioning-disruption and
node-auto-provisioning-node-pools; the CRDs of Azure/karpenter-provider-azure v1.14.0.
"""

from __future__ import annotations

from typing import ClassVar

from config.model.fields import Duration, Model, optional, worded


class AzureNodeProvisioning(Model):
    """Node auto-provisioning: AKS runs Karpenter, which makes each machine by itself.

    `{}` takes the defaults.
    """

    plain: ClassVar[str] = (
        "write `{}` for the defaults and leave out `autoscaler`: AKS takes one of the two; or remove "
        "it: then the autoscaler counts nodes"
    )

    consolidate_after: Duration = optional(
        "1m",
        "Time after a node's last pod came or went, before it is removed or its pods move.",
        "5m",
    )
    expire_after: Duration | None = optional(
        None,
        "Age at which a node goes with whatever runs on it. Default: never.",
        "720h",
    )
    disruption_budget: str | None = optional(
        None,
        "Most nodes of a pool, or their share rounded up, emptied at a time. Default: 10%; all of a "
        "twin.",
        "2",
        pattern=worded(
            r"^((100|[0-9]{1,2})%|(0|[1-9][0-9]{0,3}))$",
            'a number or a share in quotes, such as "2" or "10%"',
        ),
    )
