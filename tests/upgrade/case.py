"""Cases of this folder: a stack that is up is changed step by step, and each step says exactly what the engine does.

`<case>/step1.yaml` says where the case begins, `step2.yaml` and those after it what changes and what the engine then does:

    change:                     laid over the step before; the first over `aks.yaml` or `gke.yaml`, by the name of the case
      pools: {t4: {maxNodes: 9}}    pools by their names; what is null goes
    program: KubeflowCluster("platform", spec)    instead of the cluster that `__main__.py` declares: the program itself changes
    steps:                      every step but `same`, in any order
      - update AgentPool ml-up-t4 [maxCount]    what the cloud sells with the properties that change
      - update ConfigMap ml-up-contract         any properties
      - replace AgentPool ml-up-t4 [spotMaxPrice], deleted first
    in_turn: [AgentPool ml-up-t4, ...]      of these steps each begins after the one before has ended
    refused: [...]              instead of `steps`: what the errors say; no step is begun
    would: {create: 30}         instead of `steps`: how many of each a preview shows; nothing is applied
    new: true                   of a case that begins on no stack that was there before, as it could not go back to that state
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
    """One state of the stack, and how it is reached."""

    config: Config
    program: str
    steps: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    would: Counter[str] = field(default_factory=Counter)
    new: bool = False
    in_turn: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """The steps of one folder; the first is where it begins."""

    name: str
    steps: tuple[Step, ...]

    @property
    def cloud(self) -> str:
        return self.name.partition("-")[0]


def cases(cloud: str) -> list[Case]:
    """All cases on a cloud by name; first those that begin on a new stack, last those after which one is needed."""
    found = [read(folder) for folder in FOLDER.glob(f"{cloud}-*")]
    return sorted(found, key=lambda case: (not case.steps[0].new, case.steps[-1].program != PROGRAM, case.name))


def read(folder: Path) -> Case:
    """The case in a folder. Raises ValueError for a key that means nothing."""
    assert PROGRAM.count(DECLARED) == 1
    base = yaml.safe_load((FOLDER / f"{folder.name.partition('-')[0]}.yaml").read_text())["config"]
    config = {key.removeprefix("kubeflow-spot:"): value for key, value in base.items()}
    steps = []
    for number in range(1, len(list(folder.glob("step*.yaml"))) + 1):
        said = yaml.safe_load((folder / f"step{number}.yaml").read_text()) or {}
        if unknown := said.keys() - {"change", "program", "steps", "in_turn", "refused", "would", "new"}:
            raise ValueError(f"{folder.name}/step{number}.yaml: {', '.join(sorted(unknown))}")
        config = changed(config, said.get("change") or {})
        program = PROGRAM.replace(DECLARED, said.get("program", DECLARED))
        expected = {key: tuple(said.get(key) or ()) for key in ("steps", "refused", "in_turn")}
        steps.append(Step(config, program, would=Counter(said.get("would")), new=said.get("new", False), **expected))
    return Case(folder.name, tuple(steps))


def changed(config: Any, change: Any) -> Any:
    """Settings with a change laid over them: objects key by key, lists of named objects by name, what is null goes."""
    if not isinstance(change, dict):
        return change
    if isinstance(config, list):
        change = {name: item and {"name": name, **item} for name, item in change.items()}
        return list(changed({item["name"]: item for item in config}, change).values())
    before = config or {}
    laid = before | {key: changed(before.get(key), value) for key, value in change.items()}
    return {key: value for key, value in laid.items() if value is not None}


def told(steps: Iterable[dict[str, Any]], like: Iterable[str] = ()) -> list[str]:
    """Steps of `sandbox up --json` as cases write them, sorted; without properties where `like` has the step so.

    The parts of a replacement are one.
    """
    ops: dict[str, list[str]] = {}
    shown: dict[str, dict[str, Any]] = {}
    for step in steps:
        ops.setdefault(step["urn"], []).append(step["op"])
        # Of the parts of a replacement this one has the properties.
        if step["op"] == "replace" or step["urn"] not in shown:
            shown[step["urn"]] = step
    return sorted(_line(ops[urn], step, set(like)) for urn, step in shown.items())


def _line(ops: list[str], step: dict[str, Any], like: set[str]) -> str:
    kind = "component" if step["type"].startswith("kubeflow-spot:") else step["type"].rpartition(":")[2]
    title = f"{'replace' if 'replace' in ops else ' and '.join(ops)} {kind} {step['name']}"
    if title in like and "replace" not in ops:
        return title
    first = "replace" in ops and ops.index("delete-replaced") < ops.index("create-replacement")
    properties = f" [{', '.join(step['diff'])}]" if step["diff"] else ""
    return f"{title}{properties}{', deleted first' if first else ''}"
