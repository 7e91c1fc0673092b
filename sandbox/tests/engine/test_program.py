"""Runs of the program as under the engine's own host, early imports of the last run's modules, and the worker's output."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.process

MAIN = """
import sys
before = "annotated_types" in sys.modules
import annotated_types, helper
from pulumi import log
log.get_engine = None  # whoever asks the engine fails
log.debug("nobody is asked")
print(__name__, before, helper.when, sys.path[0] == sys.argv[1])
"""
# Each run has a process of its own, like a command: modules are imported once.
RUN = """
import sys
from pathlib import Path
from sandbox.engine.program import Program
folder = Path(sys.argv[1])
program = Program(folder, folder / "learned.json")
if sys.argv[2] == "preload":
    program.preload()
    program._preload.join()
sys.modules["started"] = sys
program()
"""


def run(folder: Path, options: str = "") -> str:
    done = subprocess.run([sys.executable, "-c", RUN, folder, options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "__main__.py").write_text(MAIN)
    (tmp_path / "helper.py").write_text('import sys; when = "in time" if "started" in sys.modules else "too early"')
    return tmp_path


def learned_modules(project: Path) -> Any:
    return json.loads((project / "learned.json").read_text())


def test_installed_modules_are_imported_early_and_the_projects_own_are_not(project: Path) -> None:
    assert run(project, "preload") == "__main__ False in time True"
    assert not (project / "learned.json").exists()
    assert run(project) == "__main__ False in time True"
    assert "annotated_types" in learned_modules(project)
    assert "helper" not in learned_modules(project)
    assert run(project, "preload") == "__main__ True in time True"


def test_a_module_that_is_no_longer_imported_is_forgotten(project: Path) -> None:
    run(project)
    (project / "__main__.py").write_text("")
    run(project, "preload")
    assert "annotated_types" in learned_modules(project)
    run(project)
    assert learned_modules(project) == []


def test_a_missing_or_broken_package_is_left_to_the_program(project: Path) -> None:
    (project / "learned.json").write_text('["no_such_package", "annotated_types"]')
    assert run(project, "preload").endswith("True in time True")
    (project / "learned.json").write_text('["annot')
    assert run(project, "preload").endswith("False in time True")


def test_a_class_of_an_sdk_is_no_module_of_the_same_name(project: Path) -> None:
    lines = ["import pulumi_kubernetes as k8s", "classes = k8s.rbac.v1.ClusterRole, k8s.apiextensions.CustomResource"]
    (project / "__main__.py").write_text("\n".join([*lines, "print([type(item).__name__ for item in classes])"]))
    assert run(project) == run(project, "preload") == "['type', 'type']"


def test_the_imports_of_a_failed_program_are_remembered(project: Path) -> None:
    (project / "__main__.py").write_text("import annotated_types\nraise SystemExit(3)")
    done = subprocess.run([sys.executable, "-c", RUN, project, ""], check=False)
    assert done.returncode == 3
    assert "annotated_types" in learned_modules(project)


NOISY = """
import os, sys
from sandbox.engine import worker

def run(*arguments):
    print("from Python")
    os.system("echo from a program that it runs")
    return worker.Outcome(errors=["wrong"])

worker._run = run
sys.argv[1:] = ["up", "dev", "."]
worker.main()
"""


def test_output_of_the_program_is_no_part_of_the_workers_json(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", NOISY], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["errors"] == ["wrong"]
    assert {"from Python", "from a program that it runs"} <= set(done.stderr.splitlines())
