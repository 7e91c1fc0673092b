"""What goes wrong around an `up`: refusals, lost answers, failed operations, a broken state, a full disk, a second operator.

After each, nothing is lost and nothing is there twice, the message says what to do, and the next `up` completes the stack.
`test_kill.py` has killed commands.
"""

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sandbox.tests.faults import FAILED, LOST, Fault, Faults
from sandbox.tests.killing import stored
from sandbox.tests.stack import Stack, until
from sandbox.tests.subjects import SUBJECTS, Subject
from tests.stacks.test_kill import WORDS, check_up, processes

pytestmark = pytest.mark.slow

of_every_stack = pytest.mark.parametrize("subject", SUBJECTS.values(), ids=SUBJECTS)

AGAIN = "is not complete: mend what the errors above name, then"

PASSING = {
    "dev": [
        Fault("virtualNetworks/ml-dev", LOST, 1),
        Fault("subnets/nodes", 503, 1),
        Fault("managedClusters/ml-dev", 429, 3),
        Fault("agentPools/general", 500, 3),
    ],
    "staging": [
        Fault("networks/ml-staging", 503, 1),
        Fault("subnetworks/ml-staging", 409, 3),
        Fault("clusters/ml-staging", 429, 9),
        Fault("nodePools/general", 500, 9),
    ],
}
"""Faults that the providers' clients outlast."""

LASTING = {
    "dev": [
        (Fault("virtualNetworks/ml-dev", 500), 'Status=500 Code="InternalOperationError"'),
        (Fault("managedClusters/ml-dev", 429), "please retry again in 30 seconds"),
        (Fault("managedClusters/ml-dev", LOST), "please wait for it to finish"),
        (Fault("agentPools/general", 409), "please wait for it to finish before starting a new operation"),
        (Fault("agentPools/general", LOST), "please wait for it to finish"),
    ],
    "staging": [
        (Fault("networks/ml-staging", 500), "googleapi: Error 500: Internal error encountered., backendError"),
        (Fault("subnetworks/ml-staging", LOST), "googleapi: Error 409: Already exists"),
        (Fault("clusters/ml-staging", 429), "please try again later"),
        (Fault("clusters/ml-staging", FAILED), "Error waiting for creating"),
        (Fault("nodePools/general", 409), "another operation was already in progress"),
        (Fault("nodePools/general", LOST), "googleapi: Error 409: Already exists"),
    ],
}
"""Faults that last longer than a command, in the order in which an `up` meets them, with what their messages say."""


@pytest.fixture
def stack(subject: Subject, tmp_path: Path) -> Iterator[Stack]:
    stack = Stack.copy(tmp_path, subject.name)
    yield stack
    stack.run("down", "--force")


@of_every_stack
def test_refusals_that_pass_and_a_second_operator_are_no_trouble(
    stack: Stack, subject: Subject, tmp_path: Path
) -> None:
    done = stack.run("up", prepare=Faults(*PASSING[subject.name]))
    assert "error" not in (done.stdout + done.stderr).lower()
    check_up(stack, subject)

    printed = tmp_path / "printed.txt"
    with printed.open("w") as output:
        running = stack.start("up", output, "--refresh")
    assert until(lambda: "Updating" in printed.read_text(), 60), printed.read_text()
    for command in ("up", "down", "down --force", "scale general 2"):
        second = stack.run(*command.split(), ok=False)
        assert second.stderr == (
            f"error: another command is working on stack '{subject.name}'; wait until it has ended, then run this one again\n"
        )
    assert running.wait() == 0, printed.read_text()
    check_up(stack, subject)


@of_every_stack
def test_after_each_fault_the_next_up_goes_on_and_nothing_is_there_twice(stack: Stack, subject: Subject) -> None:
    adopted = ""
    for fault, says in LASTING[subject.name]:
        failed = stack.run("up", ok=False, prepare=Faults(fault))
        assert says in failed.stdout
        assert "Traceback" not in failed.stdout + failed.stderr
        # One resource is named, and what to do stands once at the end.
        assert len(re.findall(r"\*\*(?:creating|updating) failed\*\* .*error:", failed.stdout)) == 1
        assert failed.stderr.count(AGAIN) == 1
        assert failed.stderr.rstrip().endswith("it makes what is missing")
        if adopted:
            assert adopted in failed.stderr
        adopted = f"{fault.id}\n" if fault.answer == LOST else ""
    stack.run("up")
    check_up(stack, subject)


@of_every_stack
def test_a_refused_down_is_completed_by_the_next_one(stack: Stack, subject: Subject) -> None:
    words = WORDS[subject.name]
    # Where the test above loses a cluster's answer, its operation fails here, and the other way round; so with the pool.
    for fault in (Fault(words.cluster, FAILED if subject.name == "dev" else LOST), Fault(words.pool, FAILED)):
        stack.run("up", ok=False, prepare=Faults(fault))
    stack.run("up")
    check_up(stack, subject)
    for id, answer in ((words.cluster, 500), (words.subnet, 409), (words.network, 429)):
        failed = stack.run("down", ok=False, prepare=Faults(Fault(id, answer, deletes=True)))
        assert "Traceback" not in failed.stderr
        assert "its errors are above" in failed.stderr
        assert id in {"/".join(resource["id"].split("/")[-2:]) for resource in stored(stack, words.memory)}
    stack.run("down", prepare=Faults(Fault(words.network, LOST, 1, deletes=True)))
    assert processes(stack) == []
    assert not (stack.home / subject.name).exists()


@pytest.fixture(scope="module")
def module_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack.copy(tmp_path_factory.mktemp("broken"))
    yield stack
    stack.run("down", "--force")


@pytest.fixture
def standing(module_stack: Stack) -> Stack:
    """Return a stack that is up, for tests that break its files."""
    module_stack.run("up")
    return module_stack


def refused(stack: Stack, *commands: str) -> str:
    """Run commands that a broken file stops, with one message each and nothing else; return the last one."""
    for command in commands:
        failed = stack.run(command, ok=False)
        assert failed.stdout == ""
        assert failed.stderr.startswith("error: ")
        assert "Traceback" not in failed.stderr
        assert failed.stderr.count("error: ") == 1
    return failed.stderr


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


STATES: dict[str, Callable[[Path], object]] = {
    "cut off": cut,
    "empty": lambda path: path.write_text(""),
    "gone": Path.unlink,
    "of a newer Pulumi": lambda path: path.write_text(path.read_text().replace('"version":4', '"version":5', 1)),
}


@pytest.mark.parametrize("how", STATES)
def test_a_broken_state_is_no_empty_one_and_its_copy_brings_it_back(how: str, standing: Stack) -> None:
    (state,) = (standing.home / "dev" / "backend" / ".pulumi" / "stacks").glob("*/dev.json")
    cloud = stored(standing, "azure.json")
    STATES[how](state)
    broken = state.exists() and state.read_text()
    says = refused(standing, "preview", "up", "down", "outputs")
    assert "Nothing was changed" in says
    assert (state.exists() and state.read_text()) == broken
    assert stored(standing, "azure.json") == cloud
    (remedy,) = re.findall("`(cp .*?)`", says)
    subprocess.run(shlex.split(remedy), check=True)
    assert "nothing changed" in standing.run("up").stdout
    assert standing.steps() == []


@pytest.mark.parametrize(
    ("file", "breaks", "commands"),
    [
        pytest.param("choices.json", cut, ("preview", "up", "down", "status"), id="options"),
        pytest.param("passphrase", Path.unlink, ("preview", "up", "down"), id="passphrase"),
    ],
)
def test_a_broken_file_of_the_sandbox_is_named_with_its_remedy(
    file: str, breaks: Callable[[Path], object], commands: tuple[str, ...], standing: Stack
) -> None:
    path = standing.home / "dev" / file
    content = path.read_bytes()
    breaks(path)
    says = refused(standing, *commands)
    assert f"error: {path} is " in says
    if remedy := re.search("`(rm .*?)`", says):
        subprocess.run(shlex.split(remedy[1]), check=True)
    else:
        assert "`down --force` removes" in says
        path.write_bytes(content)
    assert "nothing changed" in standing.run("up").stdout


@pytest.mark.parametrize("file", ["cloud/azure.json", "clusters/*/cluster.json"])
def test_a_sandbox_with_a_broken_memory_is_removed_and_made_anew(file: str, standing: Stack) -> None:
    (path,) = (standing.home / "dev").glob(file)
    cut(path)
    says = refused(standing, "preview", "up", "down", "status")
    assert str(path) in says
    assert "`down --force` removes this stack's sandbox" in says
    standing.run("down", "--force")
    assert processes(standing) == []
    standing.run("up")
    check_up(standing, SUBJECTS["dev"])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a disk of 400 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(path: Path, leave: int = 0) -> None:
    """Fill the disk of a path with it, but for a number of bytes."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while shutil.disk_usage(path.parent).free > leave:
            file.write(bytes(1 << 14))


def test_a_full_disk_loses_nothing(small_disk: Path, tmp_path: Path) -> None:
    stack, rest = Stack.copy(small_disk), small_disk / "rest"
    try:
        fill(rest, leave=100 << 20)
        says = refused(stack, "up")
        assert re.search(r"only \d+ MB are free in .*, and this command may need 200 MB\. Nothing was changed\.", says)
        rest.unlink()

        printed = tmp_path / "printed.txt"
        with printed.open("w") as output:
            running = stack.start("up", output)
            assert until(lambda: "starting etcd" in printed.read_text(), 240), printed.read_text()
            fill(rest)
            assert running.wait() != 0
        says = printed.read_text()
        assert "no space left on device" in says.lower()
        assert "Traceback" not in says
        rest.unlink()

        done = stack.run("up", ok=None)
        if done.returncode:
            # The engine has cut its state off, which only its copy can mend.
            (remedy,) = re.findall("`(cp .*?)`", done.stderr)
            subprocess.run(shlex.split(remedy), check=True)
            stack.run("up")
        check_up(stack, SUBJECTS["dev"])
    finally:
        rest.unlink(missing_ok=True)
        stack.run("down", "--force")
