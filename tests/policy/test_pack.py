"""The rules as the engine and readers see them; the page on CIS against them, keys of stack files and the benchmarks."""

import inspect
import json
import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pulumi_policy.policy as library
import pytest
import yaml
from pulumi.runtime import proto
from pulumi_policy import EnforcementLevel

from config.model.cluster import is_production
from policy.pack import PRODUCTION_STACKS, STACK_SETTINGS, policies, set_levels
from policy.rules import RULES

PROJECT = Path(__file__).resolve().parents[2]
LEVELS = {EnforcementLevel.ADVISORY: proto.ADVISORY, EnforcementLevel.REMEDIATE: proto.REMEDIATE}

FIRST = {
    *("gpu-pool-untainted", "spot-pool-untainted", "system-pool-on-spot", "pool-unbounded", "broad-role"),
    *("image-without-digest", "owner-missing", "cluster-unprotected", "api-server-open", "local-accounts"),
    "release-unreleased",
}
"""The rules of the pack's version 0.1.0."""


def decided(stack: str, config: Mapping[str, Any] | None = None, **levels: Any) -> dict[str, Any]:
    """Return the levels in a stack of this name: `config` is that of production stacks, `levels` by rule what is configured."""
    request = proto.ConfigureAnalyzerRequest()
    for rule in policies():
        assert isinstance(rule.enforcement_level, EnforcementLevel)
        served = LEVELS.get(rule.enforcement_level, proto.DISABLED)
        request.policyConfig[rule.name].enforcementLevel = levels.get(rule.name.replace("-", "_"), served)
    request.policyConfig[PRODUCTION_STACKS].properties.update(config or {})
    set_levels(stack, request)
    return {rule.name: request.policyConfig[rule.name].enforcementLevel for rule in RULES}


def expected(production: bool) -> dict[str, Any]:
    """Return the levels that the table of docs/delivery.md promises."""
    elsewhere = {"all": proto.ADVISORY}
    here = {"all": proto.MANDATORY, "production": proto.MANDATORY, "production, advisory": proto.ADVISORY}
    return {name: (here if production else elsewhere).get(row[-1], proto.DISABLED) for name, row in rows().items()}


@pytest.mark.parametrize(
    ("stack", "production"),
    [
        ("prod", True),
        ("production", True),
        ("acme/kubeflow-spot/prod", True),
        ("dev", False),
        ("preprod", False),
        ("prod-eu", True),
        ("production.eu", True),
        ("products", False),
        ("eu-prod", False),
        ("", False),
    ],
)
def test_rules_are_mandatory_in_production_and_some_are_only_for_it(stack: str, production: bool) -> None:
    assert decided(stack) == expected(production)
    # The stack file's own default of `protect` goes by the same names.
    assert is_production(stack.rpartition("/")[2]) is production


def test_names_of_production_stacks_are_added_and_removed_and_never_take_the_rules_from_prod() -> None:
    chosen = {"names": ["live"], "prefixes": ["live-"]}
    for stack, production in (("live", True), ("live-eu", True), ("prod", True), ("prod-eu", True), ("alive", False)):
        assert decided(stack, chosen) == expected(production)
    # Either list by itself
    assert decided("live", {"names": ["live"]}) == decided("live-eu", {"prefixes": ["live-"]}) == expected(True)
    assert decided("live-eu", {"names": ["live"]}) == decided("live", {"prefixes": ["live-"]}) == expected(False)
    for empty in ({"names": []}, {"prefixes": []}, {"names": [], "prefixes": [""]}):
        assert decided("prod", empty) == decided("prod-eu", empty) == expected(True)
        assert decided("dev", empty) == expected(False)
    assert decided("live") == expected(False)


LISTS = {
    "production-stacks.names": "adds",
    "production-stacks.prefixes": "adds",
    "role-for-everybody.roles": "permits: without an entry the rule refuses more",
    "host-pod.allowed": "permits: without an entry the rule refuses more",
    "owner-missing.names": "the whole list of tags that a team asks for; docs/delivery.md shows a shorter one",
}
"""Lists with a default that a configuration may set, and what a list of one's own does to the default."""


def test_every_list_with_a_default_is_decided() -> None:
    settings = [(PRODUCTION_STACKS, STACK_SETTINGS), *((rule.name, rule.settings) for rule in RULES)]
    assert LISTS.keys() == {
        f"{rule}.{name}"
        for rule, of_rule in settings
        for name, setting in of_rule.items()
        if isinstance(setting.schema["default"], list) and setting.schema["default"]
    }


def test_the_changelog_has_a_configuration_for_every_mandatory_rule_that_version_0_1_0_had_not() -> None:
    text = (PROJECT / "CHANGELOG.md").read_text()
    (block,) = re.findall(r"### Update the policies\n[^#]*?```json\n(.*?)```", text, re.DOTALL)
    chosen = json.loads(block)
    new = [rule.name for rule in RULES if rule.name not in FIRST and not rule.advisory]
    assert chosen == dict.fromkeys(new, "advisory")
    levels = decided("prod", **{name.replace("-", "_"): proto.ADVISORY for name in chosen})
    assert levels == expected(True) | dict.fromkeys(new, proto.ADVISORY)


def test_a_configured_level_holds_whatever_the_stacks_name_is() -> None:
    for stack in ("dev", "prod"):
        levels = decided(stack, pool_unbounded=proto.ADVISORY, public_nodes=proto.MANDATORY, broad_role=proto.DISABLED)
        chosen = {
            "pool-unbounded": proto.ADVISORY,
            "public-nodes": proto.MANDATORY,
            "broad-role": proto.DISABLED,
        }
        assert levels == expected(stack == "prod") | chosen


@pytest.mark.parametrize("stack", ["dev", "prod"])
def test_a_rule_that_the_engine_does_not_name_has_the_level_of_the_stacks_name(stack: str) -> None:
    request = proto.ConfigureAnalyzerRequest()
    request.policyConfig["pool-unbounded"].enforcementLevel = proto.DISABLED
    set_levels(stack, request)
    levels = {name: config.enforcementLevel for name, config in request.policyConfig.items()}
    assert levels == expected(stack == "prod") | {"pool-unbounded": proto.DISABLED}


def test_every_setting_has_a_default_that_its_own_schema_allows() -> None:
    kinds = {"integer": int, "array": list}
    for settings in [STACK_SETTINGS, *(rule.settings for rule in RULES)]:
        for setting in settings.values():
            assert isinstance(setting.schema["default"], kinds[setting.schema["type"]])


def test_the_real_cli_runs_the_pack_in_the_programs_environment() -> None:
    pack = yaml.safe_load((PROJECT / "policy" / "PulumiPolicy.yaml").read_text())
    program = yaml.safe_load((PROJECT / "Pulumi.yaml").read_text())
    assert pack["runtime"]["name"] == program["runtime"]["name"]
    options, program_options = pack["runtime"]["options"], program["runtime"]["options"]
    assert options["toolchain"] == program_options["toolchain"]
    assert (PROJECT / "policy" / options["virtualenv"]).resolve() == PROJECT / program_options["virtualenv"]


def rows() -> dict[str, list[str]]:
    """Return the first table of docs/delivery.md by the rule's name."""
    lines = (PROJECT / "docs" / "delivery.md").read_text().splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in lines if re.match(r"\| `[a-z-]+` \|", line)
    ]
    return {row[0].strip("`"): row[1:] for row in cells if row[-1] in ("all", "production", "production, advisory")}


def test_the_page_lists_exactly_the_rules_of_the_pack() -> None:
    assert [*rows()] == [rule.name for rule in RULES]
    assert {name: row[-1] for name, row in rows().items()} == {
        rule.name: ("production" if rule.production else "all") + (", advisory" if rule.advisory else "")
        for rule in RULES
    }


def test_the_page_names_every_setting_with_its_default() -> None:
    text = (PROJECT / "docs" / "delivery.md").read_text()
    for rule, settings in [(PRODUCTION_STACKS, STACK_SETTINGS), *((rule.name, rule.settings) for rule in RULES)]:
        for name, setting in settings.items():
            default = setting.schema["default"]
            shown = (
                ", ".join(f"`{value}`" for value in default) or "none" if isinstance(default, list) else str(default)
            )
            assert f"| `{rule}` | `{name}` | {shown} |" in text


def test_the_private_class_that_the_pack_replaces_was_read_for_the_installed_version() -> None:
    """With another version, compare `serve` with `pulumi_policy.policy`: `PolicyPack` makes the servicer by its module's name."""
    assert version("pulumi-policy").rpartition(".")[0] == "1.21"
    assert "_PolicyAnalyzerServicer(" in inspect.getsource(library.PolicyPack)


PROJECT = Path(__file__).resolve().parents[2]
PAGE = (PROJECT / "docs" / "reference" / "cis.md").read_text()

CONTROLS = {
    "AKS": "2.1:1 3.1:4 3.2:9 4.1:6 4.2:5 4.4:2 4.5:2 4.6:3 5.1:4 5.2:1 5.3:1 5.4:5 5.5:2",
    "GKE": "2.1:1 2.2:2 3.1:4 3.2:9 4.1:10 4.2:1 4.3:2 4.4:2 4.5:1 4.6:4 5.1:4 5.2:2 5.3:1 5.4:1 5.5:7 5.6:7 5.7:2 5.8:3 5.9:2"
    " 5.10:5",
}
"""Chapters, and the number of controls in each: aquasecurity/kube-bench, cfg/aks-1.7 and cfg/gke-1.6.0."""

KINDS = {"rule", "program", "setting", "service", "no"}


def chapter(title: str) -> str:
    return PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def controls(benchmark: str) -> list[tuple[str, str, str]]:
    """Return control, topic and answer of each row of a benchmark."""
    cells = [[cell.strip() for cell in line[1:-1].split("|")] for line in chapter("Controls").splitlines()[1:] if line]
    column = ["AKS", "GKE"].index(benchmark)
    return [(row[column], row[2], row[3]) for row in cells[2:] if row[column]]


def numbers(control: str) -> list[str]:
    """Return the controls of a row: one, or from the first to the last."""
    first, _, last = control.partition("-")
    chapter, _, begin = first.rpartition(".")
    return [f"{chapter}.{number}" for number in range(int(begin), int((last or first).rpartition(".")[2]) + 1)]


def rules_in(answer: str) -> set[str]:
    """Return the rules that an answer names."""
    parts = re.findall(r"\*\*rule\*\*((?:,? `[a-z-]+`)+)", answer)
    return {name for part in parts for name in re.findall(r"`([a-z-]+)`", part)}


@pytest.mark.parametrize("benchmark", CONTROLS)
def test_the_page_has_every_control_once(benchmark: str) -> None:
    wanted = [
        f"{chapter}.{number + 1}"
        for chapter, count in (entry.split(":") for entry in CONTROLS[benchmark].split())
        for number in range(int(count))
    ]
    assert sorted(number for control, _, _ in controls(benchmark) for number in numbers(control)) == sorted(wanted)


@pytest.mark.parametrize("benchmark", CONTROLS)
def test_an_answer_is_of_a_kind_and_names_what_exists(benchmark: str) -> None:
    page = (PROJECT / "docs" / "reference" / "stack-file.md").read_text()
    keys = {
        key
        for path in re.findall(r"^\| (?:\*\*)?`([\w.\[\]]+)`", page, re.MULTILINE)
        for key in re.findall(r"\w+", path)
    }
    keys |= {key for same in re.findall(r"^As in .*", page, re.MULTILINE) for key in re.findall(r"\w+", same)}
    for control, _, answer in controls(benchmark):
        kinds = re.findall(r"\*\*(\w+)\*\*", answer)
        assert kinds, control
        assert set(kinds) <= KINDS, control
        if "rule" in kinds:
            assert rules_in(answer), control
        # Who says no says why.
        assert not answer.startswith("**no**") or re.match(r"\*\*no\*\*: .{12}", answer), control
        for path in re.findall(r"`((?:cloud|pools\[\])[\w.\[\]]*)`", answer):
            assert set(re.findall(r"\w+", path)) - {"cloud", "pools"} <= keys, path


def test_each_rule_is_in_a_table_or_is_ours() -> None:
    named = {name for benchmark in CONTROLS for *_, answer in controls(benchmark) for name in rules_in(answer)}
    ours = set(re.findall(r"`([a-z-]+)`", chapter("Rules of ours")))
    assert named | ours == {rule.name for rule in RULES}
    assert named & ours == set()
