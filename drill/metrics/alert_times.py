"""When the stack's alerts fire on a drill's samples, by Prometheus' own `promtool test rules`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from drill.metrics.kube_state import labels_of
from drill.metrics.samples import Samples
from sandbox.base.errors import SandboxError

_RULES, _TEST = "rules.yaml", "samples.yaml"
_FIRING = 'ALERTS{alertstate="firing"}'


@dataclass(frozen=True, order=True)
class Fired:
    """An alert with its labels, and the minutes of the drill in which it first and last fired."""

    alert: str
    first: float
    last: float
    labels: tuple[tuple[str, str], ...] = ()


def fired(rules: Mapping[str, Any], samples: Samples, promtool: Path, folder: Path) -> list[Fired]:
    """Return each alert that fires, by its name. Leaves rules and samples in the folder.

    `promtool` compares a query's answer with an expected one. Nothing is expected here, so what it
    prints as a difference is the answer. Raises SandboxError for rules that it refuses.
    """
    folder.mkdir(parents=True, exist_ok=True)
    minutes = max(samples.count - 1, 0)
    query = f"{{}}_over_time(timestamp({_FIRING})[{minutes + 1}m:1m])"
    test = {
        "rule_files": [_RULES],
        "evaluation_interval": f"{samples.interval}s",
        "tests": [
            {
                "interval": f"{samples.interval}s",
                "input_series": [
                    {"series": name, "values": samples.notation(name)}
                    for name in sorted(samples.series)
                ],
                "promql_expr_test": [
                    {"expr": query.format(least), "eval_time": f"{minutes}m", "exp_samples": []}
                    for least in ("min", "max")
                ],
            }
        ],
    }
    (folder / _RULES).write_text(yaml.safe_dump(dict(rules), sort_keys=False))
    (folder / _TEST).write_text(yaml.safe_dump(test, sort_keys=False, width=1000))
    done = subprocess.run(
        [str(promtool), "test", "rules", _TEST],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    text = done.stdout + done.stderr
    answers = _answers(text)
    if done.returncode and (not answers or "FAILED" not in text):
        raise SandboxError(
            f"promtool refuses the rules or the samples in {folder}:\n{text[-2000:]}"
        )
    first, last = answers.get("min", {}), answers.get("max", {})
    return sorted(
        Fired(dict(labels)["alertname"], at / 60, last[labels] / 60, labels)
        for labels, at in first.items()
    )


def write_metrics(
    samples: Samples, outputs: Mapping[str, Any], promtool: Path, folder: Path
) -> list[Fired]:
    """Write the samples as OpenMetrics, and return the stack's alerts that fire by them.

    Raises SandboxError for a stack without alerts.
    """
    rules = outputs.get("alerts")
    if not isinstance(rules, Mapping):
        raise SandboxError(
            "this stack has no alerts: write `kubeflow-spot:alerts: {}` in its stack file"
        )
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "samples.om").open("w") as file:
        samples.write_open_metrics(file)
    return fired(rules, samples, promtool, folder)


def _answers(text: str) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    """Return the values of each query's answer, by the query's beginning and the labels."""
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    current: dict[tuple[tuple[str, str], ...], float] = {}
    for line in text.splitlines():
        if expression := re.search(r'expr: "(\w+)_over_time', line):
            current = found.setdefault(expression[1], {})
        for labels, value in re.findall(r"(\{[^{}]*\})\s+([0-9.eE+]+)", line):
            current[tuple(sorted(labels_of(labels).items()))] = float(value)
    return found
