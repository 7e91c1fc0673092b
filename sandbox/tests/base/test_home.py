"""The sandbox's home: remembered settings, and the cloud of a stack."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.base.errors import SandboxError
from sandbox.base.home import Home
from sandbox.base.locks import lock_cloud, lock_stack, share_cloud


@pytest.fixture
def dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.delenv("SANDBOX_HOME", raising=False)
    return up(Home.of("dev", tmp_path))


@pytest.fixture
def guest(dev: Home) -> Home:
    return up(Home.of("guest", dev.project).with_options(beside="dev"))


def up(home: Home) -> Home:
    home.directory.mkdir(parents=True)
    home.cloud.mkdir(exist_ok=True)
    home.remember()
    return home


def test_the_stack_file_of_a_stack_is_remembered_until_another_is_named(dev: Home) -> None:
    first, second = Path("/stacks/a.yaml"), Path("/stacks/b.yaml")
    dev.with_options(first).remember()
    assert Home.of("dev", dev.project).config_file == first
    assert Home.of("dev", dev.project).with_options(second).config_file == second
    assert Home.of("dev", dev.project).with_options().config_file == first


def test_a_guest_uses_the_clouds_and_clusters_of_its_host_and_a_home_of_its_own(dev: Home, guest: Home) -> None:
    assert Home.of("guest", dev.project) == guest
    assert (guest.cloud, guest.clusters, guest.cloud_lock) == (dev.cloud, dev.clusters, dev.cloud_lock)
    assert guest.directory != dev.directory
    assert guest.lock != dev.lock
    assert (dev.guests(), guest.guests()) == (["guest"], [])


def test_a_stack_has_one_cloud_and_only_a_cloud_s_own_stack_can_be_a_host(dev: Home, guest: Home) -> None:
    assert guest.with_options(beside="dev") == guest
    for home, beside, reason in (
        (dev, "guest", "has an emulated cloud of its own"),
        (guest, "other", "is beside 'dev'"),
        (Home.of("third", dev.project), "guest", "use `--beside dev`"),
        (Home.of("third", dev.project), "third", "is not up"),
        (Home.of("third", dev.project), "..", "is no stack name"),
    ):
        with pytest.raises(SandboxError, match=reason):
            home.with_options(beside=beside)


def test_a_preview_beside_another_stack_does_not_keep_the_first_up_from_it(dev: Home) -> None:
    # A preview creates the folder and remembers nothing.
    Home.of("guest", dev.project).directory.mkdir()
    assert Home.of("guest", dev.project).with_options(beside="dev").cloud == dev.cloud


def test_a_stack_belongs_to_one_command_at_a_time(dev: Home) -> None:
    with (
        lock_stack(dev),
        pytest.raises(SandboxError, match="another command is working on stack 'dev'"),
        lock_stack(dev),
    ):
        pass
    with lock_stack(dev):
        pass


@pytest.mark.process
def test_the_starting_process_of_a_killed_command_is_awaited(dev: Home) -> None:
    dev.lock.touch()
    # A process that shares its starter's open lock file until it runs.
    holder = "import fcntl, sys, time; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); print(flush=True); time.sleep(0.3)"
    process = subprocess.Popen([sys.executable, "-c", holder, str(dev.lock)], stdout=subprocess.PIPE)
    with process:
        assert process.stdout
        process.stdout.readline()
        with lock_stack(dev):
            assert process.wait() == 0


def test_a_cloud_is_repaired_only_without_users_and_two_may_use_it(dev: Home, guest: Home) -> None:
    repaired: list[str] = []
    with (
        share_cloud(dev, repaired.append, lambda: repaired.append("dev alone")),
        share_cloud(guest, repaired.append, lambda: repaired.append("guest alone")),
        pytest.raises(SandboxError, match="is working on the cloud of stack 'dev'"),
        lock_cloud(dev),
    ):
        pass
    assert repaired == ["dev alone"]
    with share_cloud(guest, repaired.append, lambda: repaired.append("guest alone")):
        pass
    assert repaired == ["dev alone", "guest alone"]
    with lock_cloud(dev):
        pass


def test_a_guest_without_its_host_is_an_error(dev: Home, guest: Home) -> None:
    shutil.rmtree(dev.directory)
    with pytest.raises(SandboxError, match="beside 'dev', which is not up any more"), share_cloud(guest, print):
        pass
