"""Values that other resources make: unknown in a preview, and the names and ids that follow from them."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi.output import UNKNOWN

from components import references
from config.model.fields import Reference
from tests.components.features import ID
from tests.components.program import with_outputs
from tests.package.construct import ARGUMENTS, GOOGLE, construct
from tests.package.test_construct import changed

pytestmark = pytest.mark.program

WIRE_UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"

AZURE_EXISTING = {"existing": {"resourceGroup": "ml", "name": "ml", "subnet": "nodes"}, "policy": "calico"}
GCP_EXISTING = {"existing": {"name": "ml", "subnet": "nodes", "podRange": "pods", "serviceRange": "services"}}
ON_GOOGLE = ("podRange", "serviceRange", "serviceAccount", "secretsKey", "bootDiskKey")


def with_unknown(path: str) -> dict[str, Any]:
    """Return arguments that are right but for one value that is unknown."""
    google = path.endswith(ON_GOOGLE)
    arguments: dict[str, Any] = copy.deepcopy(GOOGLE if google else ARGUMENTS)
    if "network.existing" in path or "subnet" in path:
        arguments["cloud"]["network"] = copy.deepcopy(GCP_EXISTING if google else AZURE_EXISTING)
    *parents, last = path.split(".")
    whole: Any = arguments
    for key in parents:
        whole = whole["pools"][0] if key == "pools[]" else whole.setdefault(key, {})
    whole[last] = pulumi.Output.from_input(UNKNOWN)
    return arguments


@pytest.mark.parametrize("path", references.all_clouds())
def test_what_another_resource_makes_may_be_unknown_in_a_preview(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    declared = construct(lambda: with_unknown(path), tmp_path, monkeypatch, preview=True)
    sent = str([resource.inputs for resource in declared.resources])
    assert WIRE_UNKNOWN in sent
    # Nothing of the text that stood for it in the checks.
    assert "unknown-1" not in sent
    assert "unknown-1" not in str(warnings)
    assert [text for text in warnings if text.startswith(path)] == []
    assert "unknown-1" not in str(declared.outputs)


def differs(before: Any, after: Any) -> bool:
    """Return whether an input of a preview is known, and another one in the update."""
    if isinstance(before, str) and before == WIRE_UNKNOWN:
        return False
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() != after.keys() or any(differs(before[key], after[key]) for key in before)
    if isinstance(before, list) and isinstance(after, list):
        return len(before) != len(after) or any(map(differs, before, after))
    return bool(before != after)


Named = Callable[[str], pulumi.Output[Any]]


def on_azure(name: Named) -> dict[str, Any]:
    """Return arguments in which other resources make the group, the network and three of its subnets."""
    arguments = copy.deepcopy(ARGUMENTS)
    existing = {"resourceGroup": name("net"), "name": name("ml"), "subnet": name("nodes")}
    arguments["cloud"] |= {
        "existingResourceGroup": name("team"),
        "network": {"existing": existing, "policy": "calico"},
        "registry": {"id": name(f"{ID}/Microsoft.ContainerRegistry/registries/ml")},
    }
    arguments["systemPool"]["subnet"] = name("system")
    arguments["pools"][0] |= {"subnet": name("gpus"), "fallback": [{"onDemand": {"maxNodes": 2}}]}
    return arguments


def on_google(name: Named) -> dict[str, Any]:
    """Return arguments in which other resources make the network, the account and the keys."""
    arguments = copy.deepcopy(GOOGLE)
    key = "projects/corp/locations/europe-west4/keyRings/ml/cryptoKeys/ml"
    existing = {"podRange": name("gke-pods"), "serviceRange": name("gke-services")}
    arguments["cloud"] |= {
        "network": {"existing": {"name": name("corp"), "subnet": name("nodes"), **existing}},
        "serviceAccount": name("nodes@corp-nodes.iam.gserviceaccount.com"),
        "encryption": {"secretsKey": name(key), "bootDiskKey": name(key)},
    }
    return arguments


@pytest.mark.parametrize("arguments", [on_azure, on_google])
def test_a_preview_that_knows_no_name_and_the_update_agree_in_every_name_and_id(
    arguments: Callable[[Named], dict[str, Any]], tmp_path: Path
) -> None:
    def inputs_of(name: Named, preview: bool) -> dict[tuple[str, str], dict[str, Any]]:
        with pytest.MonkeyPatch.context() as own:
            run = construct(lambda: arguments(name), tmp_path, own, preview=preview)
        return {(resource.type, resource.name): resource.inputs for resource in run.resources}

    before = inputs_of(lambda _: pulumi.Output.from_input(UNKNOWN), True)
    after = inputs_of(pulumi.Output.from_input, False)
    assert before.keys() == after.keys()
    assert [key for key in before if differs(before[key], after[key])] == []
    assert WIRE_UNKNOWN in str(before)
    assert "unknown-" not in str([*before, before.values()])


def test_no_other_value_may_be_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = lambda: changed("cloud.location", pulumi.Output.from_input(UNKNOWN))  # noqa: E731
    with pytest.raises(pulumi.InputPropertiesError) as wrong:
        construct(arguments, tmp_path, monkeypatch, preview=True)
    (error,) = wrong.value.errors or ()
    assert error["property_path"] == "cloud.location"
    assert error["reason"].startswith("is not known before the update")


def test_a_value_that_a_preview_does_not_know_is_checked_as_what_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = {"clusterName": "ml-team", "resourceGroup": "team"}
    remembered = {"component": "ml", "place": place, "inputs": {"cloud.existingResourceGroup": "team"}}
    path = "cloud.existingResourceGroup"
    construct(lambda: with_unknown(path), tmp_path, monkeypatch, preview=True, cloud=with_outputs({"a": remembered}))
    # A made-up text is no move.
    del remembered["inputs"]
    construct(lambda: with_unknown(path), tmp_path, monkeypatch, preview=True, cloud=with_outputs({"a": remembered}))
    remembered["inputs"] = {path: "elsewhere"}
    with pytest.raises(pulumi.InputPropertiesError, match="is team and cannot become elsewhere"):
        construct(
            lambda: with_unknown(path), tmp_path, monkeypatch, preview=True, cloud=with_outputs({"a": remembered})
        )


@pytest.mark.parametrize("show", [str, "{}".format, lambda reference: f"{reference}"])
def test_a_reference_cannot_be_formatted_by_accident(show: Callable[[Reference], str]) -> None:
    with pytest.raises(TypeError, match="write its `text`"):
        show(Reference("ml"))
