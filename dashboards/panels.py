"""Panels and dashboards in one style, by Grafana's own SDK.

In the form that every Grafana imports: the newer one (`dashboardv2`), which the SDK prefers, is
unknown to older versions of Grafana.
"""

from __future__ import annotations

from collections.abc import Sequence

from grafana_foundation_sdk.builders import common, dashboard, prometheus, table, timeseries
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.common import (
    DataSourceRef,
    LegendDisplayMode,
    LegendPlacement,
    TooltipDisplayMode,
    VisibilityMode,
)
from grafana_foundation_sdk.models.dashboard import (
    Dashboard,
    DashboardCursorSync,
    DataTransformerConfig,
    Panel,
    VariableModel,
    VariableRefresh,
    VariableSort,
)
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from config.alerts import series
from config.alerts.rule import INTERVAL

_SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")
_HEIGHT = 8
_WIDTH = 12
"""Of the 24 columns of a dashboard."""


def or_zero(expr: str) -> str:
    """Return the expression with 0 for an empty answer, while the stack's rules are evaluated."""
    return f"{expr} or 0 * count({series.NODE})"


def waited(labels: str, selector: str = "") -> str:
    """Return the seconds for which each pod that waits now has waited, by the labels."""
    waiting = f"{series.WAITING}{selector}"
    minutes = f"count_over_time({waiting}[1d]) and on (namespace, pod) {waiting}"
    return f"max by ({labels}) ({INTERVAL} * {minutes})"


def graph(title: str, description: str, unit: str, *queries: tuple[str, str]) -> Builder[Panel]:
    """Return lines over time. `queries`: expressions with their legends."""
    legend = common.VizLegendOptions().show_legend(True).display_mode(LegendDisplayMode.LIST)
    panel = (
        timeseries.Panel()
        .title(title)
        .description(description)
        .datasource(_SOURCE)
        .height(_HEIGHT)
        .span(_WIDTH)
        .unit(unit)
        .min(0)
        .fill_opacity(10)
        .show_points(VisibilityMode.NEVER)
        .legend(legend.placement(LegendPlacement.BOTTOM))
        .tooltip(common.VizTooltipOptions().mode(TooltipDisplayMode.MULTI))
    )
    for letter, (expr, label) in zip("ABC", queries, strict=False):
        query = prometheus.Dataquery().ref_id(letter).expr(expr).legend_format(label).range()
        panel.with_target(query.datasource(_SOURCE))
    return panel


def now(title: str, description: str, unit: str, expr: str, value: str) -> Builder[Panel]:
    """Return a table of the present series: a column for each label, and `value`."""
    query = prometheus.Dataquery().ref_id("A").expr(expr).instant().format(PromQueryFormat.TABLE)
    columns = {"excludeByName": {"Time": True}, "renameByName": {"Value": value}}
    return (
        table.Panel()
        .title(title)
        .description(description)
        .datasource(_SOURCE)
        .height(_HEIGHT)
        .span(_WIDTH)
        .unit(unit)
        .no_value("none")
        .with_target(query.datasource(_SOURCE))
        .with_transformation(DataTransformerConfig(id_val="organize", options=columns))
    )


def namespaces() -> Builder[VariableModel]:
    """Return the variable `namespace`, with every namespace that has pods with GPUs."""
    query = f"label_values({series.GPUS}, namespace)"
    return (
        dashboard.QueryVariable("namespace")
        .label("Namespace")
        .datasource(_SOURCE)
        .query({"query": query, "refId": "namespace"})
        .definition(query)
        .refresh(VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(VariableSort.ALPHABETICAL_ASC)
    )


def board(
    uid: str,
    title: str,
    description: str,
    panels: Sequence[Builder[Panel]],
    variables: Sequence[Builder[VariableModel]] = (),
) -> Dashboard:
    """Return a dashboard; whoever imports it chooses the data source."""
    source = dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus")
    filters = dashboard.AdHocVariable("filters").label("Filters").datasource(_SOURCE)
    built = (
        dashboard.Dashboard(title)
        .uid(uid)
        .description(description)
        .tags(["kubeflow-spot"])
        .time("now-24h", "now")
        .refresh("1m")
        .tooltip(DashboardCursorSync.CROSSHAIR)
        .variables([source, *variables, filters])
    )
    for number, panel in enumerate(panels, start=1):
        built.with_panel(_numbered(panel, number))
    return built.build()


def _numbered(panel: Builder[Panel], number: int) -> Builder[Panel]:
    panel.build().id_val = number
    return panel
