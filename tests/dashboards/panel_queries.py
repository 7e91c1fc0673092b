"""Queries of the dashboards' files, and what promtool answers them on a drill's samples."""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

from drill.metrics.alert_times import SAMPLES
from tests.docs.pages import PROJECT

FILES = sorted((PROJECT / "dashboards").glob("*.json"))
TEAM = "team-a"
"""The namespace in which a drill's work runs."""

_ANSWER = re.compile(r'expr: ("(?:[^"\\]|\\.)*"), time: \w+,\s+exp: .*\n\s+got: (.*)')


def read(file: Path) -> dict[str, Any]:
    """Return a dashboard as its file has it."""
    board: dict[str, Any] = json.loads(file.read_text())
    return board


def queries(file: Path) -> Iterator[tuple[str, str]]:
    """Yield the title of each panel with each of its queries, and the name of each variable with its query."""
    board = read(file)
    for panel in board["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"].replace("$namespace", TEAM)
    for variable in board["templating"]["list"]:
        if asked := re.fullmatch(r"label_values\((.+), (\w+)\)", variable.get("definition", "")):
            yield variable["name"], f"count by ({asked[2]}) ({asked[1]})"


def values(promtool: Path, samples: Path, expressions: Iterable[str], every: int) -> dict[str, list[float]]:
    """Return all values of each expression, evaluated each `every` minutes of the samples in a folder with rules."""
    file = yaml.load(samples.read_text(), Loader=yaml.CSafeLoader)
    (test,) = file["tests"]
    last = int(test["promql_expr_test"][-1]["eval_time"].removesuffix("m"))
    test["promql_expr_test"] = [
        {"expr": expression, "eval_time": f"{minute}m", "exp_samples": []}
        for expression in dict.fromkeys(expressions)
        for minute in range(every, last + 1, every)
    ]
    path = samples.with_name(f"queries-{SAMPLES}")
    path.write_text(yaml.dump(file, Dumper=yaml.CSafeDumper, width=1000))
    command = [str(promtool), "test", "rules", path.name]
    done = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    assert " err: " not in text, text[:2000]
    found: dict[str, list[float]] = {expression: [] for expression in expressions}
    for expression, answer in _ANSWER.findall(text):
        found[json.loads(expression)] += [float(value) for value in re.findall(r"\{[^{}]*\} ([-+\w.]+)", answer)]
    return found
