"""The package under the real engine: its schema, and a cluster that a second program constructs.

The engine finds the package as a plugin of the project file, which runs the package's folder as Pulumi's language host for Python
does. The program is the example of examples/library/ml.py, with the SDK that Pulumi generates.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from components.package.provider import Package
from components.package.schema import TOKEN
from sandbox.base.checkpoint import Checkpoint
from sandbox.base.home import Home
from sandbox.tests import commands
from sandbox.toolchain import programs

pytestmark = [pytest.mark.engine, pytest.mark.tools]

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = PROJECT / "components" / "package"
EXAMPLE = (PROJECT / "examples" / "library" / "ml.py").read_text()
TRANSFORM = (PROJECT / "docs" / "reference" / "library.md").read_text().split("```python\n")[1].partition("```")[0]

SUBSCRIPTION = "11111111-2222-4333-8444-555555555555"
OWN = f"""\
own = azure.Provider("own", subscription_id="{SUBSCRIPTION}")
opts = pulumi.ResourceOptions(provider=own)

group ="""


def program() -> str:
    """Return the example, everything in it by a provider of its own."""
    text = EXAMPLE.replace("\n)\n", "\n    opts=opts,\n)\n").replace('europe")', 'europe", opts=opts)')
    assert text.count("opts=opts") == 4
    return text.replace("group =", OWN, 1)


def generate_sdk(folder: Path) -> None:
    """Write the package's SDK for Python into a folder, with the metadata that an installation adds."""
    generator = programs.ensure(["pulumi-sdk"], print)["pulumi-sdk"]
    schema = folder / "schema.json"
    schema.write_text(Package().schema or "")
    subprocess.run([generator, "python", schema, folder], check=True)
    metadata = folder / "pulumi_kubeflow_spot-0.1.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: pulumi_kubeflow_spot\nVersion: 0.1.0\n")


@dataclass
class Team:
    """A project of a user of the package."""

    folder: Path
    planned: set[str] = field(default_factory=set)
    """URNs of the preview before the first `up`, which knows nothing that other resources make."""

    def run(self, command: str, *options: str, fails: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command of the sandbox that succeeds, or fails."""
        done = commands.run([command, "--stack", "dev", "--cwd", str(self.folder), *options])
        assert (done.returncode != 0) == fails, f"{done.stdout}\n{done.stderr}"
        return done

    def write(self, program: str) -> None:
        (self.folder / "__main__.py").write_text(program)

    @property
    def home(self) -> Home:
        return Home.of("dev", self.folder)

    def resources(self, type: str = "") -> list[dict[str, Any]]:
        """Return the resources in the engine's state whose type begins so."""
        return [resource for resource in Checkpoint(self.home).resources() if resource["type"].startswith(type)]


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    script = tmp_path_factory.mktemp("plugins") / "pulumi-resource-kubeflow-spot"
    command = shlex.join([sys.executable, str(PACKAGE)])
    script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    script.chmod(0o755)
    return script


@pytest.fixture(scope="module")
def team(plugin: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("team")
    plugins = {"providers": [{"name": "kubeflow-spot", "path": os.path.relpath(plugin.parent, folder)}]}
    project = {"name": "team", "runtime": "python", "options": {"refresh": "always"}, "plugins": plugins}
    (folder / "Pulumi.yaml").write_text(json.dumps(project))
    (folder / "Pulumi.dev.yaml").write_text("config: {}\n")
    generate_sdk(folder)
    team = Team(folder)
    team.write(program())
    steps = json.loads(team.run("preview", "--json").stdout)["steps"]
    team.planned = {step["urn"] for step in steps if step["op"] == "create"}
    team.run("up")
    yield team
    team.run("down")
    assert not team.home.directory.exists()


def test_the_engine_reads_the_packages_schema(plugin: Path, tmp_path: Path) -> None:
    pulumi = programs.ensure(["pulumi"], print)["pulumi"]
    environment = {**os.environ, "PULUMI_HOME": str(tmp_path), "PULUMI_SKIP_UPDATE_CHECK": "true"}
    # The engine binds the schema: every type it names exists.
    done = subprocess.run(
        [pulumi, "package", "get-schema", plugin], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    schema, expected = json.loads(done.stdout), json.loads(Package().schema or "")
    assert schema["name"] == "kubeflow-spot"
    assert schema["types"].keys() == expected["types"].keys()
    assert (
        schema["resources"][TOKEN]["inputProperties"].keys() == expected["resources"][TOKEN]["inputProperties"].keys()
    )
    assert schema["resources"][TOKEN]["isComponent"] is True


def test_the_engine_takes_the_folder_for_a_plugin_in_python(tmp_path: Path) -> None:
    pulumi = programs.ensure(["pulumi"], print)["pulumi"]
    # Without a PATH it finds no language host, with which it would run the folder.
    environment = {"PATH": "", "PULUMI_HOME": str(tmp_path), "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true"}
    done = subprocess.run(
        [pulumi, "package", "get-schema", PACKAGE], env=environment, capture_output=True, text=True, check=False
    )
    assert "no language plugin 'pulumi-language-python' found" in done.stderr


def test_a_second_program_constructs_a_cluster_in_a_network_of_its_own(team: Team) -> None:
    (component,) = team.resources(TOKEN)
    (cluster,) = team.resources("azure-native:containerservice:ManagedCluster")
    (subnet,) = team.resources("azure-native:network:Subnet")
    assert f"::{TOKEN}$" in cluster["urn"]
    assert component["outputs"]["clusterName"] == "ml-team"
    # By the subscription of the program's provider: reads follow it, resources as well.
    assert cluster["inputs"]["agentPoolProfiles"][0]["vnetSubnetID"] == subnet["id"]
    assert subnet["id"].startswith(f"/subscriptions/{SUBSCRIPTION}/resourceGroups/ml/")
    assert {resource["provider"].split("::")[3] for resource in team.resources("azure-native:")} == {"own"}
    # Deleted before what it is in.
    assert subnet["urn"] in cluster["dependencies"]


def test_the_first_preview_and_the_update_agree_in_every_name(team: Team) -> None:
    assert team.planned == {resource["urn"] for resource in team.resources()}


def test_its_outputs_are_the_programs(team: Team) -> None:
    outputs = Checkpoint(team.home).outputs()
    assert [pool["name"] for pool in outputs["pools"]] == ["general", "t4"]
    assert "ciphertext" in outputs["kubeconfig"]
    names = {"cloud.existingResourceGroup": "ml", "cloud.network.existing.resourceGroup": "ml"}
    names |= {"cloud.network.existing.name": "ml", "cloud.network.existing.subnet": "nodes"}
    assert outputs["remembered"]["inputs"] == names
    assert outputs["remembered"]["component"] == "ml"


def test_a_changed_network_whose_name_a_preview_does_not_know_and_a_transform_change_nothing_else(team: Team) -> None:
    text = program().replace('virtual_network_name="ml",', 'virtual_network_name="ml",\n    tags={"team": "ml"},')
    text = text.replace("cluster = ", f"{TRANSFORM}\ncluster = ", 1)
    team.write(
        text.replace(
            "    opts=opts,\n)\npulumi.export",
            "    opts=pulumi.ResourceOptions.merge(opts, options),\n)\npulumi.export",
        )
    )
    steps = json.loads(team.run("preview", "--json").stdout)["steps"]
    assert {(step["op"], step["name"], *step["diff"]) for step in steps} == {
        ("update", "ml", "tags"),
        ("update", "ml-general", "tags.costCenter"),
        ("update", "ml-t4", "tags.costCenter"),
    }


def test_an_error_shows_no_secret(team: Team) -> None:
    one = '{"name": "acr", "server": "a.example.com", "username": "u", "password": pulumi.Output.secret("geheim")}'
    team.write(program().replace("    pools=[", f"    image_pull_secrets=[{one}, {one}],\n    pools=[", 1))
    done = team.run("preview", fails=True)
    assert "imagePullSecrets[1]: makes the Secret 'acr'" in done.stdout + done.stderr
    assert "geheim" not in done.stdout + done.stderr


MOVED = ('name="ml-team"', 'name="elsewhere"', "cluster.name: is ml-team and cannot become elsewhere")
MACHINE = ('"Standard_D8ds_v5"', '"Standard_D16ds_v5"', "pools[0].machine: general: is Standard_D8ds_v5 in the cluster")
SECRET = (
    'location="westeurope",\n        existing',
    'location=pulumi.Output.secret("geheim"),\n        existing',
    "cloud.location:",
)


@pytest.mark.parametrize(("old", "new", "expected"), [MOVED, MACHINE, SECRET])
def test_a_refusal_is_told_as_it_is(team: Team, old: str, new: str, expected: str) -> None:
    assert old in program()
    team.write(program().replace(old, new, 1))
    done = team.run("preview", fails=True)
    text = done.stdout + done.stderr
    assert expected in text, text
    assert not [word for word in ("trailing_metadata", "Unexpected", "geheim") if word in text]


@pytest.mark.slow
def test_the_example_passes_mypy(tmp_path: Path) -> None:
    generate_sdk(tmp_path)
    (tmp_path / "pulumi_kubeflow_spot" / "py.typed").touch()
    (tmp_path / "example.py").write_text(f"{EXAMPLE}\n\n{TRANSFORM}")
    # Another folder than the project's, whose settings are stricter than a user's.
    options = ("--config-file=", "--cache-dir", str(PROJECT / ".mypy_cache" / "example"), "--follow-imports=silent")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "example.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
