"""Imports go one way (design: config <- components <- __main__; the sandbox knows the program only by running it)."""

import ast
import subprocess
import sys
from collections.abc import Collection, Iterator
from functools import cache
from itertools import permutations
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
OURS = {
    *("config", "components", "policy", "checks", "dashboards", "drill", "review", "overlay", "sandbox"),
    *("tests", "bench"),
}

ALLOWED = {
    "config": {"config"},
    "components": {"components", "config"},
    "policy": {"policy"},
    "checks": {"checks", "components", "config"},
    "dashboards": {"dashboards", "config"},
    "sandbox": {"sandbox"},
    "drill": {"drill", "sandbox"},
    "review": {"review", "sandbox"},
    "overlay": {"overlay", "sandbox"},
    "__main__.py": {"components"},
}

FLOORS = {
    "sandbox": (
        {"base"},
        {"toolchain"},
        {"kubernetes", "cloud"},
        {"azure", "gcp"},
        {"cluster"},
        {"autoscaler", "engine"},
        {"cli"},
        {"tests"},
    ),
    "drill": ({"world"}, {"play"}, {"in_memory", "metrics"}, {"judge"}, {"tune", "report"}),
    "checks": ({"ready", "preflight", "lost_state"},),
}
"""The folders of a package from the ground up (design, sections 3 and 5)."""


@cache
def imports(path: Path) -> tuple[str, ...]:
    """Return the modules that a file imports; tests import their neighbours relatively, which is left out."""
    names: list[str] = []
    for node in nodes(path):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 or "tests" in path.parts, f"{path}: relative import"
            names += [node.module] if node.module and not node.level else []
    return tuple(names)


@cache
def nodes(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """Return the import statements of a file, wherever in it they stand."""
    tree = ast.parse(path.read_text())
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))


def files(place: str) -> list[Path]:
    path = PROJECT / place
    paths = [path] if path.is_file() else sorted(path.rglob("*.py"))
    assert paths
    return paths


@pytest.mark.parametrize("place", ALLOWED)
def test_our_packages_are_imported_in_one_direction_only(place: str) -> None:
    for path in files(place):
        for name in imports(path):
            top = name.partition(".")[0]
            assert top not in OURS or top in ALLOWED[place], f"{path.relative_to(PROJECT)} imports {name}"


STOREYS = [(package, height) for package, floors in FLOORS.items() for height in range(len(floors))]


@pytest.mark.parametrize(("package", "height"), STOREYS)
def test_each_floor_imports_only_what_stands_below(package: str, height: int) -> None:
    below = set().union(*FLOORS[package][:height])
    folders = set().union(*FLOORS[package])
    for folder in sorted(FLOORS[package][height]):
        for path in files(f"{package}/{folder}"):
            # `from sandbox import cluster` would hide the floor; it is one that does not exist.
            imported = {f"{name}.".split(".")[1] for name in imports(path) if name.partition(".")[0] == package}
            # Files beside the folders are the package's front, and in `checks` what both commands share.
            above = (imported & folders) - below - {folder}
            assert not above, f"{path.relative_to(PROJECT)} imports {sorted(above)}"


@pytest.mark.parametrize("package", FLOORS)
def test_every_folder_is_on_a_floor(package: str) -> None:
    folders = {path.parent.name for path in (PROJECT / package).glob("*/__init__.py")}
    assert folders == set().union(*FLOORS[package])


@pytest.mark.parametrize(("place", "never"), [*permutations(("azure", "gcp", "layer"), 2)])
def test_clouds_and_the_layer_never_import_each_other(place: str, never: str) -> None:
    for path in files(f"components/{place}"):
        assert not [name for name in imports(path) if name.startswith(f"components.{never}")], path


def test_only_dashboards_import_grafanas_sdk() -> None:
    """It is there for development alone."""
    users = {place for place in ALLOWED for path in files(place) if "grafana_foundation_sdk" in str(imports(path))}
    assert users == {"dashboards"}


def test_config_imports_no_sdk() -> None:
    sdks = ("pulumi", "kubernetes", "pulumi_kubernetes", "pulumi_azure_native", "pulumi_gcp", "grpc")
    for path in files("config"):
        assert not [name for name in imports(path) if name.partition(".")[0] in sdks], path


CLOUDS = sorted(
    path.name for path in (PROJECT / "config/clouds").iterdir() if (path / f"{path.name}_registration.py").exists()
)


def test_names_are_compared_in_one_module() -> None:
    assert [path.name for path in files("config") if "difflib" in imports(path)] == ["near.py"]


def test_there_are_clouds() -> None:
    assert CLOUDS == ["azure", "existing", "gcp"]


@pytest.mark.parametrize("cloud", CLOUDS)
def test_nothing_outside_a_clouds_folders_imports_the_clouds_settings(cloud: str) -> None:
    package = f"config.clouds.{cloud}"
    folders = [PROJECT / place / cloud for place in ("config/clouds", "components")]
    for path in [*files("config"), *files("components")]:
        if not any(path.is_relative_to(folder) for folder in folders):
            assert not [name for name in imports(path) if f"{name}.".startswith(f"{package}.")], path


def test_no_file_imports_one_that_imports_it() -> None:
    modules = {module(path): path for place in ("__main__.py", *sorted(OURS)) for path in files(place)}
    graph = {name: {part for part in parts(path, modules.keys()) if part != name} for name, path in modules.items()}
    reached = {name: reachable(name, graph) for name in graph}
    circles = {frozenset(other for other in reached[name] if name in reached[other]) for name in graph}
    assert sorted(sorted(circle) for circle in circles if circle) == []


def module(path: Path) -> str:
    """Return the name by which a file is imported."""
    names = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(names[:-1] if names[-1] == "__init__" else names)


def parts(path: Path, modules: Collection[str]) -> Iterator[str]:
    """Yield our modules that a file imports, or from which it imports a name."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield from [name for name in (inner, node.module) if name in modules][:1]


def reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph[waiting.pop()] - reached:
            reached.add(name)
            waiting.append(name)
    return reached


def test_only_settings_reads_the_stacks_configuration() -> None:
    readers = [
        p.name
        for p in files("components")
        if "pulumi.Config" in p.read_text() or "runtime import config" in p.read_text()
    ]
    assert readers == ["settings.py"]


@pytest.mark.process
# The last three are what an autoscaler's process loads, of which every cluster has one.
@pytest.mark.parametrize(
    "module",
    [
        "config.placement.node_pools",
        "config.stack_file.loader",
        "sandbox.azure.azure_plugin",
        "sandbox.gcp.gcp_plugin",
        "sandbox.autoscaler.__main__",
    ],
)
def test_modules_without_need_of_pulumi_or_re2_do_not_load_it(module: str) -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", f"import sys, {module}; print(*sys.modules)"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert module in loaded
    assert [name for name in loaded if name.startswith("pulumi") or name.partition(".")[0] == "re2"] == []


# The program under mocks as in `tests.components.program`, which itself needs no SDK of a cloud.
RUN = """
import sys
import pytest
from tests.components.program import PROJECT, declare, stack_config
with pytest.MonkeyPatch.context() as monkeypatch:
    assert declare(stack_config(PROJECT / sys.argv[1]), monkeypatch).resources
print(*sys.modules)
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("stack", "ours"),
    [
        ("Pulumi.dev.yaml", {"components.azure.azure_cluster", "pulumi_azure_native"}),
        ("Pulumi.staging.yaml", {"components.gcp.gcp_cluster", "pulumi_gcp"}),
    ],
)
def test_a_cloud_and_its_sdk_are_loaded_only_where_they_are_used(stack: str, ours: set[str]) -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", RUN, stack], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout.split()
    clouds = ("components.azure.azure_cluster", "pulumi_azure_native", "components.gcp.gcp_cluster", "pulumi_gcp")
    assert {name for name in loaded if name in clouds} == ours
    # The client that reads an existing cluster: half a second.
    assert "kubernetes" not in loaded
