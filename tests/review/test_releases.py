"""Explanations of releases from their files, and the pins that Renovate may raise."""

import json
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from review import releases
from sandbox.base.errors import SandboxError
from sandbox.cli.commands import main

PROJECT = Path(__file__).parents[2]
FOLDER = PROJECT / "config" / "releases"
DIGESTS = ("sha256:" + 64 * "a", "sha256:" + 64 * "b")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a checkout with two releases and an editable candidate like the later one."""
    return _checkout(tmp_path / "project")


@pytest.fixture
def head(tmp_path: Path) -> Path:
    """Return another revision of the checkout."""
    return _checkout(tmp_path / "head")


def _checkout(project: Path) -> Path:
    folder = project / "config" / "releases"
    folder.mkdir(parents=True)
    for name in ("schema.json", "r2026-09.toml", "r2026-11.toml"):
        shutil.copy(FOLDER / name, folder)
    text = (FOLDER / "r2026-11.toml").read_text().replace("released = true", "released = false")
    (folder / "next.toml").write_text(re.sub(r"^notes = \[.*?^\]", "notes = []", text, flags=re.DOTALL | re.MULTILINE))
    return project


def edit(project: Path, name: str, change: Callable[[str], str]) -> None:
    path = project / "config" / "releases" / name
    text = path.read_text()
    assert change(text) != text
    path.write_text(change(text))


def notes(name: str) -> list[str]:
    return [f"{name}: {note}" for note in tomllib.loads((FOLDER / f"{name}.toml").read_text())["notes"]]


def test_an_upgrade_lists_changed_pins_and_the_notes_of_every_release_on_the_way() -> None:
    lines = releases.difference(PROJECT, "r2026-09", PROJECT, "r2026-11")
    assert lines == ["Kubernetes version: 1.35 -> 1.36.", *notes("r2026-11")]


def test_a_downgrade_is_named_with_its_effect() -> None:
    lines = releases.difference(PROJECT, "r2026-11", PROJECT, "r2026-09")
    assert lines[:2] == ["This goes back: r2026-09 is older than r2026-11.", "Kubernetes version: 1.36 -> 1.35."]
    assert lines[2].startswith("AKS refuses to downgrade a cluster's Kubernetes.")
    assert lines[3:] == [*(f"given up with {note}" for note in notes("r2026-11")), *notes("r2026-09")]


@pytest.mark.parametrize("name", ["r2026-09", "r2026-11", "next"])
def test_a_release_does_not_differ_from_itself(name: str) -> None:
    assert releases.difference(PROJECT, name, PROJECT, name) == []


def _image(text: str, tag: str, digest: str) -> str:
    return re.sub(r"k8s-device-plugin:\S+@sha256:[0-9a-f]{64}", f"k8s-device-plugin:{tag}@{digest}", text)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda text: _image(text, "v0.21.0", DIGESTS[0]),
            "image of NVIDIA's device plugin: v0.20.0 -> v0.21.0 (nvcr.io/nvidia/k8s-device-plugin).",
        ),
        (
            lambda text: _image(text, "v0.20.0", DIGESTS[1]),
            "image of NVIDIA's device plugin: another image under the same tag v0.20.0: "
            "sha256:a61ba9fd8efb -> sha256:bbbbbbbbbbbb.",
        ),
        (
            lambda text: text.replace('scanInterval = "10s"', 'scanInterval = "20s"'),
            "AKS' cluster autoscaler, scan interval: 10s -> 20s.",
        ),
        (
            lambda text: text.replace("balanceSimilarNodeGroups = false", "balanceSimilarNodeGroups = true"),
            "AKS' cluster autoscaler, balance similar node groups: false -> true.",
        ),
        (
            lambda text: text.replace('profile = "balanced"', 'profile = "optimize-utilization"'),
            "GKE's cluster autoscaler, profile: balanced -> optimize-utilization.",
        ),
        (
            lambda text: re.sub("dcgmExporterImage = .*", "", text),
            "image of NVIDIA's DCGM exporter: no longer pinned; was nvcr.io/nvidia/k8s/dcgm-exporter:",
        ),
        (
            lambda text: text.replace("notes = [", 'notes = ["Raised by hand.",'),
            "next: Raised by hand.",
        ),
        (
            lambda text: text.replace("kubernetesVersion", 'unheardOf = "x"\nkubernetesVersion'),
            "unheardOf: pinned from now on, x.",
        ),
    ],
)
def test_every_pin_of_a_changed_release_is_explained_in_the_words_of_the_schema(
    change: Callable[[str], str], sentence: str, project: Path, head: Path
) -> None:
    edit(head, "next.toml", change)
    (lines,) = releases.difference(project, "next", head, "next")
    assert lines.startswith(sentence)


def test_a_lower_kubernetes_in_a_newer_release_is_a_downgrade_all_the_same(project: Path, head: Path) -> None:
    edit(head, "next.toml", lambda text: text.replace('"1.36"', '"1.9"'))
    lines = releases.difference(project, "r2026-11", head, "next")
    assert lines[0] == "Kubernetes version: 1.36 -> 1.9."
    assert lines[1].startswith("AKS refuses")


def test_a_release_that_only_the_head_has_is_explained_from_the_heads_files(project: Path, head: Path) -> None:
    next_one = (head / "config/releases/next.toml").read_text()
    text = next_one.replace("notes = []", 'notes = ["Tried for a month."]').replace('"1.36"', '"1.37"')
    (head / "config/releases/r2027-01.toml").write_text(text)
    lines = releases.difference(project, "r2026-09", head, "r2027-01")
    expected = ["Kubernetes version: 1.35 -> 1.37.", *notes("r2026-11"), "r2027-01: Tried for a month."]
    assert lines == expected
    assert releases.names(head) == ["r2026-09", "r2026-11", "r2027-01", "next"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("r2031-01", "there is no config/releases/r2031-01.toml"),
        ("../../../etc/passwd", "is no release's name"),
        ("r2026-11\n", "is no release's name"),
        ("", "is no release's name"),
    ],
)
def test_a_missing_release_is_reported_in_one_sentence(name: str, why: str) -> None:
    for before, after in ((name, "r2026-11"), ("r2026-11", name)):
        (lines,) = releases.difference(PROJECT, before, PROJECT, after)
        assert "cannot be explained" in lines
        assert why in lines


@pytest.mark.parametrize("spoil", ["released = nonsense", "x" * 1_100_000, "\x00", 'a = "\\ud800"'])
def test_an_unreadable_file_of_a_stranger_is_reported_in_one_sentence(spoil: str, project: Path) -> None:
    (project / "config/releases/next.toml").write_text(spoil)
    (lines,) = releases.difference(project, "r2026-11", project, "next")
    assert "cannot be explained" in lines
    assert len(lines) < 1000


SCHEMAS: list[Any] = ["no schema", [], {"properties": []}, {"properties": {"kubernetesVersion": {"title": 3}}}]
CIRCLE = {"$ref": "#/$defs/A"}
SCHEMAS.append({"$defs": {"A": CIRCLE}, "properties": {"kubernetesVersion": CIRCLE, "azureAutoscaler": CIRCLE}})


@pytest.mark.parametrize("schema", SCHEMAS, ids=range(len(SCHEMAS)))
def test_without_a_usable_schema_pins_are_named_by_their_keys(schema: Any, project: Path) -> None:
    (project / "config/releases/schema.json").write_text(schema if isinstance(schema, str) else json.dumps(schema))
    assert releases.difference(project, "r2026-09", project, "r2026-11")[0] == "kubernetesVersion: 1.35 -> 1.36."


def test_values_of_any_length_and_kind_stay_lines(project: Path, head: Path) -> None:
    odd = 'scanInterval = ["a", {b = 1979-05-27}]'
    edit(head, "next.toml", lambda text: text.replace('"1.36"', f'"{"1" * 5000}"').replace('scanInterval = "10s"', odd))
    lines = releases.difference(project, "next", head, "next")
    assert len(lines) == 2
    assert all(len(sentence) < 1000 for sentence in lines)


def test_the_command_prints_the_explanation_and_knows_the_releases() -> None:
    done = CliRunner().invoke(main, ["diff-release", "r2026-09", "r2026-11"])
    assert done.exit_code == 0
    assert done.output.splitlines()[0] == "Kubernetes version: 1.35 -> 1.36."
    done = CliRunner().invoke(main, ["diff-release", "r2026-09", "r2026-09"])
    assert done.output == "r2026-09 and r2026-09 are the same\n"
    done = CliRunner().invoke(main, ["diff-release", "r2026-09", "r2026-10"])
    assert done.exit_code == 1
    assert "no release 'r2026-10'" in done.output
    assert f"releases there: {', '.join(releases.names(PROJECT))}" in done.output
    with pytest.raises(SandboxError, match="there is no release 'x'"):
        releases.explain(PROJECT, "x", "next")


def renovate() -> dict[str, Any]:
    """Return the configuration without its comments, which are on lines of their own."""
    lines = (PROJECT / "renovate.json5").read_text().splitlines()
    configuration: dict[str, Any] = json.loads("\n".join(line for line in lines if not line.strip().startswith("//")))
    return configuration


def test_pins_are_raised_in_the_candidate_and_never_in_a_release() -> None:
    (manager,) = renovate()["customManagers"]
    patterns = manager["managerFilePatterns"]
    assert all(pattern.startswith("/") and pattern.endswith("/") for pattern in patterns)
    expressions = [re.compile(pattern[1:-1]) for pattern in patterns]

    def raised(path: str) -> bool:
        return any(expression.search(path) for expression in expressions)

    files = sorted(path.relative_to(PROJECT).as_posix() for path in FOLDER.iterdir() if path.is_file())
    assert len(files) >= 6
    assert [path for path in files if raised(path)] == ["config/releases/next.toml"]
    assert not raised("config/releases/r2027-01.toml")
    assert not raised("other/config/releases/next.toml")


def test_every_image_of_the_candidate_can_be_raised() -> None:
    (manager,) = renovate()["customManagers"]
    (expression,) = manager["matchStrings"]
    text = (FOLDER / "next.toml").read_text()
    matches = re.finditer(expression.replace("(?<", "(?P<"), text)
    whole = [f"{pattern['depName']}:{pattern['currentValue']}@{pattern['currentDigest']}" for pattern in matches]
    assert whole == [value for key, value in tomllib.loads(text).items() if key.endswith("Image")]
    assert len(whole) == text.count("sha256:")


def test_engine_and_sdk_are_of_one_version_and_are_raised_together() -> None:
    pinned = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["dependencies"]
    (sdk,) = (text.partition("==")[2] for text in pinned if text.startswith("pulumi=="))
    modules = re.findall(r"github\.com/pulumi/pulumi/\w+/v3 v(\S+)", (PROJECT / "tools/pulumi/go.mod").read_text())
    typescript = json.loads((PROJECT / "tools/typescript/package.json").read_text())["devDependencies"]
    assert {*modules, typescript["@pulumi/pulumi"]} == {sdk}
    rules = renovate()["packageRules"]
    (rule,) = (rule for rule in rules if "pulumi" in rule.get("matchPackageNames", ()))
    assert rule["matchPackageNames"] == ["pulumi", "@pulumi/pulumi", "github.com/pulumi/pulumi/**"]


def test_every_built_tool_can_be_raised() -> None:
    (rule,) = (rule for rule in renovate()["packageRules"] if rule.get("matchDepTypes") == ["indirect"])
    patterns = [re.compile(re.escape(name).replace(r"\*\*", ".+")) for name in rule["matchPackageNames"]]
    for path in PROJECT.glob("tools/*/go.mod"):
        text = path.read_text()
        modules = re.findall(r"^\t?(\S+) v\S+ // indirect$", text, re.MULTILINE)
        for tool in re.findall(r"^(?:tool |\t)(\S+/\S+)$", text, re.MULTILINE):
            own = max((each for each in modules if f"{tool}/".startswith(f"{each}/")), key=len, default="")
            assert any(pattern.fullmatch(own) for pattern in patterns), tool


def test_versions_that_go_mod_replaces_follow_kubernetes_alone() -> None:
    """go.mod pins the versions of Kubernetes' release; raised alone they would match neither Kubernetes nor kwok."""
    (rule,) = (rule for rule in renovate()["packageRules"] if rule.get("matchDepTypes") == ["replace"])
    assert (rule["matchPackageNames"], rule["enabled"]) == (["!k8s.io/**"], False)
    text = (PROJECT / "tools/cluster/go.mod").read_text()
    kubernetes = re.search(r"k8s.io/kubernetes v1\.(\S+)", text)
    staging = re.findall(r"^\t(k8s\.io/\S+) => \1 v0\.(\S+)$", text, re.MULTILINE)
    assert kubernetes
    assert {version for _, version in staging} == {kubernetes[1]}
