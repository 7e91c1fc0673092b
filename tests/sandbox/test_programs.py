"""Programs found on the machine, and those that are built, without any build: `go` is a script here."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.base.errors import ProgramError
from sandbox.base.home import PROJECT
from sandbox.toolchain import golang, modules, programs
from sandbox.toolchain.golang import version_of
from sandbox.toolchain.modules import MODULES
from sandbox.toolchain.programs import cache_directory, ensure
from tests.sandbox.fake_go import fake_go, write_script

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("go1.26.8", (1, 26, 8)),
        ("go1.27rc1", (1, 27)),
        ("v3.258.0", (3, 258, 0)),
        ("Kubernetes v1.36.2", (1, 36, 2)),
        ("devel", ()),
    ],
)
def test_versions_are_read_from_what_programs_print(text: str, version: tuple[int, ...]) -> None:
    assert version_of(text) == version


def test_the_linker_stamps_follow_go_mod() -> None:
    flags = {module.name: " ".join(module.flags()) for module in MODULES}
    version = next(module.version for module in MODULES if module.name == "cluster")
    assert f"gitVersion={version} " in flags["cluster"]
    assert f"gitMinor={version.split('.')[1]}" in flags["cluster"]
    assert "version.Version=v3.258.0" in flags["pulumi"]


def test_every_file_a_program_is_built_from_is_in_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(PROJECT / "tools", tmp_path / "tools")
    monkeypatch.setattr(modules, "PROJECT", tmp_path)
    keys = {MODULES[0].key()}
    for name in ("go.sum", "go.mod"):
        with (MODULES[0].folder / name).open("a") as file:
            file.write("// changed\n")
        keys.add(MODULES[0].key())
    monkeypatch.setattr(programs.Module, "flags", lambda self: ["-race"])
    keys.add(MODULES[0].key())
    assert len(keys) == 4


@pytest.mark.parametrize("version", ["v3.258.0", "v3.258.1-dev", "v4.0.0"])
def test_a_new_enough_pulumi_on_path_is_used(machine: Path, version: str) -> None:
    script = write_script(machine / "path" / "pulumi", f"echo {version}")
    assert ensure(["pulumi"], print) == {"pulumi": script}


def test_an_older_pulumi_is_passed_over_with_a_reason(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_script(machine / "path" / "pulumi", "echo v3.99.1")
    fake_go(machine, module="pulumi")
    built = ensure(["pulumi"], print)["pulumi"]
    assert built.parent.parent == cache_directory() / "programs"
    assert built.parent.name == MODULES[0].key()
    assert "3.99.1 is older than v3.258.0" in capsys.readouterr().out


def test_assets_are_used_when_their_api_server_is_new_enough(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("etcd", "kubectl"):
        write_script(machine / "assets" / name, "true")
    server = write_script(machine / "assets" / "kube-apiserver", "echo Kubernetes v1.36.0")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(machine / "assets"))
    assert ensure(["kube-apiserver", "etcd"], print) == {"kube-apiserver": server, "etcd": machine / "assets" / "etcd"}


def test_what_is_in_the_assets_is_not_built_as_well(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("etcd", "kubectl", "kube-controller-manager", "kube-scheduler"):
        write_script(machine / "assets" / name, "true")
    write_script(machine / "assets" / "kube-apiserver", "echo Kubernetes v1.36.0")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(machine / "assets"))
    fake_go(machine)
    assert ensure(["kwok"], print)["kwok"].parent.parent == cache_directory() / "programs"
    assert (machine / "built").read_text().split("/ ")[-1] == "sigs.k8s.io/kwok/cmd/kwok\n"


@pytest.mark.parametrize("answer", ["echo Kubernetes v1.35.4", "exit 1"])
def test_assets_of_an_older_release_are_passed_over(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answer: str
) -> None:
    write_script(machine / "assets" / "etcd", "true")
    write_script(machine / "assets" / "kube-apiserver", answer)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(machine / "assets"))
    fake_go(machine)
    assert ensure(["etcd"], print)["etcd"].is_relative_to(cache_directory())
    assert "not 1.36 or newer" in capsys.readouterr().out


def test_a_version_is_asked_for_once(machine: Path) -> None:
    """It takes half a second, in every command that runs the engine."""
    write_script(machine / "path" / "pulumi", 'echo asked >> "$HOME/asked"; echo v3.999.0')
    for _ in range(2):
        ensure(["pulumi"], print)
    assert (machine / "asked").read_text() == "asked\n"


def test_an_old_go_gives_way_to_the_one_uv_installs(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_script(machine / "path" / "go", "echo go1.24.1")
    wheel = "lib/python3.11/site-packages/go/bin"
    install = f'echo "$*" > "$HOME/uv-arguments"; mkdir -p "$UV_PROJECT_ENVIRONMENT/{wheel}"'
    install += f'; cd "$UV_PROJECT_ENVIRONMENT/{wheel}"; : > go'
    monkeypatch.setenv("UV", str(write_script(machine / "elsewhere" / "uv", install)))
    go = golang.find_go(cache_directory(), PROJECT, print)
    assert go.path == cache_directory() / "go-1.27.3" / wheel / "go"
    assert "1.24.1 is older than 1.26" in capsys.readouterr().out
    assert "sync --locked --only-group go --no-install-project" in (machine / "uv-arguments").read_text()
    assert "GOROOT" not in go.environment


def test_an_unknown_program_is_refused() -> None:
    with pytest.raises(ProgramError, match="no such program: kubeadm"):
        ensure(["kubeadm"], print)


def test_importing_needs_none_of_the_program(tmp_path: Path) -> None:
    code = (
        "import sys, sandbox.toolchain.programs, sandbox.cluster.control_plane;"
        "print({'components', 'config'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
