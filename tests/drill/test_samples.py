"""Samples of a drill, and what promtool is told of them."""

from io import StringIO
from pathlib import Path

import pytest

from drill.metrics.alert_times import run_rules
from drill.metrics.samples import BEGIN, Samples
from sandbox.base.errors import SandboxError

START = int(BEGIN.timestamp())


def samples(*values: dict[str, float]) -> Samples:
    made = Samples()
    for each in values:
        made.add(each)
    return made


@pytest.mark.parametrize(
    ("values", "notation"),
    [
        ([{"a": 1.0}], "1x0"),
        ([{"a": 1.0}, {"a": 1.0}, {"a": 0.5}], "1x1 0.5x0"),
        ([{}, {}, {"a": 1.0}], "_x2 1x0"),
        # Gone from the page of its target: stale at once, not five minutes later.
        ([{"a": 1.0}, {}], "1x0 stale"),
        ([{"a": 1.0}, {}, {}, {"a": 2.0}], "1x0 stale _x1 2x0"),
        # Neighbouring versions of an object differ.
        ([{"a": 12345678.0}, {"a": 12345679.0}], "12345678x0 12345679x0"),
    ],
)
def test_runs_of_equal_values_in_promtools_notation(values: list[dict[str, float]], notation: str) -> None:
    assert samples(*values).notation("a") == notation


def test_open_metrics_has_every_sample_by_its_time() -> None:
    file = StringIO()
    samples({'up{pod="x"}': 1.0}, {'up{pod="y"}': 1.0, 'up{pod="x"}': 0.0}, {}).write_open_metrics(file)
    assert file.getvalue().splitlines() == [
        "# TYPE up gauge",
        f'up{{pod="x"}} 1 {START}',
        f'up{{pod="x"}} 0 {START + 60}',
        f'up{{pod="y"}} 1 {START + 60}',
        "# EOF",
    ]


ANSWER = """Unit Testing:  samples.yaml
  FAILED:
    expr: "min_over_time(timestamp(ALERTS{alertstate=\\"firing\\"})[10m:1m])", time: 9m,
        exp: nil
        got: {alertname="A", alertstate="firing", pod="x"} %s, {alertname="B", alertstate="firing"} %s
"""


def program(folder: Path, text: str) -> Path:
    """Write a program that prints a text and fails, as promtool does when answers differ."""
    path = folder / "promtool"
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit 1\n")
    path.chmod(0o755)
    return path


def test_alerts_are_read_from_what_promtool_prints(tmp_path: Path) -> None:
    found = run_rules(program(tmp_path, ANSWER % (f"{START + 120:.8E}", START + 300)), tmp_path)
    assert [(each.alert, each.first, dict(each.labels).get("pod")) for each in found] == [("A", 2, "x"), ("B", 5, None)]


@pytest.mark.parametrize(
    "text", ["yaml: unmarshal errors", ANSWER % (START, START) + " err: query processing would load too many"]
)
def test_a_query_that_fails_is_no_silence(tmp_path: Path, text: str) -> None:
    with pytest.raises(SandboxError, match="promtool refuses"):
        run_rules(program(tmp_path, text), tmp_path)
