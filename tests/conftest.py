"""First of all: `sandbox` turns the bytecode cache on where the environment turns it off (see its docstring)."""

from __future__ import annotations

import os
import re
import signal
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

import sandbox as sandbox
from tests import reaper, tally
from tests.subjects import SUBJECTS, Subject

TOGETHER = ("tests/admission/", "tests/apiserver/", "tests/standing/")
"""Folders whose files share a control plane or a stack that is up, one for each subject."""


# A wall-clock bound for an example says how busy the machine is.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--stack", choices=SUBJECTS, help="run the tests that stacks share on this one alone")


def pytest_configure(config: pytest.Config) -> None:
    # Tests have sandboxes of their own, wherever the user keeps his.
    os.environ.pop("SANDBOX_HOME", None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # Of a shell's background jobs, and of whatever tests start: those that are interrupted would go on.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Of this process alone: what a worker of pytest-xdist has started ends with that worker.
    os.environ[reaper.VARIABLE] = uuid.uuid4().hex


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One worker a core, of which each may have some control planes of half a gigabyte."""
    return min(4, max(2, os.cpu_count() or 2))


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Of a run that is killed too."""
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


def _order(item: pytest.Item) -> tuple[bool, bool]:
    """What takes long first: the rest fills the gaps at the end."""
    return item.get_closest_marker("engine") is None, item.get_closest_marker("restless") is not None


class Groups(LoadScopeScheduling):
    """Gives a worker the tests of a file, or of a folder of `TOGETHER`, one after the other, and the two stacks to two workers.

    pytest-xdist 3.8 does not see its own marks of groups under pytest 9.2, which no longer reads `Item._nodeid`.
    """

    def _split_scope(self, nodeid: str) -> str:
        subject = next((name for name in SUBJECTS if re.search(rf"[\[-]{name}[\]-]", nodeid)), "")
        folder = next((folder for folder in TOGETHER if nodeid.startswith(folder)), nodeid.partition("::")[0])
        return f"{folder} {subject}"


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Groups:
    # In the order of collection, see `_order`.
    config.option.loadscopereorder = False
    return Groups(config, log)


@pytest.fixture(scope="session", params=SUBJECTS.values(), ids=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Subject:
    """The stack under test."""
    found: Subject = request.param
    return found


def _subject(item: pytest.Item) -> str | None:
    """The name of the stack that a shared test runs on; None for a test that is not shared."""
    found = getattr(item, "callspec", None)
    subject = found.params.get("subject") if found else None
    return subject.name if subject else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["tally"] = dict(tally.DONE)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object, error: object) -> None:
    """A worker of pytest-xdist has ended."""
    tally.DONE.update(getattr(node, "workeroutput", {}).get("tally", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if tally.DONE:
        terminalreporter.section("what was done")
        for line in tally.lines():
            terminalreporter.write_line(line)
