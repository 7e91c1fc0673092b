"""First of all: `sandbox` turns the bytecode cache on where the environment turns it off (see its docstring)."""

import pytest

import sandbox as sandbox
from tests.subjects import SUBJECTS


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--stack", choices=SUBJECTS, help="run the tests that stacks share on this one alone")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = config.getoption("--stack")
    if wanted:
        others = [item for item in items if _subject(item) not in (None, wanted)]
        items[:] = [item for item in items if item not in others]
        config.hook.pytest_deselected(items=others)


def _subject(item: pytest.Item) -> str | None:
    """The name of the stack that a shared test runs on; None for a test that is not shared."""
    found = getattr(item, "callspec", None)
    subject = found.params.get("subject") if found else None
    return subject.name if subject else None
