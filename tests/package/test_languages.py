"""One use of the component in five languages: each compiles against the SDK that Pulumi generates, YAML fits the schema."""

import copy
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from components.package.provider import Package
from components.package.schema import TOKEN
from config.stack_file import loader
from sandbox.toolchain import programs
from sandbox.toolchain.golang import find_go

PROJECT = Path(__file__).resolve().parents[2]
EXAMPLES = PROJECT / "examples" / "library"
YAML: dict[str, Any] = yaml.safe_load((EXAMPLES / "Pulumi.yaml").read_text())
PROPERTIES: dict[str, Any] = YAML["resources"]["ml"]["properties"]
MISSPELT = {"py": ("max_nodes=4", "max_node=4"), "go": ("MaxNodes: pulumi.Int(4)", "MaxNode: pulumi.Int(4)")}
MISSPELT |= {"ts": ("maxNodes: 4", "maxNode: 4"), "cs": ("MaxNodes = 4", "MaxNode = 4")}
"""A change of each example that its compiler must refuse."""


def sdk(language: str, folder: Path) -> Path:
    """Write the package's SDK into a new folder."""
    generator = programs.ensure(["pulumi-sdk"], print)["pulumi-sdk"]
    folder.mkdir()
    (folder / "schema.json").write_text(Package().schema or "")
    subprocess.run([generator, language, folder / "schema.json", folder], check=True)
    return folder


def run(command: list[str | Path], folder: Path, **settings: str) -> str:
    """Run a compiler, and return its findings: empty where it has none."""
    done = subprocess.run(
        command, cwd=folder, env=os.environ | settings, capture_output=True, text=True, check=False, timeout=1200
    )
    return done.stdout + done.stderr if done.returncode else ""


def compile_python(example: str, folder: Path) -> str:
    sdk("python", folder / "sdk")
    shutil.copytree(folder / "sdk" / "pulumi_kubeflow_spot", folder / "pulumi_kubeflow_spot")
    (folder / "pulumi_kubeflow_spot" / "py.typed").touch()
    (folder / "team.py").write_text(example)
    # Another folder than the project's, whose settings are stricter than a user's.
    options = ["--config-file=", "--cache-dir", PROJECT / ".mypy_cache" / "example", "--follow-imports=silent"]
    return run([sys.executable, "-m", "mypy", *options, "team.py"], folder)


def compile_typescript(example: str, folder: Path) -> str:
    lock = PROJECT / "tools" / "typescript"
    digest = hashlib.sha256((lock / "package-lock.json").read_bytes()).hexdigest()[:12]
    packages = programs.cache_directory() / f"typescript-{digest}"
    if not (packages / "done").exists():
        shutil.rmtree(packages, ignore_errors=True)
        shutil.copytree(lock, packages)
        assert run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], packages) == ""
        (packages / "done").touch()
    sdk("nodejs", folder / "sdk")
    (folder / "node_modules").symlink_to(packages / "node_modules")
    (folder / "team.ts").write_text(example)
    options = {"strict": True, "noEmit": True, "skipLibCheck": True, "target": "ES2022", "types": ["node"]}
    options |= {"module": "nodenext", "moduleResolution": "nodenext"}
    options["paths"] = {"@pulumi/kubeflow-spot": ["./sdk/index.ts"]}
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": ["team.ts"]}))
    return run(["node", "node_modules/typescript/bin/tsc", "-p", "."], folder)


def compile_go(example: str, folder: Path) -> str:
    go = find_go(programs.cache_directory(), PROJECT, print)
    shutil.copytree(sdk("go", folder / "sdk") / "kubeflowspot", folder, dirs_exist_ok=True)
    shutil.rmtree(folder / "sdk")
    # One module with the example, at the versions of the CLI's.
    pins = (PROJECT / "tools" / "pulumi" / "go.mod").read_text()
    pins = re.sub(r"^tool .*$", "", pins, flags=re.MULTILINE)
    name = "github.com/pulumi/pulumi-kubeflow-spot/sdk/go/kubeflow-spot"
    (folder / "go.mod").write_text(re.sub(r"^module .*$", f"module {name}", pins, flags=re.MULTILINE))
    shutil.copy(PROJECT / "tools" / "pulumi" / "go.sum", folder)
    (folder / "example").mkdir()
    (folder / "example" / "main.go").write_text(example)
    command = [go.path, "build", "-mod=readonly", "-gcflags=all=-dwarf=false", "./..."]
    return run(command, folder, **go.environment)


def compile_csharp(example: str, folder: Path) -> str:
    """Compile with the generator of Pulumi's official CLI: no registry of Go modules has it."""
    (folder / "schema.json").write_text(Package().schema or "")
    generate: list[str | Path] = ["pulumi", "package", "gen-sdk", "schema.json", "--language", "dotnet"]
    if found := run([*generate, "--out", "sdk"], folder):
        return found
    (generated,) = (folder / "sdk").rglob("*.csproj")
    (folder / "team").mkdir()
    (folder / "team" / "Program.cs").write_text(example)
    (folder / "team" / "team.csproj").write_text(
        '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType><TargetFramework>net8.0</TargetFramework>'
        "<Nullable>enable</Nullable></PropertyGroup><ItemGroup>"
        f'<ProjectReference Include="{generated}" /></ItemGroup></Project>'
    )
    return run(["dotnet", "build", "team"], folder)


LANGUAGES = {
    "py": (compile_python, ()),
    "ts": (compile_typescript, ("node", "npm")),
    "go": (compile_go, ()),
    "cs": (compile_csharp, ("dotnet", "pulumi", "pulumi-language-dotnet")),
}
"""The compiler of each example, and the programs that the project does not bring."""


@pytest.mark.process
@pytest.mark.tools
@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_compiles_against_the_generated_sdk(language: str, tmp_path: Path) -> None:
    compiler, needed = LANGUAGES[language]
    if missing := [program for program in needed if not shutil.which(program)]:
        pytest.skip(f"team.{language} was not compiled: {', '.join(missing)} not on PATH")
    example = (EXAMPLES / f"team.{language}").read_text()
    (tmp_path / "right").mkdir()
    assert compiler(example, tmp_path / "right") == ""
    (tmp_path / "wrong").mkdir()
    old, new = MISSPELT[language]
    assert old in example
    assert new.partition("=")[0].partition(":")[0].strip() in compiler(example.replace(old, new), tmp_path / "wrong")


def refused(properties: dict[str, Any]) -> list[str]:
    """Return what of a component's properties the package's schema refuses."""
    document = json.loads((Package().schema or "").replace('{"$ref": "pulumi.json#/Any"}', "{}"))
    for spec in document["types"].values():
        spec["additionalProperties"] = False
    component = document["resources"][TOKEN]
    document |= {"type": "object", "properties": component["inputProperties"], "additionalProperties": False}
    document["required"] = component["requiredInputs"]
    return [error.message for error in jsonschema_rs.validator_for(document).iter_errors(properties)]


def test_the_program_in_yaml_fits_the_schema_and_the_rules() -> None:
    assert YAML["resources"]["ml"]["type"] == TOKEN
    assert refused(PROPERTIES) == []
    wrong = copy.deepcopy(PROPERTIES)
    wrong["systemPool"]["maxNode"] = wrong["systemPool"].pop("maxNodes")
    assert any("'maxNode' was unexpected" in message for message in refused(wrong))
    outputs = json.loads(Package().schema or "")["resources"][TOKEN]["properties"]
    assert {text.removeprefix("${ml.").removesuffix("}") for text in YAML["outputs"].values()} <= outputs.keys()
    assert [problem for problem in loader.read_stack(PROPERTIES, prefix="")[1] if not problem.warning] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_example_says_what_the_one_in_yaml_says(language: str) -> None:
    def texts(value: Any) -> list[str]:
        if isinstance(value, dict | list):
            return [text for each in (value.values() if isinstance(value, dict) else value) for text in texts(each)]
        return [value] if isinstance(value, str) else []

    example = (EXAMPLES / f"team.{language}").read_text()
    written = re.findall(r'"([^"\n]+)"', example.partition("KubeflowCluster(")[2])
    assert set(texts(PROPERTIES)) == set(written) - {"ml", *YAML["outputs"]}
