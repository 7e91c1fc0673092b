"""No deadline for hypothesis: on a busy machine it fails tests by the clock. No long warnings."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

from config.base.problems import Problem
from config.stack_file import loader

settings.register_profile("timeless", deadline=None)
settings.load_profile("timeless")

MOST_WORDS = 40
"""Of a warning, with its remedy: nobody reads more."""


@pytest.fixture(autouse=True)
def short_warnings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail a test whose stack file draws a warning that is too long."""
    shown, long = loader.shown, []

    def counted(problems: Any) -> list[Problem]:
        found = shown(problems)
        long.extend(p for p in found if p.warning and len(f"{p.what} {p.remedy}".split()) > MOST_WORDS)
        return found

    monkeypatch.setattr(loader, "shown", counted)
    yield
    assert not long, "\n".join(map(str, long))
