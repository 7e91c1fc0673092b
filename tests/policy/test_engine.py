"""The pack under the real engine: every rule's resources in one stack, and this repository's own stacks."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from policy.rules import RULES
from sandbox.tests.stack import PROJECT, Stack
from tests.policy import cases
from tests.policy.cases import Case

pytestmark = pytest.mark.engine

BREAKING, KEEPING = (tuple(case for case in some if case.engine) for some in (cases.BREAKING, cases.KEEPING))

ADVISORY = {rule.name for rule in RULES if rule.advisory}

PACK = ("--policy-pack", str(PROJECT / "policy"))


def previewed(folder: Path, stack: str, declared: tuple[Case, ...], *arguments: str, ok: bool = True) -> dict[str, Any]:
    """Return the findings in a preview of these resources."""
    project = folder / stack
    shutil.copytree(Path(__file__).parent / "program", project)
    (project / "resources.json").write_text(json.dumps([case.declared() for case in declared]))
    (project / f"Pulumi.{stack}.yaml").write_text("config: {}\n")
    printed = Stack(project, project / ".sandbox", stack).run("preview", "--json", *PACK, *arguments, ok=ok).stdout
    preview: dict[str, Any] = json.loads(printed)
    return preview


def violations(preview: dict[str, Any], level: str) -> list[tuple[str, str]]:
    """Rules and names of what breaks them, which is said at this level; advisory rules are advisory everywhere."""
    for violation in preview["violations"]:
        assert violation["level"] == ("advisory" if violation["policy"] in ADVISORY else level)
    return sorted((violation["policy"], violation["resource"]) for violation in preview["violations"])


def created(preview: dict[str, Any]) -> set[str]:
    return {step["name"] for step in preview["steps"] if step["op"] == "create"}


def test_in_production_every_rule_refuses_what_breaks_it_and_nothing_else(tmp_path: Path) -> None:
    preview = previewed(tmp_path, "prod", BREAKING + KEEPING, ok=False)
    assert violations(preview, "mandatory") == sorted((case.rule, case.name) for case in BREAKING)
    refused = sorted({rule.name for rule in RULES} - ADVISORY)
    assert preview["errors"] == [f"mandatory policies are broken: {', '.join(refused)}"]
    messages = {violation["resource"]: violation["message"] for violation in preview["violations"]}
    for case in BREAKING:
        rule, location = messages[case.name].split("\n")
        assert rule in {rule.description for rule in RULES}
        assert location.startswith(f"{case.breaks}: ")


def test_outside_production_violations_are_advisory_and_the_update_continues(tmp_path: Path) -> None:
    preview = previewed(tmp_path, "dev", BREAKING)
    general = {rule.name for rule in RULES if not rule.production}
    assert violations(preview, "advisory") == sorted(
        (case.rule, case.name) for case in BREAKING if case.rule in general
    )
    assert preview["errors"] == []
    assert created(preview) >= {case.name for case in BREAKING}


def test_the_pages_configuration_makes_a_production_stack_of_another_name(tmp_path: Path) -> None:
    *_, example = re.findall(r"```json\n(.*?)```", (PROJECT / "docs" / "delivery.md").read_text(), re.DOTALL)
    config = tmp_path / "config.json"
    config.write_text(example)
    preview = previewed(tmp_path, "live", BREAKING, "--policy-pack-config", str(config), ok=False)
    # The configuration's larger maximum, and its one required tag
    allowed = {case.name for case in BREAKING if "-far" in case.what} | {"owner-missing-gke-cluster"}
    # Nothing in this stack keeps the logs of its clusters.
    unlogged = [("logs-missing", case.name) for case in BREAKING if case.type == cases.TYPES["ManagedCluster"]]
    level = {"owner-missing": "advisory", "secure-boot-off": "advisory"}
    broken = [(violation["policy"], violation["level"], violation["resource"]) for violation in preview["violations"]]
    assert sorted(broken) == sorted(
        (rule, level.get(rule, "mandatory"), name)
        for rule, name in [*((case.rule, case.name) for case in BREAKING), *unlogged]
        if name not in allowed or rule == "logs-missing"
    )


@pytest.mark.parametrize("name", ["dev", "staging", "prod"])
def test_a_stack_of_this_repository_keeps_every_mandatory_rule(name: str, tmp_path: Path) -> None:
    stack = Stack.copy(tmp_path, name)
    preview = json.loads(stack.run("preview", "--json", *PACK).stdout)
    # prod has no vault with a key: a file to be tried anywhere cannot name one.
    advised = [("secrets-key-missing", "ml-prod")] if name == "prod" else []
    assert violations(preview, "mandatory") == advised
    assert preview["errors"] == []


def test_the_production_stack_on_gke_comes_up_without_a_word_of_the_pack_or_the_program(tmp_path: Path) -> None:
    for file in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(PROJECT / file, tmp_path)
    stack = Stack(tmp_path, tmp_path / ".sandbox", "prod-gke")
    example = PROJECT / "examples" / "stacks" / "gke-prod.yaml"
    files = ("--config-file", str(example), "--cloud", str(example.with_suffix(".cloud.yaml")))
    try:
        done = stack.run("up", *files, *PACK)
        assert "✅ kubeflow-spot@" in done.stdout
        assert not re.search("advisory|mandatory", done.stdout)
        # The file is an example: its project and its key are nobody's.
        warned = re.findall(r"warning: gke-prod\.yaml:\d+: (\S+): (.+)", done.stdout)
        assert {path for path, _ in warned} == {"cloud.project", "cloud.encryption.secretsKey"}
        assert all("which examples show and nobody has" in what for _, what in warned)
        preview = json.loads(stack.run("preview", "--json", *files, *PACK).stdout)
        assert (preview["steps"], preview["violations"], preview["errors"]) == ([], [], [])
    finally:
        stack.run("down", "--force")


def test_the_pack_in_a_projects_folder_is_used_unless_it_is_declined(tmp_path: Path) -> None:
    stack = Stack.copy(tmp_path)
    shutil.copytree(PROJECT / "policy", stack.project / "policy", ignore=shutil.ignore_patterns("__pycache__"))
    config = stack.config
    del config["cluster"]["tags"]["owner"]
    stack.write(config)
    preview = json.loads(stack.run("preview", "--json").stdout)
    assert {violation["policy"] for violation in preview["violations"]} == {"owner-missing"}
    assert json.loads(stack.run("preview", "--json", "--no-policy-pack").stdout)["violations"] == []


def test_a_mandatory_policy_keeps_an_up_from_changing_anything(tmp_path: Path) -> None:
    stack = Stack.copy(tmp_path, "prod")
    config = stack.config
    config["cluster"]["protect"] = False
    stack.write(config)
    refused = stack.run("up", *PACK, ok=False)
    assert "[mandatory]  cluster-unprotected  (azure-native:containerservice:ManagedCluster: ml-prod)" in refused.stdout
    # Not even the resource group, which comes first.
    assert "created" not in refused.stdout
    assert "deleted (" not in stack.run("down").stdout
