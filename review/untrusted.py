"""`sandbox report FILE`: an untrusted report file, checked and rendered."""

from pathlib import Path

from pydantic import ValidationError

from review import markdown
from review.model import FORMAT, Report
from sandbox.base.errors import SandboxError

_LARGEST = 16 * 1024 * 1024
"""Bytes of a file. A report of 60 changed resources with all their values has about 200,000."""


def render(file: Path, longest: int | None = None, pointer: str = "") -> str:
    """Return the Markdown page.

    Raises SandboxError when the file is no report; the message repeats nothing of the file.
    """
    with file.open("rb") as opened:
        content = opened.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise SandboxError(
            f"{file} is larger than a report can be: more than {_LARGEST // 1024**2} MiB"
        )
    try:
        report = Report.model_validate_json(content)
    except ValidationError as error:
        # The types of errors are pydantic's words; locations and values may be the file's.
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        if any(problem["loc"] == ("format",) for problem in problems):
            raise SandboxError(
                f"{file} is a report of another format; this version reads format {FORMAT}"
            ) from None
        kinds = ", ".join(sorted({problem["type"] for problem in problems}))
        raise SandboxError(
            f"{file} is no report of `preview --base`: {len(problems)} problems ({kinds})"
        ) from None
    return markdown.render(report, longest=longest or markdown.LONGEST, pointer=pointer)
