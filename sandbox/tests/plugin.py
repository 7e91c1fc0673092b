"""Set-up of all tests, the sandbox's and the project's (`-p sandbox.tests.plugin`).

`sandbox` is imported first: it turns the bytecode cache on where the environment turns it off.
"""

import os
import re
import signal
import uuid
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

import sandbox as sandbox
from sandbox.base.tokens import without_tokens
from sandbox.tests import reaper, tally
from sandbox.tests.subjects import SUBJECTS, Subject

TOGETHER = ("tests/admission/", "tests/apiserver/", "tests/standing/")
"""Folders whose files share a control plane or a stack that is up, one for each subject."""

APART = ("tests/standing/test_tasks.py",)
"""Files that take as long as all others of their folder, and have a stack of their own for it."""


MARKERS = (
    "program: runs the program under Pulumi's mocks",
    "process: starts other processes, but neither the engine nor a control plane",
    "engine: runs the real engine and a real control plane",
    "slow: only in `make test-slow`",
    "tools: needs a program that only tests use; only in `make test-tools`",
    "repeats: shows on the second cloud what it shows on the first; the second in `make test-slow` only",
    # Custom kinds are one: for half a minute after them the garbage collector deletes pods of owners that never were.
    "restless: leaves its stack in a state that takes long to undo, so it goes last",
)

# A time limit for an example would only measure how busy the machine is.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--stack", choices=SUBJECTS, help="run the tests that stacks share on this one alone")


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    # Tests have sandboxes of their own, wherever the user's sandbox is.
    os.environ.pop("SANDBOX_HOME", None)
    # Memory for time: a third of an API server's work was the collection of garbage.
    os.environ.setdefault("GOGC", "400")
    # They run packages and programs of all sorts, none of which has a use for the user's accounts.
    for name in os.environ.keys() - without_tokens(os.environ, but="UV_INDEX").keys():
        del os.environ[name]
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # True for background jobs of a shell and for everything that tests start; interrupted processes would go on.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # For this process only: a worker's processes end with that worker of pytest-xdist.
    os.environ[reaper.VARIABLE] = uuid.uuid4().hex


# pytest-xdist's own answer would come first otherwise.
@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return two workers a core: a quarter of the time they wait, for controllers and for machines that boot.

    Each may run a few control planes of half a gigabyte.
    """
    memory = psutil.virtual_memory().total >> 30
    return max(2, min((os.cpu_count() or 2) * 2, memory // 4, 6))


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """End all processes of the run, even when it is killed."""
    watch = reaper.start(os.environ[reaper.VARIABLE], tmp_path_factory.getbasetemp())
    yield
    assert watch.stdin
    watch.stdin.close()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = config.getoption("--stack")
    if wanted:
        others = [item for item in items if _subject(item) not in (None, wanted)]
        items[:] = [item for item in items if item not in others]
        config.hook.pytest_deselected(items=others)
    for item in items:
        if item.get_closest_marker("repeats") and _subject(item) not in (None, wanted or next(iter(SUBJECTS))):
            item.add_marker(pytest.mark.slow)
    items.sort(key=_order)


def _order(item: pytest.Item) -> tuple[bool, bool, bool]:
    """Put long tests first, the longest groups before all, so that short ones fill the gaps at the end."""
    return (
        item.get_closest_marker("engine") is None,
        not item.nodeid.startswith("tests/standing/"),
        item.get_closest_marker("restless") is not None,
    )


class Groups(LoadScopeScheduling):
    """Distribution to workers: the tests of a file, or of a folder of `TOGETHER`, stay together, by stack.

    pytest-xdist 3.8 does not see its own group marks under pytest 9.2, which no longer reads `Item._nodeid`.
    """

    def _split_scope(self, nodeid: str) -> str:
        subject = next((name for name in SUBJECTS if re.search(rf"[\[-]{name}[\]-]", nodeid)), "")
        file = nodeid.partition("::")[0]
        folder = next((folder for folder in TOGETHER if file.startswith(folder) and file not in APART), file)
        return f"{folder} {subject}"


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Groups:
    # The order of collection is kept, see `_order`.
    config.option.loadscopereorder = False
    return Groups(config, log)


@pytest.fixture(scope="session", params=SUBJECTS.values(), ids=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Subject:
    """Return the stack under test."""
    param: Subject = request.param
    return param


def _subject(item: pytest.Item) -> str | None:
    """Return the name of the stack that a shared test runs on; None for a test that is not shared."""
    call = getattr(item, "callspec", None)
    subject = call.params.get("subject") if call else None
    return subject.name if subject else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["tally"] = dict(tally.DONE)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object, error: object) -> None:
    """Add the tally of a worker that has ended."""
    tally.DONE.update(getattr(node, "workeroutput", {}).get("tally", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if tally.DONE:
        terminalreporter.section("what was done")
        for line in tally.lines():
            terminalreporter.write_line(line)
