"""The SBOMs of a release have what the locks have: nothing less, nothing more."""

import base64
import importlib.util
import json
import subprocess
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sandbox.toolchain import programs
from sandbox.toolchain.golang import find_go
from tests.workflows.files import PROJECT, SCRIPTS, workflow

TOOLS = PROJECT / "tools"
FOLDERS = sorted(path.parent.name for path in TOOLS.glob("*/go.mod"))
BUILD = workflow("release")["jobs"]["build"]["steps"][1]["run"]


def sbom() -> ModuleType:
    spec = importlib.util.spec_from_file_location("sbom", SCRIPTS / "sbom.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GO: dict[str, Any] = sbom().document(TOOLS)
"""The SBOM of the Go programs."""


def python_differences(document: dict[str, Any], lock: dict[str, Any]) -> list[str]:
    """Return what only one of them has: packages with version and the digests of all archives."""

    def listed(component: dict[str, Any]) -> str:
        hashes = [each for link in component.get("externalReferences", ()) for each in link.get("hashes", ())]
        digests = sorted(f"{each['alg'].lower().replace('-', '')}:{each['content']}" for each in hashes)
        return f"{component['name']} {component.get('version')} {digests}"

    def locked(package: dict[str, Any]) -> str:
        archives = [*package.get("wheels", ()), *([package["sdist"]] if "sdist" in package else ())]
        return f"{package['name']} {package.get('version')} {sorted(archive['hash'] for archive in archives)}"

    return sorted(set(map(listed, document["components"])) ^ set(map(locked, lock["package"])))


@pytest.mark.process
def test_pythons_sbom_is_the_lock_file(tmp_path: Path) -> None:
    [line] = [line for line in BUILD.splitlines() if " export " in line]
    command = line.replace("dist/python.cdx.json", str(tmp_path / "sbom.json")).split()
    done = subprocess.run([*command, "--offline"], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "sbom.json").read_text())
    lock = tomllib.loads((PROJECT / "uv.lock").read_text())
    assert python_differences(document, lock) == []
    document["components"].pop()
    lock["package"][0]["version"] = "0"
    assert len(python_differences(document, lock)) == 3


def listed(document: dict[str, Any], folder: str) -> dict[tuple[str, str], list[dict[str, str]]]:
    """Return the modules of a folder's programs, with their digests."""
    components = {component["bom-ref"]: component for component in document["components"]}
    [needs] = [entry["dependsOn"] for entry in document["dependencies"] if entry["ref"] == f"tools/{folder}"]
    return {(components[purl]["name"], components[purl]["version"]): components[purl]["hashes"] for purl in needs}


def go_differences(modules: dict[tuple[str, str], list[dict[str, str]]], go_mod: str, go_sum: str) -> list[str]:
    """Return the modules that only the SBOM or only go.mod has, and those whose digest is not go.sum's."""
    lines = [line.removesuffix("// indirect").split() for line in go_mod.splitlines() if not line.startswith("//")]
    required = {(line[-2], line[-1]) for line in lines if len(line) == 2 and line[-1].startswith("v")}
    right = {(line[-2], line[-1]) for line in lines if "=>" in line}
    left = {line[line.index("=>") - 1] for line in lines if "=>" in line}
    found = {f"{name} {version}" for name, version in modules.keys() - required - right}
    found |= {f"{name} {version}" for name, version in required - modules.keys() if name not in left}
    if len(modules) != len(required):
        found.add(f"{len(modules)} modules, not {len(required)}")
    sums = [line.split() for line in go_sum.splitlines()]
    digests = {(name, version): base64.b64decode(digest.removeprefix("h1:")).hex() for name, version, digest in sums}
    for module, hashes in modules.items():
        if module in digests and hashes != [{"alg": "SHA-256", "content": digests[module]}]:
            found.add(f"{module[0]}: not the digest of go.sum")
    return sorted(found)


@pytest.mark.parametrize("folder", FOLDERS)
def test_gos_sbom_is_go_mod_and_go_sum(folder: str) -> None:
    go_mod, go_sum = ((TOOLS / folder / name).read_text() for name in ("go.mod", "go.sum"))
    modules = listed(GO, folder)
    assert go_differences(modules, go_mod, go_sum) == []
    first, second = [module for module, hashes in modules.items() if hashes][:2]
    changed = {**modules, ("example.com/more", "v1.0.0"): [], second: [{"alg": "SHA-256", "content": "0"}]}
    del changed[first]
    faults = [f"{second[0]}: not the digest of go.sum", "example.com/more v1.0.0"]
    assert set(faults) < set(go_differences(changed, go_mod, go_sum))


@pytest.mark.process
@pytest.mark.tools
@pytest.mark.parametrize("folder", FOLDERS)
def test_go_itself_reads_the_same_modules_in_go_mod(folder: str) -> None:
    go = find_go(programs.cache_directory(), PROJECT, print)
    command = [str(go.path), "mod", "edit", "-json", str(TOOLS / folder / "go.mod")]
    read = json.loads(subprocess.run(command, env=go.environment, capture_output=True, check=True).stdout)
    replaced = {each["Old"]["Path"]: (each["New"]["Path"], each["New"]["Version"]) for each in read["Replace"] or ()}
    wanted = {replaced.get(each["Path"], (each["Path"], each["Version"])) for each in read["Require"]}
    assert listed(GO, folder).keys() == wanted


def test_every_component_belongs_to_a_program() -> None:
    needed = {purl for entry in GO["dependencies"] for purl in entry["dependsOn"]}
    assert {component["bom-ref"] for component in GO["components"] if component["type"] == "library"} == needed
