"""Finding and building programs, without building any: `go` is a script here."""

import errno
import os
import shutil
import subprocess
import sys
import threading
from collections import namedtuple
from contextlib import suppress
from pathlib import Path
from time import monotonic

import psutil
import pytest
from filelock import FileLock

from sandbox import golang, programs
from sandbox.errors import ProgramError
from sandbox.golang import Progress, version_of
from sandbox.programs import MODULES, PROJECT, cache_directory, ensure

pytestmark = pytest.mark.process


def write_script(path: Path, body: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with an empty cache and nothing on PATH but the system's basics."""
    for name in ("KUBEBUILDER_ASSETS", "GOFLAGS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "path").mkdir()
    for tool in ("sh", "mkdir", "cat", "touch", "sleep"):
        (tmp_path / "path" / tool).symlink_to(shutil.which(tool) or tool)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    return tmp_path


def fake_go(
    machine: Path, build: str = 'for o; do case $prev in -o) out=$o;; esac; prev=$o; done; touch "$out"'
) -> None:
    """A `go` 1.26.8 whose `go build` runs a shell script and notes its environment in $HOME/built."""
    body = f"""case "$1 $2" in
    "env GOVERSION") echo go1.26.8;;
    "env "*) echo "$HOME/go-cache";;
    build*) echo "$GOFLAGS|$GOTOOLCHAIN|$CGO_ENABLED|$GOWORK|$*" >> "$HOME/built"; {build};;
    esac"""
    write_script(machine / "path" / "go", body)


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
    version = next(module.version for module in MODULES if module.name == "kubernetes")
    assert f"gitVersion={version} " in flags["kubernetes"]
    assert f"gitMinor={version.split('.')[1]}" in flags["kubernetes"]
    assert "version.Version=v3.258.0" in flags["pulumi"]


def test_every_file_a_program_is_built_from_is_in_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(PROJECT / "tools", tmp_path / "tools")
    monkeypatch.setattr(programs, "PROJECT", tmp_path)
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
    fake_go(machine)
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


def test_a_build_is_shielded_from_the_users_go_settings_and_kept(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=vendor -race")
    monkeypatch.setenv("GOWORK", "/somewhere/go.work")
    fake_go(machine)
    first = ensure(["etcd"], print)
    assert ensure(["etcd"], print) == first
    (build,) = (machine / "built").read_text().splitlines()
    assert build.startswith("-trimpath|local|0|off|build -v -mod=readonly ")
    assert build.endswith("go.etcd.io/etcd/server/v3")


def test_a_failed_build_leaves_nothing_and_says_why(machine: Path) -> None:
    fake_go(machine, "echo example.com/some/package; echo '# pkg'; echo 'x.go:1: undefined: y'; exit 1")
    with pytest.raises(ProgramError) as failure:
        ensure(["etcd"], print)
    assert "undefined: y" in str(failure.value)
    assert "example.com" not in str(failure.value)
    assert [path.name for path in (cache_directory() / "programs").iterdir() if path.is_dir()] == []


def test_the_leftovers_of_a_killed_build_are_cleared(machine: Path) -> None:
    fake_go(machine)
    key = next(module.key() for module in MODULES if module.name == "etcd")
    (cache_directory() / "programs" / f".{key}-killed").mkdir(parents=True)
    ensure(["etcd"], print)
    assert [path.name for path in (cache_directory() / "programs").iterdir() if path.is_dir()] == [key]


def test_an_interrupted_build_takes_its_compilers_along(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_go(machine, 'echo $$ > "$HOME/pid"; sleep 20 & wait')
    monkeypatch.setattr(golang, "REPORT_EVERY", 0.0)

    def interrupt(line: str) -> None:
        if (machine / "pid").exists() and (machine / "pid").read_text().strip():
            raise KeyboardInterrupt

    started = monotonic()
    with pytest.raises(KeyboardInterrupt):
        ensure(["etcd"], interrupt)
    assert monotonic() - started < 15, "the interrupt waited for the compiler"
    group = int((machine / "pid").read_text())
    members = []
    for one in psutil.process_iter():
        with suppress(psutil.Error, ProcessLookupError):
            members += [one] if os.getpgid(one.pid) == group and one.status() != "zombie" else []
    assert members == []


@pytest.mark.parametrize("where", ["compiler", "system"])
def test_a_full_disk_is_named(machine: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    fake_go(machine, "echo 'write /tmp/x: no space left on device'; exit 1")
    if where == "system":

        def full(**_: object) -> str:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(programs.tempfile, "mkdtemp", full)
    with pytest.raises(ProgramError, match=r"disk is full: \S*kubeflow-spot\S* has .* GB free"):
        ensure(["etcd"], print)


def test_too_little_disk_stops_a_build_before_it_begins(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_go(machine)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(programs.shutil, "disk_usage", lambda _: usage(1 << 40, 1 << 40, 100 << 20))
    with pytest.raises(ProgramError, match="disk is full"):
        ensure(["etcd"], print)
    assert not (machine / "built").exists()


def test_a_second_build_waits_for_the_first(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that waits says so, and takes what the other has built."""
    fake_go(machine)
    monkeypatch.setattr(programs, "WAIT_SECONDS", 0.1)
    key = next(module.key() for module in MODULES if module.name == "etcd")
    folder = cache_directory() / "programs" / key
    folder.parent.mkdir(parents=True)
    lines: list[str] = []
    with FileLock(folder.with_name(f"{key}.lock")):
        waiter = threading.Thread(target=ensure, args=(["etcd"], lines.append))
        waiter.start()
        while not any("waiting" in line for line in lines):
            assert waiter.is_alive()
        folder.mkdir()
    waiter.join(10)
    assert not (machine / "built").exists()
    assert any("another process builds etcd" in line for line in lines)


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


def test_a_build_reports_what_it_compiled() -> None:
    progress = Progress()
    for line in ("go: downloading k8s.io/api v0.36.2", "fmt", "k8s.io/api/core/v1", "# k8s.io/api", "x.go:1: bad"):
        progress.read(line)
    assert str(progress) == "1 modules downloaded, 2 packages compiled"
    assert list(progress.tail) == ["# k8s.io/api", "x.go:1: bad"]


def test_an_unknown_program_is_refused() -> None:
    with pytest.raises(ProgramError, match="no such program: kubeadm"):
        ensure(["kubeadm"], print)


def test_importing_needs_none_of_the_program(tmp_path: Path) -> None:
    code = "import sys, sandbox.programs, sandbox.controlplane; print({'components', 'spec'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
