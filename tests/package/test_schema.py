"""The package's schema says what the stack file's models say, and the package's folder serves it to the engine."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import grpc
import pytest
import yaml
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from components import references
from components.output_types import ClusterOutputs
from components.package.provider import Package
from components.package.schema import SETTINGS
from config.model.fields import Model
from config.stack_file import loader

SCHEMA = json.loads(Package().schema or "")
TYPES = SCHEMA["types"]
COMPONENT = SCHEMA["resources"]["kubeflow-spot:index:KubeflowCluster"]
LIBRARY = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "library.md").read_text()


def models(annotation: Any) -> Iterator[type[Model]]:
    """Yield all models of an annotation and of their fields."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield annotation
        for field in annotation.model_fields.values():
            yield from models(field.annotation)
    for argument in get_args(annotation):
        yield from models(argument)


MODELS = {model.__name__: model for annotation in SETTINGS.values() for model in models(annotation)}


def test_the_arguments_are_the_keys_of_a_stack_file() -> None:
    (unknown,) = [problem for problem in loader.read_stack({"x": 1})[1] if problem.path == "x"]
    assert set(COMPONENT["inputProperties"]) == set(unknown.remedy.rpartition("keys here: ")[2].split(", "))
    # An existing cluster needs the least.
    missing = loader.read_stack({"cloud": {"provider": "existing", "name": "ours", "kubeconfig": {"file": "x"}}})[1]
    assert {"cloud", *(problem.path for problem in missing)} == set(COMPONENT["requiredInputs"])
    assert all(spec["description"] for spec in COMPONENT["inputProperties"].values())


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_every_field_of_a_model_has_its_type(model: type[Model]) -> None:
    spec = TYPES[f"kubeflow-spot:index:{model.__name__}"]
    assert spec["description"]
    assert set(spec["properties"]) == {field.alias for field in model.model_fields.values()}
    assert spec["required"] == sorted(str(f.alias) for f in model.model_fields.values() if f.is_required())
    for field in model.model_fields.values():
        typed = spec["properties"][field.alias]
        assert {"type", "$ref", "oneOf"} & typed.keys()
        if field.description:
            assert field.description[1:].rstrip(".") in typed["description"]


def test_types_are_those_of_the_fields() -> None:
    pool = TYPES["kubeflow-spot:index:Pool"]["properties"]
    assert pool["maxNodes"]["type"] == "integer"
    assert pool["taints"] == {
        "type": "array",
        "items": {"$ref": "#/types/kubeflow-spot:index:Taint"},
        "description": pool["taints"]["description"],
    }
    assert pool["labels"]["additionalProperties"] == {"type": "string"}
    assert pool["installDriver"]["type"] == "boolean"
    assert pool["installDriver"]["description"].endswith("Default: true.")
    assert "One of: spot, preemptible, flex-start, on-demand." in pool["capacity"]["description"]
    assert TYPES["kubeflow-spot:index:Spot"]["properties"]["maxPrice"]["type"] == "number"
    secret = TYPES["kubeflow-spot:index:ImagePullSecret"]["properties"]["password"]
    assert (secret["type"], secret["secret"]) == ("string", True)
    # A default in the schema would be sent, and whether a file sets a key matters to the rules.
    assert not [key for spec in TYPES.values() for key, typed in spec["properties"].items() if "default" in typed]


def test_a_cloud_is_recognised_by_its_provider() -> None:
    cloud = COMPONENT["inputProperties"]["cloud"]
    assert {option["$ref"] for option in cloud["oneOf"]} == set(cloud["discriminator"]["mapping"].values())
    for provider, reference in cloud["discriminator"]["mapping"].items():
        assert TYPES[reference.removeprefix("#/types/")]["properties"]["provider"]["const"] == provider


def test_every_reference_leads_to_a_type() -> None:
    text = json.dumps(SCHEMA)
    named = {part.partition('"')[0] for part in text.split('"#/types/')[1:]}
    assert named <= set(TYPES)


@pytest.mark.parametrize("path", references.all_clouds())
def test_inputs_that_another_resource_may_make_are_marked_in_the_schema_and_in_the_docs(path: str) -> None:
    assert f"| `{path}` |" in LIBRARY
    reached = [COMPONENT["inputProperties"]]
    for part in path.replace("[]", "").split("."):
        specs = [properties[part] for properties in reached if part in properties]
        names = [
            option["$ref"].removeprefix("#/types/")
            for spec in specs
            for option in (spec.get("oneOf") or [spec.get("items", spec)])
            if "$ref" in option
        ]
        reached = [TYPES[name]["properties"] for name in names]
    assert specs
    assert all("May be made by another resource" in spec["description"] for spec in specs)


def test_the_docs_name_nothing_else_that_may_be_unknown() -> None:
    table = LIBRARY.partition("| key | cloud |")[2].partition("\n\n")[0]
    named = {line.split("`")[1] for line in table.splitlines() if line.startswith("| `")}
    assert named == set(references.all_clouds())


def test_outputs_are_typed() -> None:
    outputs = COMPONENT["properties"]
    assert outputs.keys() == ClusterOutputs.__annotations__.keys()
    assert set(COMPONENT["required"]) == ClusterOutputs.__required_keys__
    assert outputs["kubeconfig"] == {"type": "string", "secret": True, "description": "Credentials of the cluster."}
    assert outputs["pools"]["items"] == {"$ref": "#/types/kubeflow-spot:index:NodePool"}
    assert "largestRequest" not in TYPES["kubeflow-spot:index:NodePool"]["required"]
    assert all(spec["description"] for spec in outputs.values())


PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = PROJECT / "components" / "package"


def test_the_manifest_names_the_environment_of_the_repositorys_lock_file() -> None:
    runtime = yaml.safe_load((PACKAGE / "PulumiPlugin.yaml").read_text())["runtime"]
    # pulumi-language-python takes the nearest uv.lock above; a `virtualenv` would be beside the manifest.
    assert runtime == {"name": "python", "options": {"toolchain": "uv"}}
    assert next(folder for folder in PACKAGE.parents if (folder / "uv.lock").exists()) == PROJECT
    assert not (PACKAGE / "pyproject.toml").exists()


@pytest.mark.process
def test_the_host_serves_the_schema_on_the_port_that_it_prints() -> None:
    process = subprocess.Popen([sys.executable, str(PACKAGE), "127.0.0.1:1"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}") as channel:
            provider = provider_pb2_grpc.ResourceProviderStub(channel)
            schema = provider.GetSchema(provider_pb2.GetSchemaRequest(version=0)).schema
            version = provider.GetPluginInfo(empty_pb2.Empty()).version
    finally:
        process.kill()
        process.wait()
    assert (schema, version) == (Package().schema, Package().version)
