"""Upgrade cases, one a folder: a running stack is changed step by step, and each step names exactly the engine's steps.

`<case>/step1.yaml` is the start of the case; `step2.yaml` and the following files are the changes and their effects:

    change:                     laid over the step before; the first over `aks.yaml` or `gke.yaml`, by the name of the case
      pools: {t4: {maxNodes: 9}}    pools by their names; null removes a key or a pool
    program: KubeflowCluster("platform", spec)    instead of the cluster that `__main__.py` declares: the program itself changes
    steps:                      every step but `same`, in any order
      - update AgentPool ml-up-t4 [maxCount]    with the changed properties, for resources of the cloud
      - update ConfigMap ml-up-contract         any properties
      - replace AgentPool ml-up-t4 [spotMaxPrice], deleted first
    in_turn: [AgentPool ml-up-t4, ...]      each of these steps begins after the one before has ended
    refused: [...]              instead of `steps`: parts of the errors; no step begins
    would: {create: 30}         instead of `steps`: the number of steps of a preview by operation; nothing is applied
    new: true                   the case begins on a new stack, because an existing one could not go back to its first step
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
PROJECT = FOLDER.parents[1]
PROGRAM = (PROJECT / "__main__.py").read_text()
DECLARED = "KubeflowCluster(spec.name, spec)"

Config = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One state of the stack, and the steps to it."""

    config: Config
    program: str
    steps: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    would: Counter[str] = field(default_factory=Counter)
    new: bool = False
    in_turn: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """The steps of one folder; the first is the start."""

    name: str
    steps: tuple[Step, ...]

    @property
    def cloud(self) -> str:
        return self.name.partition("-")[0]


def cases(cloud: str) -> list[Case]:
    """All cases on a cloud by name: first those that begin on a new stack, last those that leave a changed program."""
    cases = [read(folder) for folder in FOLDER.glob(f"{cloud}-*")]
    return sorted(cases, key=lambda case: (not case.steps[0].new, case.steps[-1].program != PROGRAM, case.name))


def read(folder: Path) -> Case:
    """The case in a folder. Raises ValueError for an unknown key."""
    assert PROGRAM.count(DECLARED) == 1
    base = yaml.safe_load((FOLDER / f"{folder.name.partition('-')[0]}.yaml").read_text())["config"]
    config = {key.removeprefix("kubeflow-spot:"): value for key, value in base.items()}
    steps = []
    for number in range(1, len(list(folder.glob("step*.yaml"))) + 1):
        step = yaml.safe_load((folder / f"step{number}.yaml").read_text()) or {}
        if unknown := step.keys() - {"change", "program", "steps", "in_turn", "refused", "would", "new"}:
            raise ValueError(f"{folder.name}/step{number}.yaml: {', '.join(sorted(unknown))}")
        config = changed(config, step.get("change") or {})
        program = PROGRAM.replace(DECLARED, step.get("program", DECLARED))
        expected = {key: tuple(step.get(key) or ()) for key in ("steps", "refused", "in_turn")}
        steps.append(Step(config, program, would=Counter(step.get("would")), new=step.get("new", False), **expected))
    return Case(folder.name, tuple(steps))


def changed(config: Any, change: Any) -> Any:
    """Settings with a change laid over them: objects key by key, lists of named objects by name; null removes."""
    if not isinstance(change, dict):
        return change
    if isinstance(config, list):
        change = {name: item and {"name": name, **item} for name, item in change.items()}
        return list(changed({item["name"]: item for item in config}, change).values())
    before = config or {}
    laid = before | {key: changed(before.get(key), value) for key, value in change.items()}
    return {key: value for key, value in laid.items() if value is not None}


def lines(steps: Iterable[dict[str, Any]], like: Iterable[str] = ()) -> list[str]:
    """Steps of `sandbox up --json` in the form of the cases, sorted; without properties where `like` has none.

    The parts of a replacement are one line.
    """
    ops: dict[str, list[str]] = {}
    shown: dict[str, dict[str, Any]] = {}
    for step in steps:
        ops.setdefault(step["urn"], []).append(step["op"])
        # Only this part of a replacement has the properties.
        if step["op"] == "replace" or step["urn"] not in shown:
            shown[step["urn"]] = step
    return sorted(_line(ops[urn], step, set(like)) for urn, step in shown.items())


def _line(ops: list[str], step: dict[str, Any], like: set[str]) -> str:
    type = "component" if step["type"].startswith("kubeflow-spot:") else step["type"].rpartition(":")[2]
    title = f"{'replace' if 'replace' in ops else ' and '.join(ops)} {type} {step['name']}"
    if title in like and "replace" not in ops:
        return title
    first = "replace" in ops and ops.index("delete-replaced") < ops.index("create-replacement")
    properties = f" [{', '.join(step['diff'])}]" if step["diff"] else ""
    return f"{title}{properties}{', deleted first' if first else ''}"
