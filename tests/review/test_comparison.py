"""Stacks that a comparison brings up, and its report on each, with a stand-in for the engine."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from review import comparison, markdown
from review.model import Report, Status
from sandbox.base.errors import SandboxError
from sandbox.cloud import prices
from sandbox.engine.revision import Revision
from sandbox.engine.worker import Outcome
from sandbox.tests.repository import PROJECT, Repository

pytestmark = pytest.mark.process

POOL = {"name": "p", "machine": "Standard_D4s_v5", "capacity": "on-demand", "minNodes": 1, "maxNodes": 1}
CHANGE = {"op": "update", "type": "t", "name": "ml-dev-t4", "properties": []}


class Engine:
    """An engine with given answers, which records its requests."""

    def __init__(self, folder: Path, **answers: Outcome | SandboxError) -> None:
        self.folder, self.answers = folder, answers
        self.requests: set[tuple[str, str]] = set()
        self.built = self.stopped = False

    def run(self, command: str, stack: str, project: Path, *others: Any) -> Outcome:
        self.requests.add((command, stack))
        answer = self.answers.get(f"{command}_{stack}") or Outcome()
        if isinstance(answer, SandboxError):
            raise answer
        return answer

    def build(self, report: Any) -> None:
        self.built = True

    def stop(self) -> None:
        self.stopped = True


def compared(repository: Repository, engine: Engine, stack: str = "") -> Report:
    engine.folder.mkdir()
    revision = Revision.of(repository.folder, "HEAD~1")
    return comparison.compare(repository.folder, revision, engine, lambda line: None, stack)  # type: ignore[arg-type]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    three_stacks = Repository.new(tmp_path / "repository")
    stacks = {f"Pulumi.{name}.yaml": "config: {}\n" for name in ("dev", "staging", "prod")}
    three_stacks.commit({"__main__.py": "", "Pulumi.yaml": "name: a\n", **stacks})
    return three_stacks


ALL = {(command, stack) for command in ("up", "preview") for stack in ("dev", "staging", "prod")}


@pytest.mark.parametrize(
    ("file", "stacks"),
    [
        ("Pulumi.dev.yaml", {"dev"}),
        ("config/model/stack.py", {"dev", "staging", "prod"}),
        ("Pulumi.yaml", {"dev", "staging", "prod"}),
        ("uv.lock", {"dev", "staging", "prod"}),
        ("never-seen-before.json", {"dev", "staging", "prod"}),
        ("README.md", set()),
        ("tests/test_a.py", set()),
        ("docs/a.md", set()),
        (".sandbox/preview+0/base+files/a.py", set()),
        # Names that only resemble the folder and files no stack depends on.
        ("components/docs/a.py", {"dev", "staging", "prod"}),
        ("docs.py", {"dev", "staging", "prod"}),
        ("config/README.md", {"dev", "staging", "prod"}),
    ],
)
def test_a_stack_comes_up_when_a_file_it_depends_on_differs(
    repository: Repository, tmp_path: Path, file: str, stacks: set[str]
) -> None:
    repository.commit({file: "config: {a: b}\n"})
    engine = Engine(tmp_path / "scratch")
    report = compared(repository, engine)
    assert engine.requests == {(command, stack) for command in ("up", "preview") for stack in stacks}
    # A first build takes twenty minutes.
    assert engine.built == bool(stacks)
    assert {each.stack for each in report.stacks if each.status == Status.UNCHANGED} == {
        "dev",
        "staging",
        "prod",
    } - stacks


def test_only_a_named_stack_is_compared(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"config/model/stack.py": ""})
    engine = Engine(tmp_path / "scratch", preview_prod=Outcome(changes=[CHANGE], outputs={"release": "r2"}))
    report = compared(repository, engine, "prod")
    assert [(each.stack, len(each.changes), each.release) for each in report.stacks] == [("prod", 1, (None, "r2"))]
    with pytest.raises(SandboxError, match="there is no stack 'test'; stacks here: dev, prod, staging"):
        compared(repository, Engine(tmp_path / "again"), "test")


def test_a_new_stack_is_previewed_from_nothing_and_a_removed_one_is_not_run(
    repository: Repository, tmp_path: Path
) -> None:
    (repository.folder / "Pulumi.staging.yaml").unlink()
    repository.commit({"Pulumi.test.yaml": "config: {}\n", ".gitignore": "Pulumi.mine.yaml\n"})
    (repository.folder / "Pulumi.mine.yaml").write_text("config: {}\n")
    engine = Engine(tmp_path / "scratch")
    outcomes = {each.stack: each.status for each in compared(repository, engine).stacks}
    assert outcomes == {
        "dev": Status.UNCHANGED,
        "prod": Status.UNCHANGED,
        "staging": Status.REMOVED,
        "test": Status.NEW,
    }
    assert engine.requests == {("preview", "test")}


def test_a_base_that_does_not_run_is_reported_with_its_stack_and_reason(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"config/model/stack.py": ""})
    engine = Engine(tmp_path / "scratch", up_staging=Outcome(errors=["release: there is no release"]))
    with pytest.raises(SandboxError, match=r"the base does not run: stack 'staging'.*\nrelease: there is no release"):
        compared(repository, engine)
    assert engine.stopped


@pytest.mark.parametrize(
    "answer", [Outcome(errors=["no such pool"]), SandboxError("no such pool")], ids=["wrong", "dies"]
)
def test_a_head_that_cannot_be_previewed_or_ends_its_own_process_fails_only_its_stack(
    repository: Repository, tmp_path: Path, answer: Outcome | SandboxError
) -> None:
    repository.commit({"config/model/stack.py": ""})
    engine = Engine(tmp_path / "scratch", preview_staging=answer)
    outcomes = {each.stack: (each.status, each.errors) for each in compared(repository, engine).stacks}
    assert outcomes["staging"] == (Status.FAILED, ("no such pool",))
    assert outcomes["dev"] == outcomes["prod"] == (Status.PREVIEWED, ())
    assert engine.requests == ALL


def test_a_moved_stack_has_its_old_cost_at_the_old_location(repository: Repository, tmp_path: Path) -> None:
    def stack(location: str) -> dict[str, str]:
        return {"Pulumi.dev.yaml": f"config: {{'a:cloud': {{provider: azure, location: {location}}}}}\n"}

    outputs = Outcome(outputs={"pools": [POOL]})
    repository.commit(stack("westeurope"))
    repository.commit(stack("eastus"))
    (dev, *_) = compared(repository, Engine(tmp_path / "scratch", up_dev=outputs, preview_dev=outputs)).stacks
    assert dev.cost
    (priced,) = dev.cost.pools
    known = [prices.price("azure", location, "Standard_D4s_v5") for location in ("westeurope", "eastus")]
    assert all(known)
    assert [priced.before, priced.after] == [(price.on_demand, price.on_demand) for price in known if price]
    assert priced.before != priced.after


KEY = ", nodeProvisioning: {}"


@pytest.mark.parametrize(("before", "after", "switches"), [("", KEY, True), (KEY, KEY, False), (KEY, "", False)])
def test_a_live_stack_that_goes_over_to_karpenter_is_said_to_need_three_updates(
    repository: Repository, tmp_path: Path, before: str, after: str, switches: bool
) -> None:
    for number, key in enumerate((before, after)):
        repository.commit({"Pulumi.dev.yaml": f"config: {{'a:n': {number}, 'a:cloud': {{provider: azure{key}}}}}\n"})
    report = compared(repository, Engine(tmp_path / "scratch", preview_dev=Outcome(changes=[CHANGE])))
    assert report.stacks[0].switches is switches
    assert ("in three updates" in markdown.render(report)) is switches


OWN = """
config:
  a:cloud: {{provider: azure, properties: {{publicNetworkAccess: Enabled}}}}
  a:systemPool: {{azure: {{properties: {system}}}}}
  a:pools: [{{name: t4, azure: {{vtpm: true, properties: {{kubeletConfig: {{cpuManagerPolicy: {policy}}}}}}}}}, 5]
"""


def test_a_stacks_own_properties_are_all_listed_with_their_edits(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"Pulumi.dev.yaml": OWN.format(system="{enableFIPS: true}", policy="none")})
    repository.commit({"Pulumi.dev.yaml": OWN.format(system="[broken]", policy="static")})
    (dev, *_) = compared(repository, Engine(tmp_path / "scratch")).stacks
    assert [(each.path, each.before, each.after) for each in dev.own_properties] == [
        ("cloud.properties.publicNetworkAccess", '"Enabled"', '"Enabled"'),
        ("pools[t4].azure.properties.kubeletConfig.cpuManagerPolicy", '"none"', '"static"'),
        ("systemPool.azure.properties", None, '["broken"]'),
        ("systemPool.azure.properties.enableFIPS", "true", None),
    ]


def test_a_system_pool_missing_in_the_base_s_outputs_is_no_new_cost(repository: Repository, tmp_path: Path) -> None:
    repository.commit({"Pulumi.dev.yaml": "config: {'a:cloud': {provider: azure, location: westeurope}}\n"})
    system = {**POOL, "name": "system"}
    old, new = Outcome(outputs={"pools": [POOL]}), Outcome(outputs={"pools": [POOL], "systemPool": system})
    for number, (base, names) in enumerate([(old, ["p"]), (new, ["p", "system"]), (Outcome(), ["p", "system"])]):
        (dev, *_) = compared(repository, Engine(tmp_path / str(number), up_dev=base, preview_dev=new)).stacks
        assert dev.cost
        assert [priced.pool for priced in dev.cost.pools] == names


OPENED = """
import json, sys
from pathlib import Path
opened = set()
watching = False
def hook(event, arguments):
    if watching and event == "open" and isinstance(arguments[0], (str, bytes)):
        opened.add(str(arguments[0]))
sys.addaudithook(hook)
import pytest
from tests.components.program import declare, stack_config
watching = True
with pytest.MonkeyPatch.context() as patch:
    declare(stack_config(Path(sys.argv[1])), patch)
# Python may have read a module from its cache.
opened |= {file for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
print(json.dumps(sorted(opened)))
"""


@pytest.mark.parametrize("stack", ["dev", "staging", "prod"])
def test_the_program_opens_no_file_that_counts_as_outside_every_stack(stack: str) -> None:
    """The reason why a comparison may leave a stack out."""
    done = subprocess.run(
        [sys.executable, "-c", OPENED, str(PROJECT / f"Pulumi.{stack}.yaml")],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    opened = {Path(name) for name in json.loads(done.stdout.splitlines()[-1])}
    project_files = {str(path.relative_to(PROJECT)) for path in opened if path.is_relative_to(PROJECT)}
    program = {name for name in project_files if not name.startswith(".venv/")}
    # Modules of the tests, which run the program.
    apart = {name for name in program if name.startswith(comparison.IRRELEVANT)} - {
        n for n in program if n.startswith("tests/")
    }
    assert apart == set()
    assert f"Pulumi.{stack}.yaml" in program
    assert any(name.startswith("config/releases/r") for name in program)
    assert "components/cluster.py" in program
