"""The component as the package constructs it: arguments, errors, unknown values, several in one stack."""

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml

from components import running
from components.output_types import ClusterOutputs
from components.package.provider import Package
from config.stack_file import loader
from tests.components.program import KUBECONFIG, PROJECT, Answering, stack_config, with_outputs
from tests.components.program import running as live_pools
from tests.components.test_removals_on_each_target import After
from tests.package.construct import ARGUMENTS, GOOGLE, TOKEN, construct

pytestmark = pytest.mark.program


_SCHEMA = json.loads(Package().schema or "")
OUTPUTS = _SCHEMA["resources"][TOKEN]["properties"]


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return the arguments with another value at a path of keys."""
    arguments = copy.deepcopy(ARGUMENTS)
    *parents, last = path.split(".")
    whole = arguments
    for key in parents:
        whole = whole.setdefault(key, {})
    whole[last] = value
    return arguments


def conforms(value: Any, spec: Mapping[str, Any]) -> bool:
    """Return whether a value is of a type of the package's schema."""
    if "$ref" in spec:
        name = spec["$ref"].removeprefix("#/types/")
        return name.endswith("#/Any") or conforms(value, _SCHEMA["types"][name])
    match spec["type"]:
        case "array":
            return isinstance(value, list) and all(conforms(item, spec["items"]) for item in value)
        case "object" if "properties" in spec:
            known = all(key in spec["properties"] and conforms(value[key], spec["properties"][key]) for key in value)
            return known and set(spec["required"]) <= set(value)
        case "object":
            return isinstance(value, dict) and all(
                conforms(item, spec["additionalProperties"]) for item in value.values()
            )
        case plain:
            return isinstance(value, {"string": str, "integer": (int, float), "boolean": bool}[plain])


def test_it_declares_what_the_program_declares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = construct(lambda: ARGUMENTS, tmp_path, monkeypatch)
    (cluster,) = declared.of("azure-native:containerservice:ManagedCluster").values()
    assert cluster.inputs["resourceName"] == "ml-team"
    assert declared.outputs["kubeconfig"] == KUBECONFIG
    assert "kubeconfig" in declared.secret
    assert "pools" not in declared.secret


@pytest.mark.parametrize("file", ["Pulumi.dev.yaml", "Pulumi.staging.yaml", "Pulumi.prod.yaml"])
def test_its_outputs_are_of_the_types_of_the_schema(file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {key.partition(":")[2]: value for key, value in stack_config(PROJECT / file).items()}
    outputs = construct(lambda: settings, tmp_path, monkeypatch).outputs
    del outputs["urn"]
    outputs = {key: value for key, value in outputs.items() if value is not None}
    assert ClusterOutputs.__required_keys__ <= set(outputs) <= set(OUTPUTS)
    assert [key for key, value in outputs.items() if not conforms(value, OUTPUTS[key])] == []


def test_every_mistake_is_an_error_with_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = changed("systemPool.minNodess", 3.0)
    arguments["pools"][0]["spot"] = {"maxPrice": 0.1234567}
    with pytest.raises(pulumi.InputPropertiesError, match="2 problems in the arguments; nothing was declared") as wrong:
        construct(lambda: arguments, tmp_path, monkeypatch)
    errors = {error["property_path"]: error["reason"] for error in wrong.value.errors or ()}
    assert list(errors) == ["pools[0].spot.maxPrice", "systemPool.minNodess"]
    assert errors["systemPool.minNodess"].startswith("is not a key of this object; did you mean `minNodes`?")


def test_a_refusal_by_the_cloud_is_reported_without_a_class_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(pulumi.InputPropertiesError, match=r"^cloud: .*cluster 'ml-team' .* cannot be read"):
        construct(lambda: ARGUMENTS, tmp_path, monkeypatch, cloud=Answering(getManagedCluster="Status=403"))


def test_whole_numbers_arrive_as_floats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = construct(lambda: changed("systemPool.maxNodes", 4.0), tmp_path, monkeypatch)
    assert declared.outputs["systemPool"]["maxNodes"] == 4


def test_a_clouds_own_properties_reach_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"upgradeSettings": {"drainTimeoutInMinutes": 60.0}}
    declared = construct(lambda: changed("systemPool.azure.properties", settings), tmp_path, monkeypatch)
    (cluster,) = declared.of("azure-native:containerservice:ManagedCluster").values()
    assert cluster.inputs["agentPoolProfiles"][0]["upgradeSettings"]["drainTimeoutInMinutes"] == 60


def test_a_known_value_of_another_resource_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = lambda: changed("cloud.registry.id", pulumi.Output.from_input("registry"))  # noqa: E731
    with pytest.raises(pulumi.InputPropertiesError) as wrong:
        construct(arguments, tmp_path, monkeypatch)
    assert [error["property_path"] for error in wrong.value.errors or ()] == ["cloud.registry.id"]


SECRET = "geheim"


@pytest.mark.parametrize(
    "path", ["cloud.registry.id", "cloud.existingResourceGroup", "systemPool.maxNodes", "cluster.name", "cluster"]
)
def test_a_secret_is_refused_where_no_setting_keeps_one(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    arguments = lambda: changed(path, pulumi.Output.secret(SECRET))  # noqa: E731
    with pytest.raises(pulumi.InputPropertiesError, match=rf"{path}: is a secret or holds one") as refused:
        construct(arguments, tmp_path, monkeypatch)
    # The engine shows the value at the path of every error that has one.
    assert not refused.value.errors
    assert SECRET not in f"{refused.value}{warnings}"


@pytest.mark.parametrize("whole", [True, False])
def test_errors_beside_a_password_are_told_without_a_path_of_their_own(
    whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def arguments() -> dict[str, Any]:
        password = SECRET if whole else pulumi.Output.secret(SECRET)
        one = {"name": "acr", "server": "example.azurecr.io", "username": "u", "password": password}
        both = [one, {**one, "username": "other"}]
        secrets = pulumi.Output.secret(both) if whole else both
        return {**changed("systemPool.minNodess", 1), "imagePullSecrets": secrets}

    with pytest.raises(pulumi.InputPropertiesError, match=r"imagePullSecrets\[1\]: makes the Secret") as refused:
        construct(arguments, tmp_path, monkeypatch)
    assert [error["property_path"] for error in refused.value.errors or ()] == ["systemPool.minNodess"]
    assert SECRET not in f"{refused.value}{refused.value.errors}"


REGISTRY = "/subscriptions/11111111-2222-3333-4444-555555555555/resourceGroups/r/providers/Microsoft.ContainerRegistry/registries/x"


def test_a_known_value_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = lambda: changed("cloud.registry.id", pulumi.Output.from_input(REGISTRY))  # noqa: E731
    declared = construct(plain, tmp_path, monkeypatch)
    (pull,) = declared.of("azure-native:authorization:RoleAssignment", "-pull").values()
    assert pull.inputs["scope"] == REGISTRY
    assert declared.outputs["remembered"]["inputs"] == {"cloud.registry.id": REGISTRY}


def test_a_secret_password_may_be_an_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def arguments() -> dict[str, Any]:
        secret = {"name": "acr", "server": "example.azurecr.io", "username": "u", "password": pulumi.Output.secret("p")}
        return {**ARGUMENTS, "imagePullSecrets": [secret]}

    declared = construct(arguments, tmp_path, monkeypatch)
    assert len(declared.of("kubernetes:core/v1:Secret")) == 1


def test_a_password_that_is_no_secret_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def arguments() -> dict[str, Any]:
        clear = {"name": "acr", "server": "example.azurecr.io", "username": "u", "password": SECRET}
        return {**ARGUMENTS, "imagePullSecrets": [clear, {**clear, "name": "b", "password": pulumi.Output.secret("p")}]}

    with pytest.raises(pulumi.InputPropertiesError, match=r"\[0\].password: is in clear text") as refused:
        construct(arguments, tmp_path, monkeypatch)
    assert SECRET not in f"{refused.value}{refused.value.errors}"


def test_each_component_finds_its_own_among_the_stacks_outputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = {"clusterName": "elsewhere", "resourceGroup": "elsewhere"}
    others = {"a": {"component": "other", "place": place}, "remembered": {"place": place}, "b": "text"}
    construct(lambda: ARGUMENTS, tmp_path, monkeypatch, cloud=with_outputs(others))
    own = {**others, "c": {"component": "ml", "place": place}}
    with pytest.raises(pulumi.InputPropertiesError, match="is elsewhere and cannot become ml-team"):
        construct(lambda: ARGUMENTS, tmp_path, monkeypatch, cloud=with_outputs(own))


@pytest.mark.parametrize("older", [False, True], ids=["remembered", "of an older program"])
def test_a_removed_pool_in_use_is_refused_whatever_the_outputs_are_called(
    older: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program may export a component's outputs by any name; an older program remembered no pools."""
    (pool,) = ARGUMENTS["pools"]
    with_twin = {**ARGUMENTS, "pools": [{**pool, "fallback": [{"onDemand": {"maxNodes": 1}}]}]}
    first = construct(lambda: with_twin, tmp_path, monkeypatch)
    remembered = {key: value for key, value in first.outputs["remembered"].items() if not (older and key == "pools")}
    pod = {"metadata": {"namespace": "team-a", "name": "nb-0"}, "spec": {}}
    monkeypatch.setattr(running, "read_running", lambda *_: {"t4od": running.Running(("node-1",), (pod,))})
    cloud = After(live_pools(first), {"any": remembered, "list": first.outputs["pools"]})
    with pytest.raises(pulumi.InputPropertiesError, match=r"the on-demand pool t4od would go .*team-a/nb-0"):
        construct(lambda: ARGUMENTS, tmp_path, monkeypatch, cloud=cloud)


def test_objects_inside_two_clusters_of_a_stack_have_two_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = construct(lambda: ARGUMENTS, tmp_path, monkeypatch, names=("ml", "eu"))
    names = [resource.inputs["metadata"]["name"] for resource in declared.of("kubernetes:apps/v1:DaemonSet").values()]
    assert len(set(names)) == 2
    assert all(name.startswith("kubeflow-spot-test-") for name in names)


def test_another_type_is_not_in_the_package(tmp_path: Path) -> None:
    with pytest.raises(pulumi.InputPropertiesError, match="kubeflow-spot:index:Other is not in this package"):
        Package().construct("ml", "kubeflow-spot:index:Other", {})


def test_the_yaml_example_is_right() -> None:
    text = (PROJECT / "examples" / "library" / "Pulumi.yaml").read_text()
    example = yaml.safe_load(text)
    cluster = example["resources"]["ml"]
    assert cluster["type"] == "kubeflow-spot:index:KubeflowCluster"
    spec, problems = loader.read_stack(cluster["properties"])
    assert spec is not None
    assert problems == []
    assert {output.split(".")[1].rstrip("}") for output in example["outputs"].values()} <= set(OUTPUTS)


@pytest.mark.parametrize("arguments", [ARGUMENTS, GOOGLE], ids=["azure", "gcp"])
def test_a_protected_component_protects_its_cluster(
    arguments: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = construct(lambda: arguments, tmp_path, monkeypatch, protect=True)
    clusters = [
        resource for resource in declared.resources if resource.type.endswith((":ManagedCluster", "cluster:Cluster"))
    ]
    assert [cluster.options.get("protect") for cluster in clusters] == [True]
