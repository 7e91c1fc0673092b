"""The release of a stack and the one that the cluster was declared with; pins of a stack's own in what is declared."""

from typing import Any

import pulumi
import pytest

from components.layer import names, release
from config import releases
from tests.components.features import with_
from tests.components.program import PROJECT, declare, stack_config
from tests.components.test_any_cluster import EXISTING, Stacks

IMAGE = "registry.example.com/mirror/plugin:v1@sha256:" + 64 * "a"
WHY = "our mirror has nothing else"


def contract(declared: Any, instance: str = "dev") -> dict[str, Any]:
    return {"metadata": {"name": "kubeflow-spot", "labels": names.labels(instance)}, "data": {"release": declared}}


@pytest.mark.parametrize(
    "existing",
    [
        None,
        contract("r2026-09"),
        contract("r2026-11"),
        # An earlier release of the program is no obstacle.
        contract("r2025-03"),
        {"metadata": {"labels": names.labels("dev")}},
        contract(None),
    ],
)
def test_a_cluster_of_the_same_release_or_an_older_one_is_declared_without_a_word(
    existing: dict[str, Any] | None,
) -> None:
    assert release.check_release("r2026-11", existing) == ()


@pytest.mark.parametrize("declared", ["r2099-01", "r2099-01.2", "v2"])
def test_a_cluster_of_a_newer_program_is_refused_and_both_releases_are_named(declared: str) -> None:
    with pytest.raises(pulumi.RunError) as refused:
        release.check_release("r2026-09", contract(declared))
    text = str(refused.value)
    assert f"release: the cluster was declared with {declared}, which this program does not know" in text
    assert f"its newest is {releases.names()[-1]}" in text
    assert "the stack file says r2026-09" in text
    assert f"config/releases/{declared}.toml" in text


@pytest.mark.parametrize(
    ("declared", "wanted", "older"), [("r2026-11", "r2026-09", "is older"), ("next", "r2026-11", "may be older")]
)
def test_an_older_release_gives_a_warning(declared: str, wanted: str, older: str) -> None:
    (warning,) = release.check_release(wanted, contract(declared))
    assert warning.startswith(f"release: the cluster was declared with {declared}; {wanted} {older}")


@pytest.mark.program
def test_a_newer_programs_cluster_gets_nothing_declared(contents: dict[str, Any]) -> None:
    # That of another stack is no obstacle.
    contents["contracts"] = (contract("r2099-01", "another"),)
    declare(EXISTING, cloud=Stacks())
    contents["contracts"] += (contract("r2099-01", names.instance("test")),)
    with pytest.raises(pulumi.RunError, match="r2099-01"):
        declare(EXISTING, cloud=Stacks())


@pytest.mark.program
def test_the_stacks_own_pins_are_declared_and_shown(contents: dict[str, Any]) -> None:
    settings = with_(EXISTING, overrides=[{"pin": "devicePluginImage", "value": IMAGE, "reason": WHY}])
    declared = declare(settings, cloud=Stacks())
    (plugin,) = declared.of("kubernetes:apps/v1:DaemonSet").values()
    assert {container["image"] for container in plugin.inputs["spec"]["template"]["spec"]["containers"]} == {IMAGE}
    (shown,) = declared.outputs["overrides"]
    instead = shown.pop("instead")
    assert instead.startswith("nvcr.io/nvidia/k8s-device-plugin:")
    assert shown == {"pin": "devicePluginImage", "value": IMAGE, "reason": WHY}
    assert declared.outputs["release"] == "r2026-11"


@pytest.mark.program
@pytest.mark.parametrize("stack", ["dev", "staging"])
def test_an_overridden_version_reaches_the_cluster_and_every_pool(stack: str) -> None:
    settings = stack_config(PROJECT / f"Pulumi.{stack}.yaml")
    own = [{"pin": "kubernetesVersion", "value": "1.35", "reason": WHY}]
    declared = declare(settings | {"kubeflow-spot:overrides": own})
    keys = ("kubernetesVersion", "orchestratorVersion", "minMasterVersion")
    versions = {resource.inputs[key] for resource in declared.resources for key in keys if key in resource.inputs}
    assert versions == {"1.35"}
    assert declared.outputs["kubernetesVersion"] == "1.35"
    assert declared.outputs["overrides"] == [{**own[0], "instead": "1.36"}]
    assert not declared.of("kubernetes:admissionregistration.k8s.io/v1:MutatingAdmissionPolicy")


@pytest.mark.program
def test_a_stack_without_overrides_shows_that_it_has_none() -> None:
    assert declare(stack_config(PROJECT / "Pulumi.dev.yaml")).outputs["overrides"] == []


@pytest.mark.program
def test_a_production_stack_is_not_declared_from_the_candidate() -> None:
    settings = stack_config(PROJECT / "Pulumi.dev.yaml") | {"kubeflow-spot:release": "next"}
    assert declare(settings, stack="dev").outputs["release"] == "next"
    with pytest.raises(pulumi.RunError, match="not for production"):
        declare(settings, stack="prod")
