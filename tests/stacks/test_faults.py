"""What goes wrong around an `up`: refusals, lost answers, failed operations, a broken state, a full disk, a second operator.

After each, nothing is lost and nothing is there twice, the message says what to do, and the next `up` completes the stack.
`test_kill.py` has killed commands.
"""

import json
import re
import shlex
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from sandbox.tests.faults import ALWAYS, FAILED, LOST, Fault, Faults
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
        (Fault("managedClusters/ml-dev", FAILED), "completed with terminal provisioning state 'Failed'"),
        (Fault("agentPools/general", 409), "please wait for it to finish before starting a new operation"),
        (Fault("agentPools/general", LOST), "please wait for it to finish"),
        (Fault("agentPools/t4od", FAILED), "completed with terminal provisioning state 'Failed'"),
    ],
    "staging": [
        (Fault("networks/ml-staging", 500), "googleapi: Error 500: Internal error encountered., backendError"),
        (Fault("subnetworks/ml-staging", LOST), "googleapi: Error 409: Already exists"),
        (Fault("clusters/ml-staging", 429), "please try again later"),
        (Fault("clusters/ml-staging", LOST), "googleapi: Error 409: Already exists"),
        (Fault("clusters/ml-staging", FAILED), "Error waiting for creating"),
        (Fault("nodePools/general", 409), "another operation was already in progress"),
        (Fault("nodePools/general", LOST), "googleapi: Error 409: Already exists"),
        (Fault("nodePools/l4od", FAILED), "Error waiting for creating"),
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
        assert len(re.findall(r"\*\*creating failed\*\* .*error|\*\*updating failed\*\*", failed.stdout)) <= 1
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
    stack.run("up")
    for id, answer in ((words.pool, 409), (words.cluster, 500), (words.network, 429)):
        failed = stack.run("down", ok=False, prepare=Faults(Fault(id, answer, deletes=True)))
        assert "Traceback" not in failed.stderr
        assert "its errors are above" in failed.stderr
        assert id in {"/".join(resource["id"].split("/")[-2:]) for resource in stored(stack, words.memory)}
    stack.run("down")
    assert processes(stack) == []
    assert not (stack.home / subject.name).exists()
