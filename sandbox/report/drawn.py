"""`sandbox report FILE`: a report somebody else wrote, read without trust and drawn."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from sandbox.base.errors import SandboxError
from sandbox.report.markdown import LONGEST, render
from sandbox.report.model import FORMAT, Report

_LARGEST = 16 * 1024 * 1024
"""Bytes of a file. A report of 60 changed resources with all their values has about 200,000."""


def drawn(file: Path, longest: int | None = None, pointer: str = "") -> str:
    """The Markdown page. Raises SandboxError when the file is no report; of what is in it then, nothing is repeated."""
    with file.open("rb") as opened:
        content = opened.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise SandboxError(f"{file} is larger than a report can be: more than {_LARGEST // 1024**2} MiB")
    try:
        report = Report.model_validate_json(content)
    except ValidationError as error:
        # The kinds of errors are pydantic's words, places and values may be the file's.
        found = error.errors(include_url=False, include_context=False, include_input=False)
        if any(problem["loc"] == ("format",) for problem in found):
            raise SandboxError(f"{file} is a report of another format; this version reads format {FORMAT}") from None
        kinds = ", ".join(sorted({problem["type"] for problem in found}))
        raise SandboxError(f"{file} is no report of `preview --base`: {len(found)} problems ({kinds})") from None
    return render(report, longest=longest or LONGEST, pointer=pointer)
