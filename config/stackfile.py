"""A stack file's settings as plain data -> a checked `ClusterSpec`, or every problem at once.

One problem must not hide another: each top key and each pool is read by itself (`config.objects`), and the rules across
fields run over all that could be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from config import bounds, objects, releases, rules
from config.clouds import registry
from config.draft import Draft
from config.model.cloud import CloudSettings
from config.model.cluster import Cluster, is_production
from config.model.fields import Model
from config.model.gpu import DcgmExporter, DevicePluginOptions
from config.model.growth import ExpanderOptions, Growth
from config.model.image_pull_secret import ImagePullSecret
from config.model.release import Overridden, Override, Release, changed, pinned
from config.model.scheduling import Scheduling
from config.model.spec import ClusterSpec
from config.problems import Problem

M = TypeVar("M", bound=Model)

_EXAMPLES = {
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
    "overrides": '[{pin: kubernetesVersion, value: "1.35", reason: our Istio is tested up to 1.35}]',
}
"""Every top key, and what to write where it is missing: `{latest}` is the newest release, for "" each cloud has its own."""

_REQUIRED = ("release", "cloud")
_REQUIRED_FOR_A_NEW_CLUSTER = ("cluster", "systemPool")


def read(raw: Mapping[str, Any], stack: str = "") -> tuple[ClusterSpec | None, list[Problem]]:
    """Check a stack file's settings, given as one value for each top key. `stack` is the stack's name.

    Returns the spec, or None after an error, and all errors and warnings sorted by path.
    """
    raw, beyond = bounds.kept(raw)
    problems: list[Problem] = []
    release = _release(raw.get("release"), problems) if "release" in raw else None
    cloud = _cloud(raw["cloud"], problems) if "cloud" in raw else None
    pools = _list("pools", raw, registry.pool_model(), problems)
    draft = Draft(
        release,
        _object("cluster", raw, Cluster, problems),
        cloud,
        _object("systemPool", raw, registry.system_pool_model(), problems),
        pools,
        all_pools=isinstance(raw.get("pools", []), list) and len(pools) == len(raw.get("pools", [])),
        makes_cluster=not _exists_already(raw.get("cloud")),
        image_pull_secrets=_list("imagePullSecrets", raw, ImagePullSecret, problems),
        device_plugin=_object("devicePlugin", raw, DevicePluginOptions, problems),
        dcgm_exporter=_object("dcgmExporter", raw, DcgmExporter, problems),
        expander=_object("expander", raw, ExpanderOptions, problems),
        growth=_object("growth", raw, Growth, problems),
        scheduling=_object("scheduling", raw, Scheduling, problems),
        overrides=_list("overrides", raw, Override, problems),
        production=is_production(stack),
    )
    problems += _top_keys(raw, draft)
    problems += rules.check(draft)
    problems = sorted({*bounds.without_echoes(problems, beyond)})
    if any(not problem.warning for problem in problems):
        return None, problems
    # Each is missing only together with a problem.
    assert release is not None
    assert cloud is not None
    overrides = _overrides(draft)
    return (
        ClusterSpec(
            release=changed(release, overrides),
            overrides=tuple(
                Overridden(override.pin, override.value, pinned(release, override.pin), override.reason)
                for override in overrides
            ),
            cluster=_guarded(draft),
            cloud=cloud,
            systemPool=draft.system_pool,
            pools=tuple(pools.values()),
            imagePullSecrets=tuple(draft.image_pull_secrets.values()),
            devicePlugin=draft.device_plugin or DevicePluginOptions(),
            dcgmExporter=draft.dcgm_exporter or DcgmExporter(enabled=False),
            expander=draft.expander or ExpanderOptions(),
            growth=draft.growth or Growth(),
            scheduling=draft.scheduling or Scheduling(),
        ),
        problems,
    )


def _guarded(draft: Draft) -> Cluster:
    """The cluster with its protection decided."""
    cluster = draft.cluster or Cluster()
    if cluster.protect is not None or not draft.makes_cluster:
        return cluster
    return cluster.model_copy(update={"protect": draft.production})


def _top_keys(raw: Mapping[str, Any], draft: Draft) -> Iterator[Problem]:
    for key in raw:
        if key not in _EXAMPLES:
            yield Problem(key, "is not a setting of this program", objects.instead(key, list(_EXAMPLES)))
    required = _REQUIRED + (_REQUIRED_FOR_A_NEW_CLUSTER if draft.makes_cluster else ())
    for key in required:
        if key not in raw:
            yield Problem(key, "is missing", f"write for example `{key}: {_example(key, raw)}`")


def _example(key: str, raw: Mapping[str, Any]) -> str:
    """An example of a top key, in the words of the file's cloud."""
    cloud = raw.get("cloud")
    own = registry.registration(cloud.get("provider")) if isinstance(cloud, dict) else None
    examples = {**_EXAMPLES, **registry.registrations()[0].examples, **(own.examples if own else {})}
    return examples[key].replace("{latest}", releases.names()[-1])


def _exists_already(cloud: Any) -> bool:
    """Whether the settings are about an existing cluster, readable or not."""
    if not isinstance(cloud, dict):
        return False
    own = registry.registration(cloud.get("provider"))
    return "existingCluster" in cloud or (own is not None and not own.traits().makes_pools)


def _cloud(value: Any, problems: list[Problem]) -> CloudSettings | None:
    clouds = registry.registrations()
    if not isinstance(value, dict):
        shown = [f"`{cloud.examples['cloud']}`" for cloud in clouds if "cloud" in cloud.examples]
        problems.append(
            Problem("cloud", f"is {objects.type_in_words(value)}, not an object", f"write {', or '.join(shown)}")
        )
        return None
    provider = value.get("provider")
    registration = registry.registration(provider)
    if registration is None:
        what = f"is {provider!r}" if isinstance(provider, str) else f"is {objects.type_in_words(provider)}"
        what = what if "provider" in value else "is missing"
        providers = ", ".join(cloud.provider for cloud in clouds)
        problems.append(Problem("cloud.provider", what, f"one of: {providers}"))
        return None
    return objects.read(value, registration.settings, "cloud", problems)


def _release(value: Any, problems: list[Problem]) -> Release | None:
    choices = f"one of: {', '.join(releases.names())}"
    if releases.known(value):
        try:
            return releases.load(value)
        except releases.Refused as refused:
            problems.append(refused.problem)
    elif isinstance(value, str) and releases.from_a_newer_program(value):
        what = f"{value} is newer than this program, whose newest release is {releases.names()[-1]}"
        problems.append(Problem("release", what, f"update the checkout (git pull, uv sync), or write {choices}"))
    else:
        what = (
            f"there is no release {value!r}"
            if isinstance(value, str | int | float)
            else f"is {objects.type_in_words(value)}"
        )
        problems.append(Problem("release", what, choices))
    return None


def _overrides(draft: Draft) -> list[Override]:
    """The overrides of a file without errors: those under `overrides`, and that of `cluster`."""
    overrides = list(draft.overrides.values())
    if draft.cluster and draft.cluster.kubernetes_version:
        assert draft.cluster.reason  # `config.rules.cluster` refuses one without
        version, reason = draft.cluster.kubernetes_version, draft.cluster.reason
        overrides.append(Override(pin="kubernetesVersion", value=version, reason=reason))
    return overrides


def _object(key: str, raw: Mapping[str, Any], model: type[M], problems: list[Problem]) -> M | None:
    return objects.read(raw[key], model, key, problems) if key in raw else None


def _list(key: str, raw: Mapping[str, Any], model: type[M], problems: list[Problem]) -> dict[int, M]:
    """The objects of a list as far as they can be read, by index."""
    value = raw.get(key, [])
    if not isinstance(value, list):
        example = f"write for example `{_example(key, raw)}`"
        problems.append(Problem(key, f"is {objects.type_in_words(value)}, not a list", example))
        return {}
    items = {index: objects.read(item, model, f"{key}[{index}]", problems) for index, item in enumerate(value)}
    return {index: item for index, item in items.items() if item is not None}
