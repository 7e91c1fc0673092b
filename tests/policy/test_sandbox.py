"""The sandbox starts a policy pack and reports the engine's events about it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pulumi.automation.events import EngineEvent, PolicyEvent

from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.engine.events import Steps
from sandbox.engine.policies import Pack, install

BROKEN = PolicyEvent(
    message="<{%fg 1%}>Refused.<{%reset%}>\n\x1b[31mhere\x1b[0m: so\n",
    color="auto",
    policy_name="rule",
    policy_pack_name="pack",
    policy_pack_version="1",
    policy_pack_version_tag="1",
    enforcement_level="mandatory",
    resource_urn="urn:pulumi:prod::project::type::name",
)


def event(policy: PolicyEvent) -> EngineEvent:
    return EngineEvent(sequence=0, timestamp=0, policy_event=policy)


def a_pack(folder: Path, runtime: str = "{name: python, options: {toolchain: uv}}") -> Pack:
    folder.mkdir()
    (folder / "PulumiPolicy.yaml").write_text(f"version: 1.2.3\nruntime: {runtime}\n")
    return Pack(folder)


def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("SANDBOX_HOME", str(tmp_path / "home"))
    return Home.of("dev", tmp_path)


def test_a_violation_is_reported_once_without_colour_codes_and_is_the_error() -> None:
    steps = Steps()
    for _ in range(2):
        steps.on_event(event(BROKEN))
    steps.errors.append("preview failed")
    steps.failed("exit 255")
    assert steps.as_json() == {
        "steps": [],
        "violations": [
            {
                "policy": "rule",
                "level": "mandatory",
                "resource": "name",
                "urn": "urn:pulumi:prod::project::type::name",
                "message": "Refused.\nhere: so",
            }
        ],
        "warnings": [],
        "errors": ["mandatory policies are broken: rule"],
    }


def test_an_error_beside_a_violation_is_kept() -> None:
    steps = Steps(errors=["the program is wrong"])
    steps.on_event(event(BROKEN))
    steps.failed("exit 255")
    assert steps.errors == ["the program is wrong"]


def test_a_project_has_a_pack_where_it_has_the_packs_file(tmp_path: Path) -> None:
    (tmp_path / "policy").mkdir()
    assert Pack.of(tmp_path, "prod") is None
    (tmp_path / "policy" / "PulumiPolicy.yaml").write_text("runtime: python\n")
    assert Pack.of(tmp_path, "prod") == Pack(tmp_path / "policy")


def test_a_stacks_own_file_configures_the_pack_until_it_is_removed_or_another_is_named(tmp_path: Path) -> None:
    pack, other = tmp_path / "policy", tmp_path / "other.json"
    pack.mkdir()
    (pack / "PulumiPolicy.yaml").write_text("runtime: python\n")
    own = pack / "config.prod.json"
    own.write_text("{}")
    assert Pack.of(tmp_path, "prod") == Pack(pack, own)
    assert Pack.of(tmp_path, "prod", other) == Pack(pack, other)
    assert Pack.of(tmp_path, "dev") == Pack(pack)
    own.unlink()
    assert Pack.of(tmp_path, "prod") == Pack(pack)


def test_the_engine_gets_a_copy_that_no_language_host_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = a_pack(tmp_path / "pa ck")
    options = install(home(tmp_path, monkeypatch), pack)
    option, folder = options
    copy = yaml.safe_load((Path(folder) / "PulumiPolicy.yaml").read_text())
    assert copy["version"] == "1.2.3"
    assert copy["runtime"] != "python"
    assert option == "--policy-pack"
    config = Pack(pack.folder, tmp_path / "config.json")
    assert install(home(tmp_path, monkeypatch), config) == [*options, "--policy-pack-config", str(config.config)]


@pytest.mark.process
def test_the_script_runs_the_pack_in_this_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = a_pack(tmp_path / "pa ck")
    (pack.folder / "__main__.py").write_text("import sys; print(sys.executable)\n")
    install(home(tmp_path, monkeypatch), pack)
    (script,) = (tmp_path / "home").rglob("pulumi-analyzer-policy-*")
    done = subprocess.run([str(script), "127.0.0.1:1", "."], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == sys.executable


def test_a_pack_in_another_language_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack = a_pack(tmp_path / "pack", "nodejs")
    with pytest.raises(SandboxError, match="only packs with the runtime python"):
        install(home(tmp_path, monkeypatch), pack)
