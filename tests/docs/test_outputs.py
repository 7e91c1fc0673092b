"""The page on outputs lists exactly what stacks export, under Pulumi's mocks."""

from typing import Any

import pytest
import yaml

from components.layer import discovery
from components.layer.discovery import Contents
from tests.components.program import PROJECT, Declared, declare, stack_config
from tests.components.test_any_cluster import EXISTING, Stacks
from tests.docs import pages

pytestmark = pytest.mark.program

STACKS = ("dev", "staging", "existing", "workloads", "queueing")
FILES = {"workloads": "gke-workloads", "queueing": "gke-queueing"}
"""Stack files of tests/configs."""
WORDS = {str: "text", list: "list", dict: "object"}


def exported(stack: str, monkeypatch: pytest.MonkeyPatch) -> Declared:
    """Return the stack as the program declares it."""
    if stack in FILES:
        return declare(stack_config(PROJECT / f"tests/configs/{FILES[stack]}.happy.yaml"), monkeypatch)
    if stack != "existing":
        return declare(stack_config(PROJECT / f"Pulumi.{stack}.yaml"), monkeypatch, stack=stack)
    monkeypatch.setattr(
        discovery, "read_contents", lambda kubeconfig, what, compute_class=None: Contents(version="1.36.2")
    )
    return declare(EXISTING, monkeypatch, cloud=Stacks())


def rows() -> dict[str, list[str]]:
    """Return type, stacks, secret and example of each output, by its name."""
    (table,) = pages.tables(pages.DOCS / "reference" / "outputs.md")
    assert table[0] == ["output", "type", "which stacks", "secret", "example"]
    return {row[0].strip("`"): row[1:] for row in table[1:]}


def belongs(condition: str, stack: str) -> bool:
    """Return whether a stack has an output that the page says these have."""
    if condition.startswith("AKS"):
        return stack == "dev"
    if condition.startswith("GKE"):
        return stack in ("staging", *FILES) and ("ComputeClass" not in condition or stack != "workloads")
    if condition.startswith("with `"):
        return condition.startswith(f"with `{stack}")
    return stack != "existing" if condition.startswith("new clusters") else True


@pytest.mark.parametrize("stack", STACKS)
def test_the_page_lists_the_outputs_of_a_stack_with_their_types(stack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = exported(stack, monkeypatch)
    listed = {name: row for name, row in rows().items() if belongs(row[1], stack)}
    assert sorted(listed) == sorted(declared.outputs)
    for name, (kind, _, secret, _) in listed.items():
        value: Any = declared.outputs[name]
        assert kind.startswith(WORDS[type(value)]), name
        assert (secret != "no") is (name in declared.secret), name


def test_an_example_of_an_object_is_yaml(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, (kind, _, _, example) in rows().items():
        shown = example.strip("`").replace(", ...", "")
        if kind.startswith(("object", "list")):
            assert isinstance(yaml.safe_load(shown), dict | list), name


def test_plain_examples_are_those_of_the_checked_in_stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = {name: exported(name, monkeypatch).outputs for name in ("dev", "staging")}
    for name, (kind, _, secret, example) in rows().items():
        if kind.startswith("text") and secret == "no":
            assert example.strip("`") in [outputs["dev"].get(name), outputs["staging"].get(name)], name
