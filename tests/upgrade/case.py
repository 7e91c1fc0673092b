"""Upgrade cases: a running stack is changed step by step, and each step names exactly the engine's steps.

`cases_aks.yaml` and `cases_gke.yaml` have the stack file with which cases start, and under each case's name its steps. The first
step is the start of the case, the others are changes and their effects:

    change:                     laid over the step before, the first over the start of the cloud
      pools: {t4: {maxNodes: 9}}    pools by their names; null removes a key or a pool
    program: KubeflowCluster("platform", spec)    instead of the cluster that `__main__.py` declares: the program itself changes
    steps:                      every step but `same`, in any order; one for each word in braces
      - update AgentPool ml-up-{t4,general} [maxCount]    with the changed properties, for resources of the cloud
      - update ConfigMap ml-up-contract                   any properties
      - replace AgentPool ml-up-t4 [spotMaxPrice], deleted first
    in_turn: [AgentPool ml-up-t4, ...]      each of these steps begins after the one before has ended
    refused: [...]              instead of `steps`: parts of the errors; no step begins
    would: {create: 30}         instead of `steps`: the number of steps of a preview by operation; nothing is applied
    new: true                   the case begins on a new stack, because an existing one could not go back to its first step
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
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
    """The steps of one name; the first is the start."""

    name: str
    steps: tuple[Step, ...]

    @property
    def cloud(self) -> str:
        return self.name.partition("-")[0]


def cases(cloud: str) -> list[Case]:
    """Return all cases on a cloud.

    Those that begin on a new stack come first, then those that begin with an earlier program, and last those that leave a
    changed program.
    """
    cases = [case(f"{cloud}-{name}") for name in _table(cloud)["cases"]]
    return sorted(
        cases,
        key=lambda case: (
            not case.steps[0].new,
            case.steps[-1].program != PROGRAM,
            case.steps[0].program == PROGRAM,
            case.name,
        ),
    )


def case(name: str) -> Case:
    """Return the case of a name such as `aks-release`."""
    cloud, _, own = name.partition("-")
    table = _table(cloud)
    return Case(name, tuple(walked(name, table["start"], table["cases"][own])))


@cache
def _table(cloud: str) -> Any:
    return yaml.safe_load((FOLDER / f"cases_{cloud}.yaml").read_text())


def walked(name: str, config: Config, rows: Iterable[dict[str, Any]]) -> Iterator[Step]:
    """Return the steps of a case that begins with these settings. Raises ValueError for an unknown key."""
    assert PROGRAM.count(DECLARED) == 1
    for number, row in enumerate(rows, start=1):
        if unknown := row.keys() - {"change", "program", "steps", "in_turn", "refused", "would", "new"}:
            raise ValueError(f"{name}, step {number}: {', '.join(sorted(unknown))}")
        config = changed(config, row.get("change") or {})
        program = PROGRAM.replace(DECLARED, row.get("program", DECLARED))
        steps, in_turn = (spread(row.get(key, ())) for key in ("steps", "in_turn"))
        refused, would = listed(row.get("refused", ())), Counter(row.get("would"))
        yield Step(config, program, steps, refused, would, row.get("new", False), in_turn)


def listed(value: str | Iterable[str]) -> tuple[str, ...]:
    """Return the lines of a key, of which one may stand alone."""
    return (value,) if isinstance(value, str) else tuple(value)


def spread(value: str | Iterable[str]) -> tuple[str, ...]:
    """Return the steps of a key: one for each word in braces."""
    steps: list[str] = []
    for line in listed(value):
        head, begin, rest = line.partition("{")
        words, _, tail = rest.partition("}")
        steps += [f"{head}{word}{tail}" for word in words.split(",")] if begin else [line]
    return tuple(steps)


def changed(config: Any, change: Any) -> Any:
    """Return settings with a change laid over them: objects key by key, lists of named objects by name; null removes."""
    if not isinstance(change, dict):
        return change
    if isinstance(config, list):
        change = {name: item and {"name": name, **item} for name, item in change.items()}
        return list(changed({item["name"]: item for item in config}, change).values())
    before = config or {}
    laid = before | {key: changed(before.get(key), value) for key, value in change.items()}
    return {key: value for key, value in laid.items() if value is not None}


def lines(steps: Iterable[dict[str, Any]], like: Iterable[str] = ()) -> list[str]:
    """Return steps of `sandbox up --json` in the form of the cases, sorted; without properties where `like` has none.

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
