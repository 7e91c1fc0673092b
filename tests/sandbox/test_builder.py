"""The builder of programs: failures, leftovers, waits and full disks. `go` is a script here."""

import errno
import os
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
from sandbox.toolchain.modules import MODULES
from sandbox.toolchain.programs import building, cache_directory, ensure
from tests.sandbox.fake_go import LINK, fake_go, key_of, members, until, write_script

pytestmark = pytest.mark.process


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


def test_a_failed_build_leaves_nothing_and_says_why(machine: Path) -> None:
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


@pytest.mark.parametrize("signal", [SIGINT, SIGTERM, SIGKILL])
def test_a_command_that_ends_takes_its_compilers_along(machine: Path, signal: int) -> None:
    fake_go(machine, 'echo $$ > "$HOME/pid"; sleep 20 & wait')
    code = "from sandbox.toolchain.programs import ensure; ensure(['etcd'], print)"
    with subprocess.Popen([sys.executable, "-c", code], cwd=PROJECT, stderr=subprocess.DEVNULL) as command:
        until((machine / "pid").exists)
        until((machine / "pid").read_text)
        group = os.getpgid(int((machine / "pid").read_text()))
        command.send_signal(signal)
        command.wait(10)
    until(lambda: not members(group))


def test_what_is_not_waited_for_is_built_meanwhile_and_stopped_at_the_end(machine: Path) -> None:
    write_script(machine / "path" / "pulumi", "echo v3.999.0")
    fake_go(machine, 'echo $$ > "$HOME/pid"; sleep 20 & wait')
    with building(["pulumi", "etcd"], print) as programs:
        assert programs.ensure(["pulumi"], print)["pulumi"].name == "pulumi"
        until((machine / "pid").exists)
        until((machine / "pid").read_text)
        group = os.getpgid(int((machine / "pid").read_text()))
        assert members(group)
    assert members(group) == []
    assert [path.name for path in (cache_directory() / "programs").iterdir() if path.is_dir()] == []


def test_who_waits_for_a_program_is_told_that_its_build_was_stopped(machine: Path) -> None:
    fake_go(machine, "sleep 20")
    told: list[BaseException] = []

    def wait() -> None:
        try:
            programs.ensure(["etcd"], print)
        except ProgramError as error:
            told.append(error)

    with building(["etcd"], print) as programs:
        waiter = threading.Thread(target=wait)
        waiter.start()
        until((machine / "built").exists)
        programs.close()
        waiter.join(5)
        assert "stopped" in str(told)


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


@pytest.mark.parametrize("where", ["compiler", "system"])
def test_a_full_disk_is_named(machine: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    fake_go(machine, "echo 'write /tmp/x: no space left on device'; exit 1")
    if where == "system":

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
