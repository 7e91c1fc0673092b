"""Installing and building programs, with a script in place of `go`."""

import errno
import os
import shutil
import subprocess
import sys
import threading
from collections import namedtuple
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM

import pytest
from filelock import FileLock

from sandbox.base.errors import ProgramError
from sandbox.base.home import PROJECT
from sandbox.tests.toolchain.fake_go import LINK, fake_go, key_of, members, until, write_script
from sandbox.toolchain import golang, modules, programs
from sandbox.toolchain.golang import version_of
from sandbox.toolchain.modules import MODULES
from sandbox.toolchain.programs import building, cache_directory, ensure

pytestmark = pytest.mark.process


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a machine with an empty cache and only basic programs on PATH."""
    for name in ("KUBEBUILDER_ASSETS", "GOFLAGS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "path").mkdir()
    for tool in ("sh", "mkdir", "cat", "touch", "sleep"):
        (tmp_path / "path" / tool).symlink_to(shutil.which(tool) or tool)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    return tmp_path


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


def test_an_older_pulumi_is_skipped_with_a_reason(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_programs_of_the_assets_are_not_built(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("etcd", "kubectl", "kube-controller-manager", "kube-scheduler"):
        write_script(machine / "assets" / name, "true")
    write_script(machine / "assets" / "kube-apiserver", "echo Kubernetes v1.36.0")
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(machine / "assets"))
    fake_go(machine)
    assert ensure(["kwok"], print)["kwok"].parent.parent == cache_directory() / "programs"
    assert (machine / "built").read_text().split("/ ")[-1] == "sigs.k8s.io/kwok/cmd/kwok\n"


@pytest.mark.parametrize("answer", ["echo Kubernetes v1.35.4", "exit 1"])
def test_assets_of_an_older_release_are_skipped(
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
    assert build.endswith(" ".join(next(module.packages for module in MODULES if module.name == "cluster").values()))
    assert first["etcd"].exists(), "etcd's package is called server"


def test_a_failed_build_leaves_nothing_and_shows_the_reason(machine: Path) -> None:
    fake_go(machine, "echo example.com/some/package; echo '# pkg'; echo 'x.go:1: undefined: y'; exit 1")
    with pytest.raises(ProgramError) as failure:
        ensure(["etcd"], print)
    assert "undefined: y" in str(failure.value)
    assert "example.com" not in str(failure.value)
    assert [path.name for path in (cache_directory() / "programs").iterdir() if path.is_dir()] == []


def test_the_leftovers_of_a_killed_build_are_cleared(machine: Path) -> None:
    fake_go(machine)
    key = key_of("cluster")
    (cache_directory() / "programs" / f".{key}-killed").mkdir(parents=True)
    ensure(["etcd"], print)
    assert [path.name for path in (cache_directory() / "programs").iterdir() if path.is_dir()] == [key]


ENDLESS = 'echo $$ > "$HOME/pid"; sleep 20 & wait'


def group_of_the_build(machine: Path) -> int:
    until(lambda: (machine / "pid").exists() and (machine / "pid").read_text())
    return os.getpgid(int((machine / "pid").read_text()))


@pytest.mark.parametrize("signal", [SIGINT, SIGTERM, SIGKILL])
def test_the_compilers_of_a_command_end_with_it(machine: Path, signal: int) -> None:
    fake_go(machine, ENDLESS)
    code = "from sandbox.toolchain.programs import ensure; ensure(['etcd'], print)"
    with subprocess.Popen([sys.executable, "-c", code], cwd=PROJECT, stderr=subprocess.DEVNULL) as command:
        group = group_of_the_build(machine)
        command.send_signal(signal)
        command.wait(10)
    until(lambda: not members(group))


def test_programs_build_in_the_background_until_the_command_ends(machine: Path) -> None:
    write_script(machine / "path" / "pulumi", "echo v3.999.0")
    fake_go(machine, ENDLESS)
    with building(["pulumi", "etcd"], print) as programs:
        assert programs.ensure(["pulumi"], print)["pulumi"].name == "pulumi"
        group = group_of_the_build(machine)
        assert members(group)
    until(lambda: not members(group))  # SIGKILL is sent, not awaited
    assert [path.name for path in (cache_directory() / "programs").iterdir() if path.is_dir()] == []


def test_waiting_for_a_stopped_build_raises_an_error(machine: Path) -> None:
    fake_go(machine, "sleep 20")
    errors: list[BaseException] = []

    def wait() -> None:
        try:
            programs.ensure(["etcd"], print)
        except ProgramError as error:
            errors.append(error)

    with building(["etcd"], print) as programs:
        waiter = threading.Thread(target=wait)
        waiter.start()
        until((machine / "built").exists)
        programs.close()
        waiter.join(5)
        assert "stopped" in str(errors)


def test_a_build_begins_when_the_one_before_it_links(machine: Path) -> None:
    """Not earlier: two would share the cores. Not later: linking leaves one idle."""
    main = next(iter(MODULES[0].packages.values()))
    build = f"""case "$*" in
    *{main}) echo some/package; sleep 1; test -e "$HOME/second" && exit 7; echo {main}
      for _ in 1 2 3 4 5 6 7 8 9; do test -e "$HOME/second" || sleep 1; done; test -e "$HOME/second" || exit 8;;
    *) : > "$HOME/second";;
    esac; {LINK}"""
    fake_go(machine, build.replace("PROGRAMS", "pulumi PROGRAMS"))
    paths = ensure(["pulumi", "etcd"], print)
    assert all(path.exists() for path in paths.values())


def test_a_version_is_read_once(machine: Path) -> None:
    """Reading a version takes half a second, in every command that runs the engine."""
    write_script(machine / "path" / "pulumi", 'echo asked >> "$HOME/asked"; echo v3.999.0')
    for _ in range(2):
        ensure(["pulumi"], print)
    assert (machine / "asked").read_text() == "asked\n"


@pytest.mark.parametrize("reporter", ["compiler", "system"])
def test_a_full_disk_is_named(machine: Path, monkeypatch: pytest.MonkeyPatch, reporter: str) -> None:
    fake_go(machine, "echo 'write /tmp/x: no space left on device'; exit 1")
    if reporter == "system":

        def full(**_: object) -> str:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr("tempfile.mkdtemp", full)
    with pytest.raises(ProgramError, match=r"disk is full: \S*kubeflow-spot\S* has .* GB free"):
        ensure(["etcd"], print)


def test_too_little_disk_stops_a_build_before_it_begins(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_go(machine)
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(1 << 40, 1 << 40, 100 << 20))
    with pytest.raises(ProgramError, match="disk is full"):
        ensure(["etcd"], print)
    assert not (machine / "built").exists()


def test_a_second_build_waits_for_the_first(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that waits says so, and takes what the other has built."""
    fake_go(machine)
    key = key_of("cluster")
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
    assert any("another process builds kube-apiserver" in line for line in lines)


@pytest.mark.parametrize(("found", "asked"), [("1.24.1", "1.26"), ("1.26.5", "1.26.6")])
def test_an_old_go_is_replaced_by_the_one_uv_installs(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], found: str, asked: str
) -> None:
    write_script(machine / "path" / "go", f"echo go{found}")
    (machine / "go.mod").write_text(f"module a\n\ngo {asked}\n")
    wheel = "lib/python3.11/site-packages/go/bin"
    install = f'echo "$*" > "$HOME/uv-arguments"; mkdir -p "$UV_PROJECT_ENVIRONMENT/{wheel}"'
    install += f'; cd "$UV_PROJECT_ENVIRONMENT/{wheel}"; : > go'
    monkeypatch.setenv("UV", str(write_script(machine / "elsewhere" / "uv", install)))
    go = golang.find_go(cache_directory(), PROJECT, print, [machine])
    assert go.path == cache_directory() / "go-1.27.3" / wheel / "go"
    assert f"{found} is older than {asked}" in capsys.readouterr().out
    assert "sync --locked --only-group go --no-install-project" in (machine / "uv-arguments").read_text()
    assert "GOROOT" not in go.environment


def test_an_unknown_program_is_refused() -> None:
    with pytest.raises(ProgramError, match="no such program: kubeadm"):
        ensure(["kubeadm"], print)
