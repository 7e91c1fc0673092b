"""When the stack's alerts fire on a drill's samples, by Prometheus' own `promtool test rules`."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml
from rich.table import Table

from drill.metrics.kube_state import labels_of
from drill.metrics.samples import BEGIN, Samples
from sandbox.base.errors import SandboxError

RULES, SAMPLES, ALERTS = "rules.yaml", "samples.yaml", "alerts.json"
_WINDOW = 10
"""Minutes of a query: promtool's engine loads at most 10,000 samples."""
_FIRING = 'ALERTS{alertstate="firing"}'


@dataclass(frozen=True, order=True)
class Fired:
    """An alert with its labels, and the minutes of the drill in which it first and last fired."""

    alert: str
    first: int
    last: int
    labels: tuple[tuple[str, str], ...] = ()


def judge_alerts(
    rules: Mapping[str, Any],
    samples: Samples,
    promtool: Path,
    folder: Path,
    begin: datetime = BEGIN,
) -> list[Fired]:
    """Return the alerts that fire, and leave rules, samples and result in the folder.

    Raises SandboxError for rules that promtool refuses.
    """
    folder.mkdir(parents=True, exist_ok=True)
    series = [{"series": name, "values": samples.notation(name)} for name in sorted(samples.series)]
    # promtool compares a query's answer with an expected one. Nothing is expected here, so what it
    # prints as a difference is the answer.
    window = f"_over_time(timestamp({_FIRING})[{_WINDOW}m:1m])"
    queries = [
        {"expr": least + window, "eval_time": f"{minute}m", "exp_samples": []}
        for minute in range(_WINDOW - 1, samples.count + _WINDOW - 1, _WINDOW)
        for least in ("min", "max")
    ]
    test = {
        "interval": f"{samples.interval}s",
        "start_timestamp": begin.isoformat(),
        "input_series": series,
        "promql_expr_test": queries,
    }
    file = {
        "rule_files": [RULES],
        "evaluation_interval": f"{samples.interval}s",
        "tests": [test],
    }
    (folder / RULES).write_text(yaml.safe_dump(dict(rules), sort_keys=False))
    (folder / SAMPLES).write_text(yaml.safe_dump(file, sort_keys=False, width=1000))
    found = run_rules(promtool, folder, begin)
    (folder / ALERTS).write_text(json.dumps([asdict(each) for each in found], indent=2) + "\n")
    return found


def run_rules(promtool: Path, folder: Path, begin: datetime = BEGIN) -> list[Fired]:
    """Return the alerts that fire by the rules and the samples in a folder."""
    done = subprocess.run(
        [str(promtool), "test", "rules", SAMPLES],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    text = done.stdout + done.stderr
    answers = _answers(text)
    if done.returncode and (not answers or " err: " in text):
        raise SandboxError(f"promtool refuses the rules or samples in {folder}:\n{text[-2000:]}")
    return sorted(
        Fired(dict(labels)["alertname"], _minutes(min(at), begin), _minutes(max(at), begin), labels)
        for labels, at in answers.items()
    )


def alert_table(title: str, alerts: Sequence[Fired]) -> Table | str:
    """Return the alerts that fired as a table, one row a name."""
    if not alerts:
        return "No alert fired."
    table = Table("Alert", "First", "Last", "Series", title=f"Alerts that fired: {title}")
    for name in sorted(
        {each.alert for each in alerts}, key=lambda name: (_first(alerts, name), name)
    ):
        same = [each for each in alerts if each.alert == name]
        last = max(each.last for each in same)
        table.add_row(name, f"{_first(alerts, name)} min", f"{last} min", str(len(same)))
    return table


def _first(alerts: Sequence[Fired], name: str) -> int:
    return min(each.first for each in alerts if each.alert == name)


def _minutes(at: float, begin: datetime) -> int:
    return round((at - begin.timestamp()) / 60)


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
    return judge_alerts(rules, samples, promtool, folder)


def _answers(text: str) -> dict[tuple[tuple[str, str], ...], list[float]]:
    """Return the answers that promtool prints, by labels."""
    found: dict[tuple[tuple[str, str], ...], list[float]] = {}
    for labels, value in re.findall(r"(\{[^{}]*\})\s+([0-9.eE+]+)", text):
        found.setdefault(tuple(sorted(labels_of(labels).items())), []).append(float(value))
    return found
