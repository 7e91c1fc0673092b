"""The top keys of a stack file: their types, and the settings by their right keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Union

import yaml

from config.base.near import bare, nearest
from config.base.problems import Problem, as_path
from config.clouds import registry
from config.clouds.registry import Registration
from config.model.alerts import Alerts
from config.model.cluster import (
    Cluster,
    DcgmExporter,
    DevicePluginOptions,
    ExpanderOptions,
    Growth,
    ImagePullSecret,
    Queueing,
)
from config.model.fields import alternatives
from config.model.release import Override
from config.model.scheduling import Scheduling
from config.model.structure import by_key, holds_secret
from config.model.workloads import Workloads
from config.stack_file.hints import Hints
from config.stack_file.mending import Mended
from config.stack_file.places import field_in
from config.stack_file.written_out import in_flow

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
    "alerts": "{hourlyBudget: 12.5}",
    "overrides": '[{pin: kubernetesVersion, value: "1.35", reason: our Istio is tested up to 1.35}]',
}
"""Every top key and its example; `{latest}` is the newest release, "" each cloud's own."""


_SAME_NAMESPACE = 0.9
"""The likeness from which a namespace is the project's with a letter or two wrong."""


def top_key_types(cloud: Registration | None) -> dict[str, Any]:
    """Return the type of each top key, None for a text; any cloud's settings without `cloud`."""
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
        "alerts": Alerts,
        "overrides": tuple[Override, ...],
    }


def own_setting(key: str, project: str) -> str | None:
    """Return the program's own name of a key of Pulumi's configuration; None for another program's
    key.

    A key in a misspelt namespace of ours keeps it. Other programs have similar namespaces
    (`kubeflow`, kubeflow-spot-eu): their keys, and all that are unlike ours, are theirs.
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


def read_top_keys(
    raw: Mapping[str, Any], outside: Mapping[str, Any], prefix: str, mended: Mended
) -> dict[str, Any]:
    """Return the settings by their right keys; read a wrong key as the one that it means."""
    raw = _raised(raw, prefix, mended)
    settings = {key: value for key, value in raw.items() if key in EXAMPLES}
    whole = _with_dotted(raw, prefix, mended)
    settings |= whole
    hints = Hints(None, top_key_types(None), prefix)
    for key, value in [*raw.items(), *outside.items()]:
        if key.partition(".")[0] in whole and key not in EXAMPLES:
            continue
        namespace, _, name = key.rpartition(":")
        if key in settings and key not in outside:
            continue
        if isinstance(value, dict) and f"{key}:" == prefix:
            remedy = (
                f"write each with the prefix, such as `{prefix}release: ...`, beside the others"
            )
            mended.problems.append(Problem(key, "is an object around the settings", remedy))
            inside = {name: value[name] for name in EXAMPLES.keys() & value.keys()}
            settings |= inside
            mended.written |= {name: f"{key}.{name}" for name in inside}
            continue
        remedy, target = (
            (f"write `{prefix}{name}`", name)
            if name in EXAMPLES
            else hints.of_the_file(name, settings, value)
        )
        what = "is not a setting of this program"
        dotted = name.removeprefix(f"{prefix[:-1]}.")
        if dotted != name and dotted in EXAMPLES:
            remedy, target = f"write `{prefix}{dotted}`, with a colon", dotted
        elif re.match(r"\w+[.\[]", name):
            what = "is one key, with dots or brackets in its name"
            remedy = (
                f"remove it, and write its value inside `{prefix}{re.split(r'[.[]', name)[0]}`, as "
                "`pulumi config set --path` does"
            )
        above = re.fullmatch(rf"its place is `(\w+)\.{re.escape(name)}`", remedy)
        if above and raw.get(above[1], 0) is None:
            remedy = f"indent it below `{prefix}{above[1]}:`"
        lacking = [
            top
            for top in re.findall(rf"`(\w+)\.{re.escape(name)}`", remedy)
            if isinstance(raw.get(top), dict) and name not in raw[top]
        ]
        if " or `" in remedy and len(lacking) == 1:
            remedy, target = f"indent it below `{prefix}{lacking[0]}:`", f"/{lacking[0]}.{name}"
        if key in outside and not raw and mended.problems:
            settings.setdefault(name, value)
            continue  # one message is enough for a file without `config:`
        if key in outside:
            what = "stands beside `config`, where Pulumi drops it"
            how = (
                "move it below `config:`, indented as the settings there"
                if raw
                else "write `config:` above it, and indent all settings"
            )
            how += f", each after `{prefix}`" * (not raw and not namespace)
            remedy = how if key in (name, f"{prefix}{name}") else f"{how}; {remedy}"
            what = what if raw else "stands in a file without `config:`"
        elif namespace:
            what = f"is in the namespace {namespace}, which this program does not read"
        path = as_path(key) if re.search(r"[.\[]", key) else key
        if target and target.startswith("/"):
            mended.elsewhere(path, target[1:], value, remedy, what)
            continue
        mended.problems.append(Problem(path, what, remedy))
        if target and target not in settings:
            settings[target] = value
            mended.written[target] = key
    return settings


def _raised(raw: Mapping[str, Any], prefix: str, mended: Mended) -> dict[str, Any]:
    """Return the settings with each top key that stands inside another, indented too deep, beside
    it.
    """
    right = dict(raw)

    def without_top_keys(value: Any, path: str, top: str) -> Any:
        if isinstance(value, list):
            return [
                without_top_keys(each, f"{path}[{index}]", top) for index, each in enumerate(value)
            ]
        if not isinstance(value, dict):
            return value
        kept = {}
        for key, item in value.items():
            name, where = str(key).removeprefix(prefix), path + as_path(str(key))
            if name == key or name not in EXAMPLES:
                kept[key] = without_top_keys(item, where, top)
                continue
            what = f"stands inside `{prefix}{top}`: it is indented too deep"
            remedy = f"begin it in the column of `{prefix}{top}`, and move what is below it as far"
            if name in right:
                remedy = f"remove it: `{key}` stands there already"
            mended.problems.append(Problem(where, what, remedy))
            if name not in right:
                right[name] = without_top_keys(item, where, top)
                mended.written[name] = where
        return kept

    for top, value in raw.items():
        right[top] = without_top_keys(value, top, top)
    return right


def _with_dotted(raw: Mapping[str, Any], prefix: str, mended: Mended) -> dict[str, Any]:
    """Return each top key of which keys with dots, such as `cluster.name`, set a part, as it is
    with that part in its place.
    """
    types = top_key_types(None)
    parts: dict[str, list[str]] = {}
    for key in raw:
        top = key.partition(".")[0]
        known = top in EXAMPLES and re.fullmatch(r"\w+(\.\w+)+", key)
        field = field_in(types, key)
        hidden = field is not None and holds_secret(field.annotation)
        if known and isinstance(raw.get(top, {}), dict) and not hidden:
            parts.setdefault(top, []).append(key)
    whole: dict[str, Any] = {}
    for top, keys in parts.items():
        new: dict[str, Any] = {}
        for key in keys:
            mended.written[key] = as_path(key)
            field, value = field_in(types, key), raw[key]
            if isinstance(value, str) and field and str not in alternatives(field.annotation):
                value = yaml.safe_load(value)  # `pulumi config set` writes texts
            around, (*outer, last) = new, key.split(".")[1:]
            for name in outer:
                around = around.setdefault(name, {})
            around[last] = value
        whole[top] = _laid_over(raw.get(top) or {}, new)
        first, *others = keys
        text = in_flow(new, None)
        remedy = f"write `{prefix}{top}: {text}`"
        if raw.get(top):
            each = (f"`{key}: {in_flow(value, None)}`" for key, value in new.items())
            remedy = f"write {', '.join(each)} under `{prefix}{top}`"
        if text is None:
            remedy = f"write what it holds inside `{prefix}{top}`"
        remedy += f" in {'their' if others else 'its'} place, as `pulumi config set --path` does"
        what = (
            "is one key, with dots in its name"
            + f"; so {'are' if len(others) > 1 else 'is'} {', '.join(others)}" * bool(others)
        )
        mended.problems.append(Problem(as_path(first), what, remedy))
    return whole


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with the keys of another, `above`, whose values count."""
    both = dict(below)
    for key, value in above.items():
        there = both.get(key)
        if isinstance(there, dict) and isinstance(value, dict):
            both[key] = _laid_over(there, value)
        else:
            both[key] = value
    return both


def take_system_pool(settings: dict[str, Any], prefix: str, mended: Mended) -> None:
    """Read the entry of `pools` that other tools mark as the system pool as this file's."""
    pools = settings.get("pools")
    if "systemPool" in settings or not isinstance(pools, list):
        return
    for index, pool in enumerate(pools):
        mode = pool.get("mode") if isinstance(pool, dict) else None
        if not isinstance(mode, str) or mode.lower() != "system":
            continue
        remedy = f"move it to `{prefix}systemPool`, without its dash, `name` and `mode`"
        what = "is the system pool, which has its own setting"
        mended.problems.append(Problem(f"pools[{index}]", what, remedy))
        kept = {key: value for key, value in pool.items() if key not in ("name", "mode")}
        settings["systemPool"], settings["pools"] = kept, [*pools[:index], *pools[index + 1 :]]
        mended.written["systemPool"] = f"pools[{index}]"
        moved = range(index, len(pools) - 1)
        mended.written |= {f"pools[{place}]": f"pools[{place + 1}]" for place in moved}
        return


def of_another_cloud(
    cloud: Registration, written: Mapping[str, Any], settings: Mapping[str, Any]
) -> Registration | None:
    """Return the cloud that all machines of a file are of, if it is another than its provider, and
    what is `written` under `cloud` has a key of it alone.
    """
    pools = settings.get("pools")
    listed = [settings.get("systemPool"), *(pools if isinstance(pools, list) else [])]
    sizes = [each.get("machine") for each in listed if isinstance(each, dict)]
    makers = {registry.with_machine(size) if isinstance(size, str) else None for size in sizes}
    if len(sizes) < _SEVERAL or len(makers) != 1 or not cloud.traits.makes_pools:
        return None
    (maker,) = makers
    other = (each for each in registry.registrations() if each.traits is maker)
    own = by_key(cloud.settings).keys()
    keys = written.keys() - own
    return next((each for each in other if keys & by_key(each.settings).keys()), None)


_SEVERAL = 3
"""Machines of a file that tell its cloud."""


def likely_provider(cloud: Mapping[str, Any], settings: Mapping[str, Any]) -> Registration | None:
    """Return the cloud that a file with a wrong or missing provider means; None if unknown."""
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
    if isinstance(written, str) and registry.is_another(written):
        return None
    return named or registry.most_alike(sizes)
