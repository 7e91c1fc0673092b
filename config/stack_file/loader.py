"""A stack file's settings as plain data -> a checked `ClusterSpec`, or every problem at once.

One problem must not hide another: each top key and each pool is read by itself (`config.stack_file.objects`), and the rules across
fields run over all that could be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar, get_origin

from config import releases, rules
from config.base.hiding import hidden
from config.base.problems import Problem
from config.clouds import registry
from config.clouds.registry import Registration
from config.model import bounds, wording
from config.model.cluster import (
    CloudSettings,
    Cluster,
    DcgmExporter,
    DevicePluginOptions,
    ExpanderOptions,
    Growth,
    ImagePullSecret,
    Queueing,
    is_production,
)
from config.model.fields import Model
from config.model.release import Overridden, Override, Release, changed, pinned
from config.model.scheduling import Scheduling
from config.model.spec import ClusterSpec
from config.model.workloads import Workloads
from config.rules.draft import Draft
from config.stack_file import objects, secrets, top_keys
from config.stack_file.mending import Mended
from config.stack_file.secrets import IsSecret
from config.stack_file.top_keys import Hints

M = TypeVar("M", bound=Model)

PREFIX = "kubeflow-spot:"
"""Goes before a top key in a stack file, as Pulumi's namespace of this program."""

_REQUIRED = ("release", "cloud")
_REQUIRED_FOR_A_NEW_CLUSTER = ("cluster", "systemPool")
_SMALLEST = ("release", "cluster", "cloud", "systemPool", "pools")
"""The keys of a small stack."""


def read_stack(
    raw: Mapping[str, Any],
    stack: str = "",
    *,
    prefix: str = PREFIX,
    is_secret: IsSecret | None = None,
    outside: Mapping[str, Any] = MappingProxyType({}),
    accepts_examples: bool | None = None,
) -> tuple[ClusterSpec | None, list[Problem]]:
    """Check a stack file's settings, given as one value for each top key. `stack` is the stack's name.

    `prefix` goes before a top key that a message says to write. `is_secret` tells which settings came as Pulumi secrets;
    without it none counts as clear text. `outside`: settings that stand in the file where Pulumi drops them.
    `accepts_examples`: values that our pages and examples show are warned of, not refused (docs/stack-file.md); without it
    only ranges of callers are looked for, and warned of.

    Returns the spec, or None after an error, and all errors and warnings sorted by path.
    """
    raw, beyond = bounds.drop_out_of_bounds(raw)
    outside, too = bounds.drop_out_of_bounds(outside)
    beyond += too
    problems: list[Problem] = []
    reading = objects.Reading()
    settings = top_keys.read_top_keys(raw, outside, prefix, reading.mended)
    registration = _registration(settings, reading.mended)
    types = top_keys.top_key_types(registration)
    reading.mended.hint = Hints(types)
    lists = [key for key, type in types.items() if get_origin(type) is tuple]
    reading.mended.examples = {key: _example(key, settings) for key in lists}
    settings = {
        key: reading.mended.value(value, types[key], key) for key, value in settings.items()
    }
    release = _release(settings["release"], problems) if "release" in settings else None
    cloud = _cloud(settings.get("cloud"), registration, reading)
    file = _File(settings, reading, problems)
    pools = file.items("pools", registry.pool_model())
    draft = Draft(
        release,
        file.object("cluster", Cluster),
        cloud,
        file.object("systemPool", registry.system_pool_model()),
        pools,
        all_pools=isinstance(written := settings.get("pools", []), list)
        and len(pools) == len(written),
        unread_pools=len(written) - len(pools) if isinstance(written, list) else 0,
        makes_cluster=not _exists_already(settings.get("cloud"), registration),
        image_pull_secrets=file.items("imagePullSecrets", ImagePullSecret),
        device_plugin=file.object("devicePlugin", DevicePluginOptions),
        dcgm_exporter=file.object("dcgmExporter", DcgmExporter),
        expander=file.object("expander", ExpanderOptions),
        growth=file.object("growth", Growth),
        scheduling=file.object("scheduling", Scheduling),
        workloads=file.object("workloads", Workloads),
        queueing=file.object("queueing", Queueing),
        overrides=file.items("overrides", Override),
        production=is_production(stack),
        accepts_examples=accepts_examples,
    )
    problems += _missing(raw, settings, draft, prefix, reading.mended)
    problems += secrets.secret_problems(
        settings, types, is_secret, prefix, reading.mended.as_written
    )
    problems += reading.problems()
    of_rules = [
        reading.of_rule(problem)
        for problem in rules.run_rules(draft)
        if not reading.follows_a_guess(problem)
    ]
    problems = _joined(problems, of_rules)
    problems = [*bounds.drop_repeats(problems, beyond)]
    # A key may be a secret too, which somebody wrote at a wrong place.
    problems = sorted(
        {Problem(hidden(p.path), hidden(p.what), hidden(p.remedy), p.warning) for p in problems}
    )
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
                Overridden(
                    override.pin, override.value, pinned(release, override.pin), override.reason
                )
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
            workloads=draft.workloads or Workloads(),
            queueing=draft.queueing or Queueing(),
        ),
        problems,
    )


def _joined(of_reading: list[Problem], of_rules: list[Problem]) -> list[Problem]:
    """All problems; what a rule says of a value whose key is wrong goes with what is wrong about the key."""
    known = {problem.path: problem for problem in of_reading}
    others: list[Problem] = []
    for problem in of_rules:
        first = known.get(problem.path)
        if first is None or problem.warning:
            others.append(problem)
        else:
            what, remedy = f"{first.what}, and {problem.what}", f"{first.remedy}; {problem.remedy}"
            known[problem.path] = Problem(problem.path, what, remedy)
    return [*known.values(), *others]


def _guarded(draft: Draft) -> Cluster:
    """The cluster with its protection decided."""
    cluster = draft.cluster or Cluster()
    if cluster.protect is not None or not draft.makes_cluster:
        return cluster
    return cluster.model_copy(update={"protect": draft.production})


def _missing(
    raw: Mapping[str, Any], settings: Mapping[str, Any], draft: Draft, prefix: str, mended: Mended
) -> Iterator[Problem]:
    if not settings:
        example = "".join(f"\n      {prefix}{key}: {_example(key, {})}" for key in _SMALLEST)
        yield Problem("config", "holds no settings of this program", f"write for example{example}")
        return
    for key in _REQUIRED + (_REQUIRED_FOR_A_NEW_CLUSTER if draft.makes_cluster else ()):
        written = mended.written.get(key)
        misspelt = written is not None and written in raw and ":" not in written
        if key not in settings or misspelt:
            yield Problem(
                key, "is missing", f"write for example `{prefix}{key}: {_example(key, settings)}`"
            )


def _example(key: str, settings: Mapping[str, Any]) -> str:
    """An example of a top key, in the words of the file's cloud."""
    cloud = settings.get("cloud")
    own = registry.registration(cloud.get("provider")) if isinstance(cloud, dict) else None
    examples = {
        **top_keys.EXAMPLES,
        **registry.registrations()[0].examples,
        **(own.examples if own else {}),
    }
    return examples[key].replace("{latest}", releases.names()[-1])


def _exists_already(cloud: Any, registration: Registration | None) -> bool:
    """Whether the settings are about an existing cluster, readable or not."""
    if not isinstance(cloud, dict):
        return False
    return "existingCluster" in cloud or (
        registration is not None and not registration.traits.makes_pools
    )


def _registration(settings: dict[str, Any], mended: Mended) -> Registration | None:
    """The cloud of the file, or the one that a wrong provider means: `settings` then have that one's."""
    cloud, path = settings.get("cloud"), "cloud"
    in_a_list = isinstance(cloud, list) and len(cloud) == 1
    if isinstance(cloud, list) and in_a_list:
        cloud, path = cloud[0], "cloud[0]"  # that it is a list is said when it is read
    if "cloud" not in settings:
        return None
    clouds = registry.registrations()
    if not isinstance(cloud, dict):
        shown = [f"`{cloud.examples['cloud']}`" for cloud in clouds if "cloud" in cloud.examples]
        mended.problems.append(
            Problem(
                "cloud",
                f"is {wording.type_in_words(cloud)}, not an object",
                f"write {', or '.join(shown)}",
            )
        )
        return None
    written = cloud.get("provider")
    registration = registry.registration(written)
    if registration is None:
        what = (
            f"is {wording.shown(written)}"
            if isinstance(written, str)
            else f"is {wording.type_in_words(written)}"
        )
        what = what if "provider" in cloud else "is missing"
        likely = top_keys.likely_provider(cloud, settings)
        providers = ", ".join(cloud.provider for cloud in clouds)
        guess = f"did you mean `{likely.provider}`? " if likely else ""
        mended.problems.append(
            Problem(mended.as_written(f"{path}.provider"), what, f"{guess}one of: {providers}")
        )
        if likely:
            guessed = {**cloud, "provider": likely.provider}
            settings["cloud"] = [guessed] if in_a_list else guessed
            mended.guessed.add("cloud")
        registration = likely
    return registration


def _cloud(
    value: Any, registration: Registration | None, reading: objects.Reading
) -> CloudSettings | None:
    return reading.object(value, registration.settings, "cloud") if registration else None


def _release(value: Any, problems: list[Problem]) -> Release | None:
    choices = f"one of: {', '.join(releases.names())}"
    if releases.known(value):
        try:
            return releases.load(value)
        except releases.Refused as refused:
            problems.append(refused.problem)
    elif isinstance(value, str) and releases.from_a_newer_program(value):
        what = f"{value} is newer than this program, whose newest release is {releases.names()[-1]}"
        problems.append(
            Problem("release", what, f"update the checkout (git pull, uv sync), or write {choices}")
        )
    else:
        what = (
            f"there is no release {value!r}"
            if isinstance(value, str | int | float)
            else f"is {wording.type_in_words(value)}"
        )
        problems.append(Problem("release", what, choices))
    return None


def _overrides(draft: Draft) -> list[Override]:
    """The overrides of a file without errors: those under `overrides`, and that of `cluster`."""
    overrides = list(draft.overrides.values())
    if draft.cluster and draft.cluster.kubernetes_version:
        assert draft.cluster.reason  # `config.rules.cluster_rules` refuses one without
        version, reason = draft.cluster.kubernetes_version, draft.cluster.reason
        overrides.append(Override(pin="kubernetesVersion", value=version, reason=reason))
    return overrides


@dataclass
class _File:
    """The settings of a file, whose objects are read by key."""

    settings: Mapping[str, Any]
    reading: objects.Reading
    problems: list[Problem]

    def object(self, key: str, model: type[M]) -> M | None:
        """The object of a top key; None without one."""
        return self.reading.object(self.settings[key], model, key) if key in self.settings else None

    def items(self, key: str, model: type[M]) -> dict[int, M]:
        """The objects of a list as far as they can be read, by index."""
        value = self.settings.get(key, [])
        if not isinstance(value, list):
            self.problems.append(
                Problem(key, *wording.not_a_list(value, _example(key, self.settings)))
            )
            return {}
        items = {
            index: self.reading.object(item, model, f"{key}[{index}]")
            for index, item in enumerate(value)
        }
        return {index: item for index, item in items.items() if item is not None}
