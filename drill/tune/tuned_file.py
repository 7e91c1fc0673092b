"""The change of a stack file for tuned settings; comments and layout stay."""

from __future__ import annotations

import difflib
import io
from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML

from drill.in_memory.stack import Stack
from drill.tune.tune import Setting

_PREFIX = "kubeflow-spot:"


def difference(
    text: str, path: str, setting: Setting, stack: Stack, sources: Mapping[str, str]
) -> str:
    """Return the unified difference of a stack file, for `git apply`; empty without changes.

    `sources` has the stack file's pool of each pool.
    """
    after = tuned_text(text, setting, stack, sources)
    lines = difflib.unified_diff(
        text.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{path}", f"b/{path}"
    )
    return "".join(lines)


def tuned_text(text: str, setting: Setting, stack: Stack, sources: Mapping[str, str]) -> str:
    """Return the text of a stack file with tuned settings."""
    yaml = YAML()
    yaml.preserve_quotes, yaml.width = True, 4096
    yaml.indent(mapping=2, sequence=4, offset=2)
    content = yaml.load(text)
    config = content["config"]
    most = {pool.name: pool.most for pool in stack.pools}
    for name, size in setting.most:
        if size != most[name]:
            _twin(config[f"{_PREFIX}pools"], sources[name], size)
    if setting.times:
        cloud = config[f"{_PREFIX}cloud"]
        cloud.setdefault("autoscaler", {}).update(dict(setting.times))
    if setting.consolidation:
        fallback = config[f"{_PREFIX}cloud"].setdefault("fallback", {})
        fallback["consolidationDelayMinutes"] = setting.consolidation
    if setting.order:
        with_gpus = {pool.name for pool in stack.pools if pool.gpus}
        order = [name for name in setting.order if name in with_gpus]
        config.setdefault(f"{_PREFIX}growth", {})["order"] = order
    out = io.StringIO()
    yaml.dump(content, out)
    return out.getvalue()


def _twin(pools: list[Any], source: str, size: int) -> None:
    """Give a pool's on-demand step a maximum."""
    pool = next(each for each in pools if each["name"] == source)
    steps = [step for step in pool.get("fallback") or () if "onDemand" in step]
    if steps:
        steps[0]["onDemand"]["maxNodes"] = size
    else:
        pool["maxNodes"] = size
