"""Dashboards: files as the code writes them, words for people, and metrics that exist. Whether each panel shows
something: tests/stacks/test_alert_drills.py.
"""

import re
from pathlib import Path

import pytest

from config.alerts import series
from config.alerts.alert_rules import rule_group
from config.clouds import registry
from config.placement.node_pools import node_pools
from dashboards.__main__ import texts
from tests.config.stack import spec
from tests.config.stack_files import CONFIGS, settings
from tests.dashboards.panel_queries import FILES, queries, read

CLAUSE = re.compile(r"\b(?:by|on|ignoring|group_left) \([^)]*\)")
WORD = re.compile(r"\b(?:and|or|unless)\b|\b\w+(?=\s*\()")
NAME = re.compile(r"(?<![\w:])[a-z_][\w:]*")


def metrics(expression: str) -> set[str]:
    """Return the names of the metrics that an expression reads."""
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]", "", expression)
    return set(NAME.findall(WORD.sub(" ", CLAUSE.sub(" ", bare))))


def test_metrics_are_told_from_the_rest_of_an_expression() -> None:
    expression = '100 * count(a_b{c="d"} == 0) / sum by (e, f) (g:h:sum and on (pool) rate(i[5m]))'
    assert metrics(expression) == {"a_b", "g:h:sum", "i"}


def test_the_files_are_those_that_the_code_writes() -> None:
    files = {file.name: file.read_text() for file in FILES}
    assert files == texts(), "write them anew: ./scripts/uv run --locked python -m dashboards"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_panels_read_series_that_the_alerts_declare(file: Path) -> None:
    constants = [text for name, text in vars(series).items() if name.isupper()]
    declared = set().union(*map(metrics, constants))
    stack = spec(settings(CONFIGS / "alerts.happy.yaml"))
    cloud = registry.cloud_of(stack.cloud)
    recorded = {rule.get("record") for rule in rule_group(stack, node_pools(stack, cloud), cloud)["rules"]}
    for title, query in queries(file):
        read = metrics(query)
        assert read, title
        assert read <= declared, title
        assert {name for name in read if ":" in name} <= recorded, title


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_each_panel_has_a_unit_a_title_and_one_sentence(file: Path) -> None:
    board = read(file)
    titles = [panel["title"] for panel in board["panels"]]
    assert len(set(titles)) == len(titles) > 5
    for panel in board["panels"]:
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        assert re.fullmatch(r"[A-Z0-9][^.]{20,110}[.]", panel["description"]), panel["title"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_whoever_imports_a_dashboard_chooses_the_data_source(file: Path) -> None:
    board = read(file)
    sources = {query["datasource"]["uid"] for panel in board["panels"] for query in [panel, *panel["targets"]]}
    assert sources == {"${datasource}"}
    assert board["templating"]["list"][0]["name"] == "datasource"
    assert [panel["id"] for panel in board["panels"]] == list(range(1, len(board["panels"]) + 1))
