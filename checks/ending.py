"""Ending: how both commands end where they can say nothing of their subject."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import click

from checks.findings import Exit, Unasked, line

_HERE = Path(__file__).resolve().parents[1]


@contextmanager
def one_sentence() -> Iterator[None]:
    """End the command with one sentence and status 2 if nothing can be asked, or after an
    unexpected error.

    Python's own exit status for an error is 1, which means here that the subject is wrong.
    """
    try:
        yield
    except Unasked as why:
        sentence = str(why)
    except KeyboardInterrupt:
        sentence = "interrupted, so nothing is concluded"
    except Exception as error:
        text = line(error)
        sentence = (
            f"an error of this command in {_place(error.__traceback__)}, so nothing is concluded:"
            f" {type(error).__name__}{text and f': {text}'}"
        )
    else:
        return
    click.echo(f"error: {sentence}", err=True)
    sys.exit(Exit.UNASKED)


def _place(traceback: TracebackType | None) -> str:
    """Return file and line of the last frame in this program."""
    place = "an unknown place"
    while traceback:
        path = Path(traceback.tb_frame.f_code.co_filename)
        if path.is_relative_to(_HERE) and "site-packages" not in path.parts:
            place = f"{path.relative_to(_HERE)}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place
