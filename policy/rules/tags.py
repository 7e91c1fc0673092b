"""The owner and the purpose of resources that cost money."""

from __future__ import annotations

from collections.abc import Iterator

from policy import clouds
from policy.declared import UNKNOWN, Declared
from policy.rule import Finding, Rule, Setting, Settings


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    path = next(
        (cloud.tags[declared.type] for cloud in clouds.CLOUDS if declared.type in cloud.tags), None
    )
    tags = declared.get(path) if path else UNKNOWN
    if path is None or tags is UNKNOWN:
        return
    # Azure compares names without case.
    present = {name.lower() for name, value in (tags or {}).items() if value != ""}
    lacking = [name for name in settings["names"] if name.lower() not in present]
    if lacking:
        yield Finding(
            path,
            f"no {' and no '.join(lacking)}",
            "say so (`cluster.tags` in a stack file of this program)",
        )


TAGS = Rule(
    name="owner-missing",
    refuses="A cluster, pool or resource group that does not say whose it is and what it is for",
    reason="The bill of GPUs comes weeks later, and somebody has to know whom to ask",
    sources=(
        "https://learn.microsoft.com/azure/cloud-adoption-framework/ready/azure-best-practices/resource-tagging",
        "https://docs.cloud.google.com/kubernetes-engine/docs/how-to/creating-managing-labels",
    ),
    check=_check,
    settings={
        "names": Setting(
            {
                "type": "array",
                "items": {"type": "string"},
                "default": ["owner", "environment"],
                "description": "Tags of Azure, resource labels of Google Cloud.",
            }
        )
    },
)
