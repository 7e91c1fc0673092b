"""The top keys of a stack file: their types, and a guess at what a wrong one means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Union

from config.base.near import bare, nearest
from config.base.problems import Problem
from config.clouds import registry
from config.clouds.registry import Registration
from config.model.cluster import Cluster
from config.model.gpu import DcgmExporter, DevicePluginOptions
from config.model.growth import ExpanderOptions, Growth
from config.model.image_pull_secret import ImagePullSecret
from config.model.queueing import Queueing
from config.model.release import Override
from config.model.scheduling import Scheduling
from config.model.workloads import Workloads
from config.stack_file.hints import Hints
from config.stack_file.mending import Mended

EXAMPLES = {
    "release": "{latest}",
    "cluster": "{name: ml-dev}",
    "cloud": "",
    "systemPool": "",
    "pools": "",
    "imagePullSecrets": "",
    "devicePlugin": "{install: never}",
    "dcgmExporter": "{enabled: true}",
    "expander": "{takeOwnership: true}",
    "growth": "{order: [t4, a100]}",
    "scheduling": "{guard: {mode: warn}}",
    "workloads": "{checkpoints: {name: mldevcheckpoints}, profiles: [{namespace: team-a}]}",
    "queueing": "{enabled: true, namespaces: [team-a]}",
    "overrides": '[{pin: kubernetesVersion, value: "1.35", reason: our Istio is tested up to 1.35}]',
}
"""Every top key, and what to write where it is missing: `{latest}` is the newest release, for "" each cloud has its own."""


_SAME_NAMESPACE = 0.9
"""The likeness from which a namespace is the project's with a letter or two wrong."""


def types(cloud: Registration | None) -> dict[str, Any]:
    """The type of each top key, None for plain text; that of `cloud` is any cloud's where the cloud is unknown."""
    clouds = [cloud] if cloud else registry.registrations()
    return {
        "release": None,
        "cluster": Cluster,
        "cloud": Union[tuple(one.settings for one in clouds)],  # noqa: UP007
        "systemPool": registry.system_pool_model(),
        "pools": tuple[registry.pool_model(), ...],  # type: ignore[misc]
        "imagePullSecrets": tuple[ImagePullSecret, ...],
        "devicePlugin": DevicePluginOptions,
        "dcgmExporter": DcgmExporter,
        "expander": ExpanderOptions,
        "growth": Growth,
        "scheduling": Scheduling,
        "workloads": Workloads,
        "queueing": Queueing,
        "overrides": tuple[Override, ...],
    }


def setting(key: str, project: str) -> str | None:
    """The name of a configuration key of Pulumi's among the program's own; None for a key of somebody else's.

    A key of the program's in a namespace that is the project's but for a letter or two keeps it. Other programs have namespaces
    that are like this one's (`kubeflow`, kubeflow-spot-eu): their keys, and all keys that are like none of ours, are theirs.
    """
    namespace, _, name = key.rpartition(":")
    if namespace == project:
        return name
    misspelt = bare(namespace) == bare(project) or (
        _words(namespace) <= _words(project)
        and nearest(namespace, [project], _SAME_NAMESPACE) is not None
    )
    return key if namespace and misspelt and nearest(name, EXAMPLES) else None


def _words(name: str) -> int:
    return len(re.split("[-_]", name))


def meant(
    raw: Mapping[str, Any], outside: Mapping[str, Any], prefix: str, mended: Mended
) -> dict[str, Any]:
    """The settings by their right keys: what stands under a wrong one that surely means another is read as that one.

    `outside` are settings beside `config`. `prefix` goes before a top key of the stack file, which a message shows.
    """
    settings = {key: value for key, value in raw.items() if key in EXAMPLES}
    hints = Hints(types(None))
    for key, value in [*raw.items(), *outside.items()]:
        namespace, _, name = key.rpartition(":")
        if key in settings and key not in outside:
            continue
        remedy, target = (
            (f"write `{prefix}{name}`", name)
            if name in EXAMPLES
            else hints.of_the_file(name, prefix)
        )
        what = "is not a setting of this program"
        if key in outside:
            what, remedy = (
                "stands beside `config`, where Pulumi drops it",
                f"move it below `config:`; {remedy}",
            )
        elif namespace:
            what = f"is in the namespace {namespace}, which this program does not read"
        mended.problems.append(Problem(key, what, remedy))
        if target and target not in settings:
            settings[target] = value
            mended.written[target] = key
    return settings


def provider(cloud: Mapping[str, Any], settings: Mapping[str, Any]) -> Registration | None:
    """The cloud that a file means whose provider is wrong or missing; None when nothing tells."""
    # The key may be misspelt as well.
    written = next((value for key, value in cloud.items() if nearest(str(key), ["provider"])), None)
    named = registry.named_like(written) if isinstance(written, str) else None
    pools = settings.get("pools")
    listed = [settings.get("systemPool"), *(pools if isinstance(pools, list) else [])]
    sizes = [
        pool["machine"]
        for pool in listed
        if isinstance(pool, dict) and isinstance(pool.get("machine"), str)
    ]
    return named or registry.most_alike(sizes)
