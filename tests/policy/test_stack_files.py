"""Stack files of this repository against the rules, without an engine."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from config.stack_file import loader
from policy.azure.azure_karpenter import POOL as KARPENTER
from policy.declared import Declared, unversioned
from policy.rules import RULES
from tests.components.program import PROJECT, declare, stack_config
from tests.merge_patch import patched

pytestmark = pytest.mark.program

CONFIGS = PROJECT / "tests" / "configs"


def broken(path: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the rules that the stack breaks."""
    program = declare(stack_config(path), monkeypatch, stack="prod")
    resources = [
        Declared(unversioned(resource.type), resource.inputs, bool(resource.options.get("protect")), resource.name)
        for resource in program.resources
    ]
    return {
        rule.name
        for rule in RULES
        if rule.stack_findings(resources) or any(rule.findings(declared) for declared in resources)
    }


GKE = PROJECT / "examples" / "stacks" / "gke-prod.yaml"


@pytest.mark.parametrize("path", [CONFIGS / "production.happy.yaml", GKE], ids=lambda path: path.name)
def test_the_pages_production_stacks_keep_every_rule_and_leave_no_question_open(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert broken(path, monkeypatch) == set()
    settings = {key.removeprefix("kubeflow-spot:"): value for key, value in stack_config(path).items()}
    assert loader.read_stack(settings, "prod-gke")[1] == []


OPEN = {"ipEndpoint": "public"}


@pytest.mark.parametrize(
    ("access", "rules"),
    [
        (None, {"api-server-open"}),
        # The DNS name beside it closes no address.
        ({**OPEN, "dnsEndpoint": True}, {"api-server-open"}),
        ({**OPEN, "authorizedRanges": ["0.0.0.0/1"]}, {"api-server-open"}),
        ({**OPEN, "authorizedRanges": ["203.0.113.0/24"]}, set()),
        ({"ipEndpoint": "private"}, set()),
    ],
)
def test_an_address_that_everybody_may_try_is_refused_beside_the_dns_name_too(
    access: dict[str, Any] | None, rules: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = stack_config(GKE)
    settings["kubeflow-spot:cloud"] |= {"access": access or {}}
    path = tmp_path / "stack.yaml"
    path.write_text(json.dumps({"config": settings}))
    assert broken(path, monkeypatch) == rules


@pytest.mark.parametrize("name", ["sharing", "mps"])
def test_the_programs_own_pods_may_have_what_they_need_of_their_node(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not broken(CONFIGS / f"{name}.happy.yaml", monkeypatch) & {"host-pod", "broad-role", "image-without-digest"}


ENGINES = ("autoscaler", "karpenter")
NAP = CONFIGS / "node-provisioning.happy.yaml"
EDITS: Mapping[str, tuple[dict[str, Any], set[str]]] = {
    "nothing": ({}, set()),
    "endless": ({"pools": {0: {"maxNodes": 150}}}, {"pool-unbounded"}),
    "nobody's": ({"cluster": {"tags": {"owner": ""}}}, {"owner-missing"}),
}


def declared_by(engine: str, edit: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[Declared]:
    """Return the resources of the stack whose pools this engine scales."""
    settings = {key.removeprefix("kubeflow-spot:"): value for key, value in stack_config(NAP).items()}
    settings["cluster"]["tags"]["owner"] = "ml"
    if engine == "autoscaler":
        del settings["cloud"]["nodeProvisioning"]
    stack = {f"kubeflow-spot:{key}": value for key, value in patched(settings, edit).items()}
    resources = declare(stack, monkeypatch, stack="dev").resources
    return [Declared(unversioned(each.type), each.inputs) for each in resources]


def of_pools(resources: list[Declared]) -> set[str]:
    """Return the rules that hold outside production which the resources break."""
    return {rule.name for rule in RULES if not rule.production and any(map(rule.findings, resources))}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_a_stack_file_breaks_the_same_rules_whatever_scales_its_pools(
    edit: tuple[dict[str, Any], set[str]], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    resources = declared_by(engine, edit[0], monkeypatch)
    assert of_pools(resources) == edit[1]
    assert sum(resource.type == KARPENTER for resource in resources) == (4 if engine == "karpenter" else 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_program_that_leaves_out_the_taints_breaks_the_same_rules(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    untainted = []
    for resource in declared_by(engine, {}, monkeypatch):
        inputs = copy.deepcopy(dict(resource.inputs))
        inputs.pop("nodeTaints", None)
        if resource.type == KARPENTER:
            inputs["spec"]["template"]["spec"].pop("taints")
        untainted.append(Declared(resource.type, inputs))
    assert of_pools(untainted) == {"gpu-pool-untainted", "spot-pool-untainted"}
