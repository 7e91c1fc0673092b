"""Rule groups of Azure Monitor's managed Prometheus, `Microsoft.AlertsManagement/prometheusRuleGroups`.

Limits: learn.microsoft.com/azure/azure-monitor, pages metrics/prometheus-rule-groups and fundamentals/service-limits, and the REST
specification 2023-03-01. No page gives the service's codes and words, so every refusal is marked.
"""

import re
from collections.abc import Iterator

from sandbox.azure import azure_ids
from sandbox.azure.azure_errors import arm
from sandbox.azure.resources import monitoring, reference
from sandbox.cloud.rules import ResourceRequest
from sandbox.cloud.state import Body

GROUP = "azure-native:alertsmanagement:PrometheusRuleGroup"

_MOST_RULES = 20
_MOST_GROUPS = 500
"""Of a workspace, in one subscription."""
_INTERVAL = (60, 15 * 60)
"""The specification's; service-limits allows 24 hours."""
_SEVERITIES = range(5)
_DURATION = re.compile(r"P(?=[\dT])(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")
_OF_ALERTS = ("for", "severity", "annotations", "actions", "resolveConfiguration")
_ACTION_GROUPS = "microsoft.insights/actiongroups"


def rule_group(request: ResourceRequest) -> None:
    """Check a rule group; its alerts get the service's defaults."""
    for problem in _problems(request):
        raise arm("BadRequest", problem).as_read()
    workspace = reference.existing(request.resources, request.body["scopes"][0], monitoring.ACCOUNT)
    groups = [
        each
        for each in request.resources.of_type(GROUP)
        if azure_ids.key(each.body["scopes"][0]) == azure_ids.key(workspace.id)
        and azure_ids.key(each.id) != azure_ids.key(request.id)
    ]
    if len(groups) >= _MOST_GROUPS:
        raise arm("BadRequest", f"The workspace {workspace.id} has {_MOST_GROUPS} rule groups.").as_read()
    for rule in request.body["rules"]:
        rule.setdefault("enabled", True)
        if "alert" in rule:
            rule.setdefault("severity", 3)
            rule["resolveConfiguration"] = {
                "autoResolved": True,
                "timeToResolve": "PT5M",
                **rule.get("resolveConfiguration", {}),
            }


def _problems(request: ResourceRequest) -> Iterator[str]:
    body, current = request.body, request.current
    # That page allows the id of a cluster beside it, which the specification does not.
    if len(body["scopes"]) != 1:
        yield "The scopes must be one Azure Monitor workspace."
    elif current and azure_ids.key(current["scopes"][0]) != azure_ids.key(body["scopes"][0]):
        yield "The scope of a rule group cannot be changed."
    interval = _seconds(body["interval"])
    if interval is None or not _INTERVAL[0] <= interval <= _INTERVAL[1]:
        yield f"The interval {body['interval']} is not between 1 and 15 minutes."
    if not 1 <= len(body["rules"]) <= _MOST_RULES:
        yield f"The group has {len(body['rules'])} rules; 1 to {_MOST_RULES} are allowed."
    for number, rule in enumerate(body["rules"]):
        yield from (f"rules[{number}]: {problem}" for problem in _rule_problems(rule))


def _rule_problems(rule: Body) -> Iterator[str]:
    if ("alert" in rule) == ("record" in rule):
        yield "exactly one of alert and record must be given."
    if not rule["expression"].strip():
        yield "the expression is empty."
    if "record" in rule:
        # https://prometheus.io/docs/concepts/data_model/
        if not re.fullmatch(r"[a-zA-Z_:][a-zA-Z0-9_:]*", rule["record"]):
            yield f"{rule['record']} is not the name of a metric."
        yield from (f"{name} is not a property of a recording rule." for name in _OF_ALERTS if name in rule)
    for name in rule.get("labels", {}):
        if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", name):
            yield f"{name} is not the name of a label."
    if rule.get("severity", 3) not in _SEVERITIES:
        yield f"the severity {rule['severity']} is not between 0 and 4."
    durations = (rule.get("for"), rule.get("resolveConfiguration", {}).get("timeToResolve"))
    yield from (f"{text} is not an ISO 8601 duration." for text in durations if text and _seconds(text) is None)
    for action in rule.get("actions", []):
        if azure_ids.arm_type(action.get("actionGroupId", "")).lower() != _ACTION_GROUPS:
            yield f"{action.get('actionGroupId')} is not the id of an action group."


def _seconds(text: str) -> int | None:
    """Return the seconds of an ISO 8601 duration; None for another text."""
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
