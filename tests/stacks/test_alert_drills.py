"""Each alert of a stack: fired by the drill that makes it true, silent in a quiet week.

The cluster's metrics come from the real kube-state-metrics, and Prometheus' own promtool judges them.
"""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.alerts import series
from drill.metrics.alert_times import ALERTS, RULES, SAMPLES, Fired, run_rules
from drill.metrics.samples import BEGIN
from sandbox.base.notices import to_stderr
from sandbox.tests.stack import Stack
from sandbox.toolchain import programs
from tests.dashboards import panel_queries

pytestmark = [pytest.mark.engine, pytest.mark.slow]

FOLDER = Path(__file__).parent / "alerts"
LATER = datetime(2027, 5, 10, tzinfo=UTC)
"""Within sixty days of the end of Kubernetes 1.36 on AKS."""

SCENARIOS = {
    "gone": {
        "SpotGone": 25,
        "FallbackLasts": 70,
        "NoSpotForHours": 370,
        "GpuPodWaitsNoCapacity": 25,
        "GpuPodFitsNoPool": 10,
    },
    "quota": {"SpotGone": 25, "GpuPodWaitsNoCapacity": 25},
    "full": {"GpuPodWaitsPoolsFull": 30, "GpuBudgetExceeded": 30},
    "plugin": {"DevicePluginMissing": 20},
    "idle": {"GpuNodeIdle": 65},
    "storm": {"SpotNodesLost": 30},
    "unready": {"UnreadyNodesNearTheStop": 40},
    "bypass": {"GuardBypassed": 24, "PlatformPodOnSpot": 28},
    "order": {"GrowthOrderChanged": 12},
}
"""What must fire in each scenario, and the minute of the drill by which somebody on call expects it."""

QUIET = ("full", "order")
"""Scenarios in which an alert that fires without its cause shows."""

CLOUDS = ("dev", "staging")


def firsts(fired: list[Fired]) -> dict[str, int]:
    return {each.alert: min(other.first for other in fired if other.alert == each.alert) for each in fired}


class Recorded:
    """The drills of a stack: the folder of each scenario's rules and samples."""

    def __init__(self, stack: Stack, folder: Path, promtool: Path) -> None:
        self.stack, self.folder, self.promtool = stack, folder, promtool

    def metrics(self, scenario: str) -> Path:
        report = self.folder / scenario
        if not report.exists():
            file = report.with_suffix(".yaml")
            text = (FOLDER / f"{scenario}.yaml").read_text()
            file.write_text(text.replace("POOL", self.stack_pool).replace("STACK", self.stack.name))
            cloud = FOLDER / f"{scenario}-{self.stack.name}.cloud.yaml"
            more = ["--cloud", str(cloud), "--config-file", str(self.stack.file)] if cloud.exists() else []
            done = self.stack.run(
                "drill", str(file), "--metrics", "--json", "--report-dir", str(report), *more, ok=None
            )
            # A red verdict exits with 1 as well.
            assert report.exists(), done.stderr
        return next((report / "metrics").iterdir())

    @property
    def stack_pool(self) -> str:
        return "t4" if self.stack.name == "dev" else "l4"

    def fired(self, scenario: str) -> dict[str, int]:
        """Return the minute in which each alert first fired."""
        found = json.loads((self.metrics(scenario) / ALERTS).read_text())
        return firsts([Fired(**each) for each in found])

    def with_rules(self, scenario: str, rules: Any, folder: Path, begin: datetime = BEGIN) -> dict[str, int]:
        """Return the minute in which each alert first fires on the same samples by other rules."""
        for path in self.metrics(scenario).iterdir():
            text = path.read_text()
            (folder / path.name).write_text(text.replace(BEGIN.isoformat(), begin.isoformat()))
        (folder / RULES).write_text(yaml.safe_dump(rules))
        return firsts(run_rules(self.promtool, folder, begin))


@pytest.fixture(scope="module", params=CLOUDS)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    stack = Stack.copy(tmp_path_factory.mktemp("alerts"), request.param)
    config = stack.config
    # In staging a day's wait is accepted.
    config = config | {"alerts": {}, "growth": {"acceptedWait": "20m"}}
    stack.write(config)
    stack.up()
    promtool = programs.ensure(["promtool"], to_stderr)["promtool"]
    yield Recorded(stack, tmp_path_factory.mktemp("drills"), promtool)
    stack.run("down", "--force")


def test_each_alert_fires_in_the_drill_that_makes_it_true(recorded: Recorded) -> None:
    rules = yaml.safe_load((recorded.metrics("gone") / RULES).read_text())
    has = {rule["alert"] for rule in rules["groups"][0]["rules"] if "alert" in rule}
    for scenario, alerts in SCENARIOS.items():
        fired = recorded.fired(scenario)
        print(recorded.stack.name, scenario, fired)
        late = {
            alert: fired.get(alert) for alert, by in alerts.items() if alert in has and not fired.get(alert, 999) <= by
        }
        assert late == {}, scenario
    tried = {alert for alerts in SCENARIOS.values() for alert in alerts}
    assert has - tried == {"KubernetesSupportEnds"}


def test_the_end_of_a_version_is_told_in_its_last_sixty_days(recorded: Recorded, tmp_path: Path) -> None:
    text = (recorded.metrics("order") / RULES).read_text()
    # Google has named no end of the release's 1.36.
    announced = "v1[.]36" in text
    assert announced == (recorded.stack.name == "dev")
    assert ("KubernetesSupportEnds" in recorded.with_rules("order", yaml.safe_load(text), tmp_path, LATER)) == announced
    assert "KubernetesSupportEnds" not in recorded.fired("order")


def test_nothing_fires_in_a_quiet_week(recorded: Recorded) -> None:
    assert recorded.fired("quiet-week") == {}


def test_each_query_of_each_panel_finds_something_in_a_drill(recorded: Recorded) -> None:
    queries = [(title, query) for file in panel_queries.FILES for title, query in panel_queries.queries(file)]
    empty, zero = set(queries), set(queries)
    for scenario in SCENARIOS:
        samples = recorded.metrics(scenario) / SAMPLES
        found = panel_queries.values(recorded.promtool, samples, [query for _, query in queries], every=10)
        print(recorded.stack.name, scenario, "nothing:", sorted(title for title, query in queries if not found[query]))
        empty = {each for each in empty if not found[each[1]]}
        zero = {each for each in zero if not any(found[each[1]])}
    # GKE shows nobody its autoscaler's own metrics.
    none = {each for each in queries if series.REFUSED in each[1] and recorded.stack.name == "staging"}
    # A panel that is 0 throughout may as well read the wrong series.
    assert (empty, zero) == (none, none)


def test_the_autoscalers_counter_has_its_own_reasons_on_aks_and_is_not_there_on_gke(recorded: Recorded) -> None:
    counted: dict[str, set[str]] = {}
    for scenario in ("quota", "gone"):
        text = (recorded.metrics(scenario) / SAMPLES).read_text()
        for each in yaml.safe_load(text)["tests"][0]["input_series"]:
            if each["series"].startswith(series.REFUSED) and re.search(r"\b[1-9]\d*x", each["values"]):
                counted.setdefault(scenario, set()).update(re.findall('reason="(.+?)"', each["series"]))
    on_aks = {"quota": {"cloudProviderError"}, "gone": {"timeout"}}
    assert counted == (on_aks if recorded.stack.name == "dev" else {})


def altered(rule: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rule with its expression emptied, its thresholds moved tenfold and its label misspelt."""
    yield "emptied", {**rule, "expr": "vector(1) > 2"}
    longer = {**rule, "for": f"{10 * int(rule['for'].removesuffix('s'))}s"}
    moved = re.sub(r"(>=?|==|<=?) (\d+(?:\.\d+)?)", lambda found: f"{found[1]} {10 * float(found[2]):g}", rule["expr"])
    if (tenfold := {**longer, "expr": moved}) != rule:
        yield "moved tenfold", tenfold
    if label := re.search(r"[{,](\w+)=", rule["expr"]):
        yield "misspelt", {**rule, "expr": re.sub(rf"([{{,]){label[1]}=", rf"\g<1>{label[1]}x=", rule["expr"])}


def test_an_alert_that_is_altered_fails_its_test(recorded: Recorded, tmp_path: Path) -> None:
    unseen: dict[str, list[str]] = {}
    for scenario, alerts in SCENARIOS.items():
        rules = yaml.safe_load((recorded.metrics(scenario) / RULES).read_text())
        for place, rule in enumerate(rules["groups"][0]["rules"]):
            name = rule.get("alert")
            for what, other in altered(rule) if name in alerts else ():
                changed = deepcopy(rules)
                changed["groups"][0]["rules"][place] = other
                late = recorded.with_rules(scenario, changed, tmp_path).get(name, 999) > alerts[name]
                false = not late and any(
                    recorded.fired(quiet).get(name) != recorded.with_rules(quiet, changed, tmp_path).get(name)
                    for quiet in QUIET
                )
                if not (late or false):
                    unseen.setdefault(name, []).append(what)
    assert unseen == {}
