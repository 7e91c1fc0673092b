"""Reads a stack file's settings, plain data, into a checked `ClusterSpec`, or reports every
problem.

One problem must not hide another: each top key and each pool is read by itself
(`config.stack_file.objects`), and the rules run over all that could be read.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar, get_origin

from config import releases, rules
from config.base.problems import Problem
from config.clouds import registry
from config.clouds.registry import Registration
from config.model import bounds, wording, wrong_shape
from config.model.alerts import Alerts
from config.model.cluster import (
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
from config.model.release import Override, Release
from config.model.scheduling import Scheduling
from config.model.spec import ClusterSpec
from config.model.workloads import Workloads
from config.rules.draft import Draft
from config.stack_file import mended_file, objects, secrets, top_keys
from config.stack_file.follow_ups import (
    independent,
    joined,
    once_a_list,
    once_an_object,
    shown,
    with_machines,
    with_other_setting,
)
from config.stack_file.hints import Hints
from config.stack_file.mended_file import MendedFile
from config.stack_file.mending import Mended
from config.stack_file.secrets import IsSecret
from config.stack_file.shapes import respelled

M = TypeVar("M", bound=Model)

PREFIX = "kubeflow-spot:"
"""Pulumi's namespace of this program, which goes before a top key in a stack file."""

_REQUIRED = ("release", "cloud")
_REQUIRED_FOR_A_NEW_CLUSTER = ("cluster", "systemPool")
_OF_KUBERNETES = ("apiVersion", "kind", "metadata", "status")
"""Keys around the settings of an object of Kubernetes."""
_SMALLEST = ("release", "cluster", "cloud", "systemPool", "pools")
"""The keys of a small stack."""


def read_stack(
    raw: Mapping[str, Any],
    stack: str = "",
    *,
    prefix: str = PREFIX,
    is_secret: IsSecret | None = None,
    outside: Mapping[str, Any] = MappingProxyType({}),
    unread: Mapping[str, Any] = MappingProxyType({}),
    others: Collection[str] = (),
    accepts_examples: bool | None = None,
) -> tuple[ClusterSpec | None, list[Problem]]:
    """Check a stack file's settings: one value for each top key. `stack` is the stack's name.

    `prefix` goes before the top keys in messages. `is_secret` tells which settings came as Pulumi
    secrets; without it none is refused as clear text. `outside` are settings that stand in the
    file where Pulumi drops them, `unread` all else there, `others` the keys of other programs and providers there.
    `accepts_examples`: warn of values that our pages show instead of
    refusing them; None: look only for ranges of callers, and warn.

    Return the spec, or None after an error, and all errors and warnings sorted by path.
    """
    raw, beyond = bounds.drop_out_of_bounds(raw)
    outside, beyond_outside = bounds.drop_out_of_bounds(outside)
    file = _File(raw, outside, prefix)
    draft = file.draft(is_production(stack), accepts_examples)
    # For another cloud neither rules nor required keys are known.
    of_ours = not registry.is_another(_provider(file.settings))
    beside = [*_unread(unread)]
    lacks = _missing(file, draft) if of_ours and all(each.warning for each in beside) else ()
    problems = [*file.problems, *beside, *lacks]
    problems += secrets.secret_problems(
        file.settings, file.types, is_secret, prefix, file.mended.as_written
    )
    by_rules = _rule_problems(file, draft) if of_ours else []
    problems = joined(problems + file.reading.problems(), by_rules, file.reading)
    problems = [with_other_setting(each, others) for each in problems]
    problems = with_machines(problems, file.settings, file.registration)
    unknown = tuple(f"{each.path}." for each in problems if each.what == wording.NOT_A_KEY)
    beyond = [each for each in beyond if not each.path.startswith(unknown)]
    problems = shown(
        once_an_object(once_a_list(bounds.drop_repeats(problems, beyond + beyond_outside)))
    )
    if any(not problem.warning for problem in problems):
        return None, problems
    return draft.spec(), problems


def mend(
    raw: Mapping[str, Any],
    problems: Collection[Problem],
    stack: str = "",
    *,
    prefix: str = PREFIX,
    outside: Mapping[str, Any] = MappingProxyType({}),
    accepts_examples: bool | None = None,
) -> MendedFile:
    """Return what a file with these `problems` reads when all are mended: the objects of which a
    message tells more than a short change, and further problems. The other parameters are those of
    `read_stack`.
    """
    file = _File(bounds.drop_out_of_bounds(raw)[0], bounds.drop_out_of_bounds(outside)[0], prefix)

    def read(settings: dict[str, Any]) -> list[Problem]:
        found = read_stack(settings, stack, prefix=prefix, accepts_examples=accepts_examples)[1]
        return [each for each in found if not each.warning]

    ours = {
        user: place
        for place, user in sorted(file.mended.written.items(), key=lambda pair: -len(pair[0]))
    }
    errors = [_in_our_words(each, ours) for each in problems if not each.warning]
    written = {**file.raw, **outside}
    mended = mended_file.mended_file(written, file.settings, file.types, prefix, errors, read)
    further = [replace(each, path=file.mended.as_written(each.path)) for each in mended.further]
    of_examples = {each.path for each in problems if wording.OF_AN_EXAMPLE in each.what}
    return replace(mended, further=tuple(each for each in further if each.path not in of_examples))


def _in_our_words(problem: Problem, ours: dict[str, str]) -> Problem:
    """Return a problem whose path leads through our objects to the key that the file has."""
    around, *key = re.split(r'(?=\.\w+$|\["[^"]*"\]$)', problem.path)
    return replace(problem, path=respelled(around, ours) + "".join(key))


class _File:
    """A file's settings by their right keys, misspellings mended, and the problems of reading."""

    def __init__(self, raw: Mapping[str, Any], outside: Mapping[str, Any], prefix: str) -> None:
        self.raw, self.prefix = raw, prefix
        self.problems: list[Problem] = []
        self.reading = objects.Reading()
        self.mended = self.reading.mended
        self.mended.file, self.mended.types = raw, top_keys.top_key_types(None)
        settings = top_keys.read_top_keys(raw, outside, prefix, self.mended)
        top_keys.take_system_pool(settings, prefix, self.mended)
        self.registration = _registration(settings, self.mended)
        self.types = types = top_keys.top_key_types(self.registration)
        if self.registration:
            self.mended.own_taints = {each.key for each in self.registration.traits.spot_taints}
        self.mended.hint = Hints(self.registration, types, prefix)
        self.mended.hint.given, self.mended.types, self.mended.file = settings, types, settings
        lists = [key for key, type in types.items() if get_origin(type) is tuple]
        self.mended.examples = {key: _example(key, settings) for key in lists}
        self.settings = {
            key: self.mended.value(value, types[key], key) for key, value in settings.items()
        }
        self.mended.settle(self.settings)

    def draft(self, production: bool, accepts_examples: bool | None) -> Draft:
        """Read each top key by itself."""
        release = self._release() if "release" in self.settings else None
        cloud = (
            self.reading.object(self.settings.get("cloud"), self.registration.settings, "cloud")
            if self.registration
            else None
        )
        pools = self._items("pools", registry.pool_model())
        written = self.settings.get("pools", [])
        return Draft(
            release,
            self._object("cluster", Cluster),
            cloud,
            self._object("systemPool", registry.system_pool_model()),
            pools,
            all_pools=isinstance(written, list) and len(pools) == len(written),
            unread_pools=len(written) - len(pools) if isinstance(written, list) else 0,
            makes_cluster=not _exists_already(self.settings.get("cloud"), self.registration),
            image_pull_secrets=self._items("imagePullSecrets", ImagePullSecret),
            device_plugin=self._object("devicePlugin", DevicePluginOptions),
            dcgm_exporter=self._object("dcgmExporter", DcgmExporter),
            expander=self._object("expander", ExpanderOptions),
            growth=self._object("growth", Growth),
            scheduling=self._object("scheduling", Scheduling),
            workloads=self._object("workloads", Workloads),
            queueing=self._object("queueing", Queueing),
            # A key of `cloud` is judged by it: an unreadable object is no missing one.
            alerts=self._object("alerts", Alerts)
            or (objects.unreadable(Alerts) if "alerts" in self.settings else None),
            overrides=self._items("overrides", Override),
            production=production,
            accepts_examples=accepts_examples,
        )

    def _object(self, key: str, model: type[M]) -> M | None:
        """Return the object of a top key; None if the file has none."""
        return self.reading.object(self.settings[key], model, key) if key in self.settings else None

    def _items(self, key: str, model: type[M]) -> dict[int, M]:
        """Return the readable objects of a list, by index."""
        value = self.settings.get(key, [])
        if not isinstance(value, list):
            what, remedy = wrong_shape.not_a_list(value, _example(key, self.settings))
            self.problems.append(Problem(key, what, remedy))
            return {}
        items = {
            index: self.reading.object(item, model, f"{key}[{index}]")
            for index, item in enumerate(value)
        }
        return {index: item for index, item in items.items() if item is not None}

    def _release(self) -> Release | None:
        value = self.settings["release"]
        if releases.known(value):
            try:
                return releases.load(value)
            except releases.Refused as refused:
                self.problems.append(refused.problem)
                return None
        self.problems.append(releases.unknown(value))
        return None


def _provider(settings: Mapping[str, Any]) -> object:
    """Return the provider as written; None without one."""
    cloud = settings.get("cloud")
    return cloud.get("provider") if isinstance(cloud, dict) else None


def _registration(settings: dict[str, Any], mended: Mended) -> Registration | None:
    """Return the file's cloud; after a wrong provider the likely one, which `settings` then has."""
    if "cloud" not in settings:
        return None
    cloud, path, clouds = settings["cloud"], "cloud", registry.registrations()
    in_a_list = isinstance(cloud, list) and len(cloud) == 1
    if in_a_list:
        cloud, path = cloud[0], "cloud[0]"  # reading the object reports the list
    if not isinstance(cloud, dict):
        what = f"is {wrong_shape.type_in_words(cloud)}, not an object"
        shown = [f"`{cloud.examples['cloud']}`" for cloud in clouds if "cloud" in cloud.examples]
        mended.problems.append(Problem("cloud", what, f"write {', or '.join(shown)}"))
        return None
    around = [key for key, each in cloud.items() if isinstance(each, dict) and "provider" in each]
    if around and "provider" not in cloud:  # reading `cloud` reports what stands around it
        cloud = {**cloud, "provider": cloud[around[0]]["provider"]}
        settings["cloud"] = [cloud] if in_a_list else cloud
    written = cloud.get("provider")
    registration = registry.registration(written)
    if registration and (other := top_keys.of_another_cloud(registration, cloud, settings)):
        what = f"is {written}, and all machines are {other.traits.title}'s"
        remedy = f"write `provider: {other.provider}`; or machines of {registration.traits.title}"
        mended.problems.append(Problem(mended.as_written(f"{path}.provider"), what, remedy))
        guessed = {**cloud, "provider": other.provider}
        settings["cloud"] = [guessed] if in_a_list else guessed
        return other
    if registration is None:
        words = wrong_shape.shown if isinstance(written, str) else wrong_shape.type_in_words
        what = f"is {words(written)}" if "provider" in cloud else "is missing"
        registration = top_keys.likely_provider(cloud, settings)
        guess = f"did you mean `{registration.provider}`? " if registration else ""
        remedy = f"{guess}one of: {', '.join(each.provider for each in clouds)}"
        if registry.is_another(written):
            remedy += "; `existing` takes the kubeconfig of any cluster, the others make one"
        mended.problems.append(Problem(mended.as_written(f"{path}.provider"), what, remedy))
        if registration:
            guessed = {**cloud, "provider": registration.provider}
            settings["cloud"] = [guessed] if in_a_list else guessed
            mended.guessed.add("cloud")
    return registration


def _exists_already(cloud: Any, registration: Registration | None) -> bool:
    """Return whether the settings are about an existing cluster, readable or not."""
    if not isinstance(cloud, dict):
        return False
    makes_pools = registration is None or registration.traits.makes_pools
    return "existingCluster" in cloud or not makes_pools


def _unread(unread: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield the problems of keys beside `config`, such as those of a Kubernetes object."""
    what = "is not read: of a stack file Pulumi reads `config` alone"
    for key, value in unread.items():
        keys = {str(each) for each in value} if isinstance(value, dict) else set()
        holds = {each.rpartition(":")[2] for each in keys} & top_keys.EXAMPLES.keys()
        prefixed = any(":" in each for each in keys)
        remedy = "write `config:` in its place"
        remedy += "" if prefixed else ", and `kubeflow-spot:` before each key below it"
        other = "remove it" + "; nothing is merged in from another file" * (
            key not in _OF_KUBERNETES
        )
        yield Problem(key, what, remedy if holds else other, warning=not holds)


def _missing(file: _File, draft: Draft) -> Iterator[Problem]:
    prefix = file.prefix
    if not file.settings:
        example = "".join(f"\n      {prefix}{key}: {_example(key, {})}" for key in _SMALLEST)
        yield Problem("config", "holds no settings of this program", f"write for example{example}")
        return
    for key in _REQUIRED + (_REQUIRED_FOR_A_NEW_CLUSTER if draft.makes_cluster else ()):
        told = any(f"`{prefix}{key}: " in each.remedy for each in file.mended.problems)
        if key not in file.settings and not told:
            example = f"`{prefix}{key}: {_example(key, file.settings)}`"
            yield Problem(key, "is missing", f"write for example {example}")


def _example(key: str, settings: Mapping[str, Any]) -> str:
    """Return an example of a top key, in the words of the file's cloud."""
    cloud = settings.get("cloud")
    own = registry.registration(cloud.get("provider")) if isinstance(cloud, dict) else None
    by_default = {**top_keys.EXAMPLES, **registry.registrations()[0].examples}
    examples = {**by_default, **(own.examples if own else {})}
    return examples[key].replace("{latest}", releases.names()[-1])


def _rule_problems(file: _File, draft: Draft) -> list[Problem]:
    found, reading = rules.run_rules(draft), file.reading
    return [reading.of_rule(each) for each in independent(found, reading)]
