"""The plan for the priority expander's ConfigMap, with any owner of the existing one."""

from __future__ import annotations

from typing import Any

import pulumi
import pytest
import yaml

from components.layer import names
from components.layer.autoscaler import expander, priorities
from components.layer.autoscaler.expander import ExpanderPlan
from components.layer.autoscaler.priorities import Wanted
from config.model.cluster import ExpanderOptions
from config.stack_file import loader
from tests.config.stack import good, grown

WANTED = Wanted(("t4", "t4od"), spot={"t4"}, others=("agentpool",))
OWN = {20: ["^aks-t4-[0-9]+-vmss$"], 10: ["^aks-t4od-[0-9]+-vmss$"], 1: [".*"]}


def config_map(text: str | None, labels: dict[str, str] | None = None) -> dict[str, Any]:
    return {"metadata": {"labels": labels}, "data": {"priorities": text} if text is not None else None}


def decide(existing: dict[str, Any] | None, **options: Any) -> ExpanderPlan:
    return expander.plan(WANTED, ExpanderOptions.model_validate(options), "dev", existing, "ml")


def refusal(existing: dict[str, Any] | None, **options: Any) -> str:
    with pytest.raises(pulumi.RunError) as refused:
        decide(existing, **options)
    return str(refused.value)


@pytest.mark.parametrize("existing", [None, config_map("1: ['.*']", {**names.labels("dev"), "team": "ml"})])
def test_a_missing_or_own_map_is_declared(existing: dict[str, Any] | None) -> None:
    decision = decide(existing)
    assert decision.declared == OWN
    assert decision.fallback_order.startswith(
        "guaranteed by the ConfigMap kube-system/cluster-autoscaler-priority-expander"
    )
    assert [(tier["priority"], tier["pools"]) for tier in decision.shown] == [(20, ["t4"]), (10, ["t4od"]), (1, [])]


def test_another_owners_map_with_the_wanted_order_is_left_alone() -> None:
    decision = decide(config_map("90: [aks-t4-]\n50: [t4od]\n5: ['.*']"))
    assert decision.declared is None
    assert decision.fallback_order.startswith("guaranteed")
    assert decision.shown == [
        {"priority": 90, "pools": ["t4"], "groups": ["aks-t4-"]},
        {"priority": 50, "pools": ["t4od"], "groups": ["t4od"]},
        {"priority": 5, "pools": [], "groups": [".*"]},
    ]


def test_another_owners_map_with_another_order_is_refused_with_lines_that_mend_it() -> None:
    text = "50: [.*spot.*]\n10: ['.*']"
    message = refusal(config_map(text))
    assert "of cluster ml belongs to another owner" in message
    assert "t4 (10) does not stand above t4od (10)" in message
    assert "expander.takeOwnership: true" in message
    pasted = yaml.safe_load(message.partition("add these lines to its `priorities`:\n")[2].partition("  or set")[0])
    assert decide(config_map(yaml.safe_dump({**yaml.safe_load(text), **pasted}))).declared is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "it is not an object"),
        ("", "it is not an object"),
        ("t4: first", "'t4' is no number"),
        # In an order that would do, were it not for one expression.
        ("90: [aks-t4-]\n50: [t4od]\n5: ['^aks-(?!t4)']", "'^aks-(?!t4)' is no regular expression of RE2"),
    ],
)
def test_a_map_that_cannot_be_read_is_refused_with_its_whole_content(text: str | None, why: str) -> None:
    message = refusal(config_map(text))
    assert f"the autoscaler refuses it and chooses at random, as {why}" in message
    whole = message.partition("make this its `priorities`:\n")[2].partition("  or set")[0]
    assert yaml.safe_load(whole) == OWN


def test_another_stacks_map_is_mended_in_its_stack_file() -> None:
    tiers = priorities.tiers(Wanted(("a100", "general"), {"a100"}), {})
    message = refusal(config_map(priorities.written(tiers), names.labels("blue")))
    assert "belongs to stack 'blue' of this program" in message
    config = yaml.safe_load(message.partition("add this to the stack file of blue:\n")[2].partition("  or set")[0])
    options = ExpanderOptions.model_validate(config["kubeflow-spot:expander"])
    # The map that stack blue then declares fits both stacks, also after blue adds pools.
    for pools in (("a100",), ("a100", "h100", "h200")):
        blue = expander.plan(Wanted((*pools, "general"), set(pools)), options, "blue", None, "ml")
        assert blue.declared is not None
        assert decide(config_map(priorities.written(blue.declared), names.labels("blue"))).declared is None


def test_ownership_is_taken_on_request_and_the_lost_lines_are_reported() -> None:
    existing = config_map("50: [.*spot.*, a100]\n1: ['.*']")
    decision = decide(existing, takeOwnership=True)
    assert decision.declared == OWN
    (warning,) = decision.warnings
    assert yaml.safe_load(warning.partition("dropped:\n")[2].partition("\n  `expander")[0]) == {
        50: [".*spot.*", "a100"]
    }
    kept = decide(existing, takeOwnership=True, otherGroups=[{"priority": 15, "groups": [".*spot.*", "a100"]}])
    assert kept.declared == {**OWN, 15: [".*spot.*", "a100"]}
    assert kept.warnings == ()


def test_other_groups_may_stand_anywhere_but_in_the_pools_own_order() -> None:
    above = decide(None, otherGroups=[{"priority": 95, "groups": ["^aks-agentpool-"]}])
    assert above.declared is not None
    assert next(iter(above.declared)) == 95
    message = refusal(None, otherGroups=[{"priority": 95, "groups": ["t4od"]}])
    assert message.startswith("expander.otherGroups")
    assert "t4 (20) does not stand above t4od (95)" in message


def test_where_the_map_is_not_read_none_is_declared_and_the_outputs_say_so() -> None:
    for decision in (expander.not_kept("the cluster's expander is random"), expander.kept_by("something else")):
        assert (decision.declared, decision.shown) == (None, [])
    assert expander.not_kept("so").fallback_order == "not guaranteed: so"
    assert expander.kept_by("so").fallback_order == "guaranteed by so"


@pytest.mark.parametrize("priority", [2, 15, 35, 55, 995])
@pytest.mark.parametrize(
    "group", [".*", "", "^aks-t4", "t4big", "general", "system", "byhand", "^aks-(t4|t4od)-", "[0-9]"]
)
def test_the_loader_refuses_the_lines_that_would_be_refused_here(priority: int, group: str) -> None:
    pools = loader.read_stack(good())[0]
    assert pools
    wanted = Wanted(grown(pools))
    lines = {priority: [group], 1005: ["byhand"]}
    faults = list(priorities.faults(priorities.tiers(wanted, lines), wanted))
    tiers = [{"priority": number, "groups": groups} for number, groups in lines.items()]
    problems = loader.read_stack(good(expander={"otherGroups": tiers}))[1]
    assert [problem.path for problem in problems] == (["expander.otherGroups[0].groups[0]"] if faults else [])
    assert all("a priority below" in problem.remedy for problem in problems)


def test_every_line_that_turns_the_order_round_is_named() -> None:
    tiers = [{"priority": 995, "groups": ["general", "byhand", "t4big"]}, {"priority": 996, "groups": ["system"]}]
    problems = loader.read_stack(good(expander={"otherGroups": tiers}))[1]
    assert [problem.path for problem in problems] == [
        "expander.otherGroups[0].groups[2]",
        "expander.otherGroups[1].groups[0]",
    ]
