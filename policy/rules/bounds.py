"""How much a pool may cost."""

from __future__ import annotations

from collections.abc import Iterator

from policy.clouds import pools
from policy.declared import Declared
from policy.rule import Finding, Rule, Setting, Settings


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    limit = settings["maxNodes"]
    for pool in pools(declared):
        bounds = pool.bounds
        if bounds is None:
            continue
        if bounds.maximum is None:
            yield Finding(bounds.path, "no maximum", f"set one of at most {limit:.0f} nodes")
        elif isinstance(bounds.maximum, int | float) and bounds.maximum > limit:
            yield Finding(
                bounds.path,
                f"more than {limit:.0f} nodes",
                f"lower it, or raise `maxNodes` of {POOL.name} in the pack's configuration",
            )


POOL = Rule(
    name="pool-unbounded",
    refuses="A pool without a sensible end to its size",
    reason="One wrong loop in somebody's pipeline buys machines all night",
    sources=(
        "https://learn.microsoft.com/azure/aks/cluster-autoscaler",
        "https://docs.cloud.google.com/kubernetes-engine/docs/concepts/cluster-autoscaler",
    ),
    check=_check,
    settings={
        "maxNodes": Setting(
            {
                "type": "integer",
                "minimum": 1,
                "default": 100,
                "description": "The most nodes that one pool may have.",
            }
        )
    },
)
