"""The program looks at the text of its stack file for what Pulumi does not pass on."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pulumi
import pytest
import yaml
from pulumi.runtime import config

from components import settings
from components.stack_file_text import StackFile
from config.stack_file import loader
from tests.components.program import PROJECT, Cloud

PASSWORD = "hunter2-not-to-be-seen"
DEV = (PROJECT / "Pulumi.dev.yaml").read_text()
LOGIN = """\
  kubeflow-spot:imagePullSecrets:
    - {name: acr-auth, server: a.azurecr.io, username: u, password: %s}
    - {name: nvcr, server: nvcr.io, username: u, password: {secure: v1:abc}}
"""


def refusal(text: str, folder: Path, passed: dict[str, Any] | None = None, root: bool = True) -> str:
    """Return what the program says of a stack file with this text, in which Pulumi found `passed` below `config`."""
    (folder / "Pulumi.dev.yaml").write_text(text)
    inside = passed if passed is not None else yaml.safe_load(text)["config"]
    secret = [key for key, value in inside.items() if "secure" in json.dumps(value)]
    # As the engine: a secret's text in place of `secure`, and an object with one in it is a secret as a whole.
    texts = {
        key: json.dumps(value).replace('{"secure": "v1:abc"}', '"nothing"') if not isinstance(value, str) else value
        for key, value in inside.items()
    }
    asyncio.set_event_loop(asyncio.new_event_loop())
    pulumi.runtime.reset_options()
    pulumi.runtime.set_mocks(Cloud(None), project="kubeflow-spot", stack="dev")
    pulumi.runtime.settings.SETTINGS.root_directory = str(folder if root else folder / "elsewhere")
    config.set_all_config(texts, secret)
    try:
        settings.load()
    except pulumi.RunError as refused:
        return str(refused)
    return ""


def test_settings_beside_config_are_an_error_and_are_checked(tmp_path: Path) -> None:
    text = refusal(DEV + "kubeflow-spot:scheduling:\n  guard: {mode: off}\ngrowth: {order: [t4]}\n", tmp_path)
    assert (
        "kubeflow-spot:scheduling: stands beside `config`, where Pulumi drops it\n    move it below `config:`" in text
    )
    assert "kubeflow-spot:scheduling.guard.mode: is 'off'" in text
    assert "growth: stands beside `config`" in text
    assert text.startswith("3 problems")


def test_the_keys_of_pulumi_itself_are_none_of_them(tmp_path: Path) -> None:
    own = "secretsprovider: passphrase\nencryptionsalt: v1:abc\nenvironment:\n  - shared\n# pools: none\n"
    assert refusal(own + DEV, tmp_path) == ""


def test_settings_from_another_file_are_not_held_against_this_one(tmp_path: Path) -> None:
    other = yaml.safe_load(DEV)["config"]
    text = "kubeflow-spot:pools: []\nconfig:\n  kubeflow-spot:release: r2026-11\n"
    assert refusal(text, tmp_path, other) == ""


@pytest.mark.parametrize(
    "text", ["pools: [\n", "pools: [", "\x00", "pools: []\n- a\n", "kubeflow-spot:pools: &a [*a]\n"]
)
def test_a_text_that_cannot_be_read_is_no_error_of_its_own(text: str, tmp_path: Path) -> None:
    assert refusal(text, tmp_path, yaml.safe_load(DEV)["config"]) == ""


def test_no_file_is_no_error(tmp_path: Path) -> None:
    assert refusal(DEV + "kubeflow-spot:growth: {}\n", tmp_path, root=False) == ""


@pytest.mark.parametrize("namespace", ["kubeflow_spot", "kubeflowspot", "KubeflowSpot", "kubeflow-sopt"])
def test_a_namespace_that_is_nearly_the_programs_is_an_error(namespace: str, tmp_path: Path) -> None:
    text = refusal(
        DEV.replace("kubeflow-spot:pools", f"{namespace}:pools").replace("maxNodes: 8", "maxNodes: 0"), tmp_path
    )
    assert text.startswith("2 problems")
    assert f"{namespace}:pools: is in the namespace {namespace}, which this program does not read" in text
    assert "write `kubeflow-spot:pools`" in text
    assert f"{namespace}:pools[1].maxNodes: is 0" in text


@pytest.mark.parametrize("name", ["pool", "system_pool"])
def test_a_misspelt_key_in_a_misspelt_namespace_is_an_error(name: str, tmp_path: Path) -> None:
    text = refusal(DEV + f"  kubeflow_spot:{name}: x\n", tmp_path)
    assert f"kubeflow_spot:{name}: is in the namespace kubeflow_spot" in text


@pytest.mark.parametrize(
    "key",
    [
        *("azure-native:location", "gcp:project", "pulumi:tags", "kubernetes:cluster", "other:pools"),
        # Names that are like the program's, of others.
        *(
            "kubeflow:domain",
            "kubeflow:pools",
            "kubeflow-prod:replicas",
            "kubeflow-shop:cluster",
            "kubeflow-spot-eu:pools",
        ),
        # No key of ours.
        *("kubeflow_spot:domain", "kubeflow-sopt:replicas"),
    ],
)
def test_a_namespace_of_somebody_elses_is_none_of_the_programs(key: str, tmp_path: Path) -> None:
    assert refusal(DEV + f"  {key}: x\n", tmp_path) == ""


def test_a_clear_password_beside_a_secret_one_is_found_in_the_file(tmp_path: Path) -> None:
    text = refusal(DEV + LOGIN % PASSWORD, tmp_path)
    assert text.startswith("1 problem")
    assert "imagePullSecrets[0].password: is in clear text" in text
    assert "imagePullSecrets[1]" not in text
    assert PASSWORD not in text
    assert refusal(DEV + LOGIN % "{secure: v1:abc}", tmp_path) == ""


def test_without_a_secret_every_password_is_in_clear_text(tmp_path: Path) -> None:
    clear = (LOGIN % PASSWORD).replace("{secure: v1:abc}", PASSWORD)
    text = refusal(DEV + clear, tmp_path, root=False)
    assert text.count("is in clear text") == 2
    assert PASSWORD not in text


def test_values_of_examples_are_refused_but_where_the_stack_says_that_it_reaches_no_cloud(tmp_path: Path) -> None:
    text = DEV.replace("provider: azure\n", "provider: azure\n    access: {authorizedRanges: [203.0.113.0/24]}\n")
    assert text != DEV
    refused = refusal(text, tmp_path)
    assert "cloud.access.authorizedRanges[0]: has 203.0.113.0/24 in it, which examples show and nobody has" in refused
    inside = yaml.safe_load(text)["config"]
    assert refusal(text, tmp_path, {**inside, "examples:accept": "false"}) == refused
    assert refusal(text, tmp_path, {**inside, "examples:accept": "true"}) == ""


def test_what_pulumi_does_not_read_is_told_and_an_object_of_kubernetes_gets_its_config() -> None:
    text = "apiVersion: v1\nx-pool: &a {b: 1}\nspec:\n  release: r2026-11\nconfig: {}\n"
    unread = StackFile(text, "kubeflow-spot").unread
    assert unread.keys() == {"apiVersion", "spec"}
    problems = {problem.path: problem for problem in loader.read_stack({}, unread=unread)[1]}
    assert problems.keys() == {"apiVersion", "spec"}
    assert problems["apiVersion"].warning
    assert problems["spec"].remedy == "write `config:` in its place, and `kubeflow-spot:` before each key below it"
