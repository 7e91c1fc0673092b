"""The JSON Schema of the stack file against the loader: it takes what the loader takes, and refuses most mistakes in one key."""

import copy
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from hypothesis import given

from config.reference.__main__ import SCHEMA
from config.stack_file import loader
from sandbox.toolchain.programs import ensure
from tests.config.stack_files import ERRORS, HAPPY, places_of_keys, replaced, settings, without
from tests.docs import pages, single
from tests.fuzz.corpus import places
from tests.parity.drawn import neutral, on_aks, on_gke

SCHEMA_OF_FILES = json.loads(SCHEMA.read_text())
VALIDATOR = jsonschema_rs.Draft7Validator(SCHEMA_OF_FILES)
EXAMPLES = [
    path for path in (pages.PROJECT / "examples" / "stacks").glob("*.yaml") if not path.name.endswith(".cloud.yaml")
]
CHECKED_IN = sorted([*pages.PROJECT.glob("Pulumi.*.yaml"), *EXAMPLES])


def refused(file: Any) -> list[str]:
    """Return the schema's errors in a stack file."""
    return [f"{error.instance_path}: {error.message}"[:300] for error in VALIDATOR.iter_errors(file)]


def file_of(raw: dict[str, Any]) -> dict[str, Any]:
    return {"config": {key if ":" in key else f"kubeflow-spot:{key}": value for key, value in raw.items()}}


def read(path: Path) -> Any:
    return yaml.load(path.read_text(), Loader=yaml.CSafeLoader)


def test_it_is_a_schema_of_draft_7_in_words_that_javascript_reads() -> None:
    jsonschema_rs.meta.validate(SCHEMA_OF_FILES)
    for pattern in patterns(SCHEMA_OF_FILES):
        # https://tc39.es/ecma262/#sec-patterns with the flag `u`, as ajv has it.
        assert not re.search(r"\(\?[^:=!]|\\[ZAz]|\\-|\[:|\(\?P", pattern), pattern


def patterns(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            yield node["pattern"]
        yield from node.get("patternProperties", {})
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from patterns(inner)


@pytest.mark.parametrize("path", [*HAPPY, *CHECKED_IN], ids=lambda path: path.name)
def test_it_takes_every_good_file(path: Path) -> None:
    assert refused(read(path)) == []


@pytest.mark.parametrize("path", HAPPY, ids=lambda path: path.name)
def test_it_takes_a_good_file_without_one_of_its_keys_where_the_loader_does(path: Path) -> None:
    raw = settings(path)
    for key in places_of_keys(raw):
        less = without(raw, key)
        against = refused(file_of(less))
        if against:
            assert loader.read_stack(less)[0] is None, (key, against)


@given(neutral())
def test_it_takes_drawn_files_of_both_clouds(drawn: dict[str, Any]) -> None:
    for raw in (on_aks(drawn), on_gke(drawn)):
        if loader.read_stack(copy.deepcopy(raw))[0]:
            assert refused(file_of(raw)) == []


@pytest.mark.slow
def test_it_refuses_four_of_five_error_rows_that_are_about_one_key(capsys: pytest.CaptureFixture[str]) -> None:
    every = single.error_rows()
    rows = [row for row in every if single.is_about_one_key(row)]
    bad = {id(row) for row in every if not VALIDATOR.is_valid(file_of(row.settings()))}
    seen = [row for row in rows if id(row) in bad]
    with capsys.disabled():
        print(
            f"\nschema: refuses {len(seen)} of the {len(rows)} error rows about one key ({len(seen) / len(rows):.0%}), "
            f"{len(bad)} of all {len(every)}"
        )
    assert len(rows) > len(ERRORS) / 3
    assert len(seen) / len(rows) >= 0.8


@pytest.mark.parametrize("path", HAPPY[::4], ids=lambda path: path.name)
def test_a_number_and_a_switch_in_quotes_are_refused_by_both(path: Path) -> None:
    raw = settings(path)
    for place, value in places(raw):
        # The provider's own properties are checked by the loader alone.
        if isinstance(value, bool | int) and "properties" not in place:
            quoted = replaced(raw, place, str(value).lower())
            spec, schema = loader.read_stack(quoted)[0], refused(file_of(quoted))
            assert (spec is None) == bool(schema), (place, schema)


@pytest.mark.parametrize(
    ("key", "value", "taken"),
    [
        (
            "imagePullSecrets",
            [{"name": "a", "server": "b.example", "username": "c", "password": {"secure": "v1:x"}}],
            True,
        ),
        (
            "imagePullSecrets",
            [{"name": "a", "server": "b.example", "username": {"secure": "v1:x"}, "password": "p"}],
            False,
        ),
        ("growth", {"order": {"secure": "v1:x"}}, False),
    ],
)
def test_a_secure_value_stands_only_where_a_secret_does(key: str, value: Any, taken: bool) -> None:
    file = read(pages.PROJECT / "Pulumi.dev.yaml")
    file["config"][f"kubeflow-spot:{key}"] = value
    assert (refused(file) == []) is taken


def test_a_kubeconfig_may_be_secure() -> None:
    (path,) = (path for path in HAPPY if path.name.startswith("kubeconfig-contents"))
    file = read(path)
    file["config"]["kubeflow-spot:cloud"]["kubeconfig"] = {"contents": {"secure": "v1:x"}}
    assert refused(file) == []


def test_keys_of_other_projects_are_accepted_and_unknown_own_keys_are_errors() -> None:
    file = read(pages.PROJECT / "Pulumi.dev.yaml")
    file |= {"secretsprovider": "passphrase", "encryptionsalt": "v1:salt"}
    file["config"] |= {"azure-native:location": "westeurope", "other:token": {"secure": "v1:x"}}
    assert refused(file) == []
    file["config"]["kubeflow-spot:relase"] = "r2026-11"
    assert len(refused(file)) == 1


@pytest.mark.parametrize("path", CHECKED_IN, ids=lambda path: path.name)
def test_a_checked_in_file_names_the_schema_in_its_first_line(path: Path) -> None:
    (named,) = re.findall(r"^# yaml-language-server: \$schema=(\S+)$", path.read_text().partition("\n")[0])
    assert (path.parent / named).resolve() == SCHEMA


@pytest.mark.engine
def test_the_line_survives_pulumi_config_set_and_the_file_stays_good(tmp_path: Path) -> None:
    for name in ("Pulumi.yaml", "Pulumi.dev.yaml"):
        shutil.copy(pages.PROJECT / name, tmp_path)
    binary = ensure(["pulumi"], print)["pulumi"]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_BACKEND_URL": f"file://{tmp_path}",
        "PULUMI_CONFIG_PASSPHRASE": "a passphrase",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    secret = "kubeflow-spot:imagePullSecrets[0]"
    for command in (
        ["stack", "init", "dev"],
        ["config", "set", "--path", "kubeflow-spot:pools[1].maxNodes", "9"],
        *(
            ["config", "set", "--path", f"{secret}.{key}", value]
            for key, value in (("name", "acr-auth"), ("server", "example.azurecr.io"), ("username", "puller"))
        ),
        ["config", "set", "--secret", "--path", f"{secret}.password", "correct horse"],
    ):
        done = subprocess.run([str(binary), *command], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    changed = tmp_path / "Pulumi.dev.yaml"
    first = (pages.PROJECT / "Pulumi.dev.yaml").read_text().partition("\n")[0]
    assert changed.read_text().partition("\n")[0] == first
    assert read(changed)["config"]["kubeflow-spot:pools"][1]["maxNodes"] == 9
    assert read(changed)["config"]["kubeflow-spot:imagePullSecrets"][0]["password"].keys() == {"secure"}
    assert refused(read(changed)) == []
