"""The commands that show what a change does to work while spot comes and goes, where a pool, a
chain or a timer changes."""

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from review.pools import KARPENTER, KARPENTER_CLASS, listed, pool_name
from sandbox.base.cloud_types import CLUSTERS, POOLS
from sandbox.engine.changes import Change, Op

HEAD = (
    "**A pool, a chain or a timer changes.** What becomes of work while spot comes and goes, before"
    " and after:"
)

_STACK = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
_REVISION = r"[A-Za-z0-9][A-Za-z0-9._/~^-]{0,199}"
_COMMAND = "uv run sandbox drill {scenario} --stack {stack} --against {revision}"

SCENARIOS = (
    "spot-silent",
    "spot-gone-and-back",
    "eviction-storm",
    "zone-lost",
    "burst-from-zero",
    "mixed-day",
)
"""The scenarios that a report may name, in the order in which it does."""
_OURS = re.compile(
    re.escape(_COMMAND)
    .replace(r"\{scenario\}", f"(?P<scenario>{'|'.join(map(re.escape, SCENARIOS))})")
    .replace(r"\{stack\}", f"(?P<stack>{_STACK})")
    .replace(r"\{revision\}", f"'?(?P<revision>{_REVISION})'?")
)

# Properties as azure-native and pulumi-gcp call them. GKE's `clusterAutoscaling` is not among them:
# nobody publishes what its profiles wait for, so both sides of a drill would be the same.
_PROFILE = "autoScalerProfile"
_TIMERS = {
    # Where machines never come, each pool of the chain is waited for by these.
    "spot-silent": ("maxNodeProvisionTime", "scanInterval", "newPodScaleUpDelay", "expander"),
    # Many machines go at once, twice.
    "eviction-storm": ("okTotalUnreadyCount", "maxTotalUnreadyPercentage", "scaleDownUnreadyTime"),
    # All machines stand idle when the sweep ends.
    "burst-from-zero": (
        "scaleDownDelayAfterAdd",
        "scaleDownDelayAfterDelete",
        "scaleDownDelayAfterFailure",
        "scaleDownUnneededTime",
        "scaleDownUtilizationThreshold",
        "maxEmptyBulkDelete",
    ),
}
"""Keys of AKS' profile by the scenario that shows them; `mixed-day`, which has all kinds of work,
for others."""
_POOLS = {
    "zone-lost": ("availabilityZones", "nodeLocations"),
    "burst-from-zero": ("minCount", "autoscaling.minNodeCount", "autoscaling.totalMinNodeCount"),
    "spot-silent": ("spec.weight",),
}
"""Properties of pools by the scenario that shows them; `spot-gone-and-back` for others."""
_MOST = (
    "maxCount",
    "autoscaling.maxNodeCount",
    "autoscaling.totalMaxNodeCount",
    "spec.limits.nodes",
)
_IDLE = (
    "orchestratorVersion",
    "version",
    "tags",
    "spec.tags",
    "resourceLabels",
    "nodeConfig.resourceLabels",
    "upgradeSettings",
)
"""Properties of pools that decide nothing about where pods go: they change with every release and
every tag."""
_ORDER = ("kubernetes:cloud.google.com/v1:ComputeClass",)
_EXPANDER = re.compile(r"kubernetes:core/v1:ConfigMap .*-expander")


def command(
    stack: str,
    revision: str,
    changes: Iterable[Change],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
) -> str:
    """Return one command for each scenario that shows a change; empty if none does, or if a shell
    might run a name.

    `before` and `after` are the stack's outputs, which contain the order of growth.
    """
    named = {name for change in changes for name in _scenarios(change, before)}
    if before and after and before.get("fallbackOrder") != after.get("fallbackOrder"):
        named.add("spot-silent")
    if not re.fullmatch(_STACK, stack) or not re.fullmatch(_REVISION, revision):
        return ""
    return _written(stack, revision, named)


def _written(stack: str, revision: str, scenarios: Collection[str]) -> str:
    lines = (
        _COMMAND.format(scenario=name, stack=stack, revision=shlex.quote(revision))
        for name in SCENARIOS
        if name in scenarios
    )
    return "\n".join(lines)


def _scenarios(change: Change, before: Mapping[str, Any]) -> Iterator[str]:
    """Yield the scenarios that show a change."""
    paths = [changed.path for changed in change.properties]
    if change.type in (*POOLS, KARPENTER, KARPENTER_CLASS):
        if change.op in (Op.CREATE, Op.DELETE):
            # It joins a chain, or leaves one.
            yield "spot-silent"
        elif change.op == Op.REPLACE and not paths:
            yield "spot-gone-and-back"
        for path in paths if change.op not in (Op.CREATE, Op.DELETE) else ():
            yield from _of_pool(change, path, before)
    elif change.type in CLUSTERS:
        for path in paths:
            if path == _PROFILE:
                yield from _TIMERS
            elif _under(path, (_PROFILE,)):
                key = path.removeprefix(f"{_PROFILE}.")
                yield next((name for name, keys in _TIMERS.items() if key in keys), "mixed-day")
    elif change.type in _ORDER or _EXPANDER.fullmatch(f"{change.type} {change.name}"):
        yield "spot-silent"


def _of_pool(change: Change, path: str, before: Mapping[str, Any]) -> Iterator[str]:
    if _under(path, _IDLE):
        # Also where the pool is replaced for it: its nodes go once, and a drill begins after that.
        return
    if _under(path, _MOST):
        # The work of most scenarios is counted from the first side's pools, and finds room there.
        # Two hundred pods find none, and where spot is gone the on-demand pool is short.
        yield "spot-gone-and-back" if _capacity(change, before) == "on-demand" else "eviction-storm"
        return
    yield next(
        (name for name, paths in _POOLS.items() if _under(path, paths)), "spot-gone-and-back"
    )


def _capacity(change: Change, before: Mapping[str, Any]) -> str:
    """Return the capacity of a change's pool; empty if the outputs lack it."""
    found = listed(before.get("pools"))
    by_name = {str(pool.get("name")): pool for pool in found if isinstance(pool, Mapping)}
    return str(by_name.get(pool_name(change.name, by_name), {}).get("capacity", ""))


def _under(path: str, names: Iterable[str]) -> bool:
    """Return whether a property's path is one of these or inside it."""
    return any(path == name or path.startswith((f"{name}.", f"{name}[")) for name in names)


def ours(command: str) -> bool:
    """Return whether `command` could have written this text."""
    found = [_OURS.fullmatch(line) for line in command.split("\n", len(SCENARIOS))]
    lines = [line for line in found if line]
    if len(lines) < len(found):
        return False
    return command == _written(
        lines[0]["stack"], lines[0]["revision"], [line["scenario"] for line in lines]
    )
