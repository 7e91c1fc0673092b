"""The files of a report: report.html, timeline.svg, timeline.png, report.json."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from json import dumps
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from drill.report import charts
from drill.report.colours import light
from drill.report.model import FORMAT, Comparison, Report
from drill.report.page import comparison_page, page
from sandbox.base.errors import SandboxError

_LARGEST = 16 * 1024**2
"""The most bytes of a report file. The report of a week has about 100,000."""


def write(report: Report | Comparison, directory: Path) -> list[Path]:
    """Write the files of a report or a comparison into a directory, and return their paths.

    Files are written beside their places and then moved. Raises OSError, also for a full disk, and
    then leaves the earlier files.
    """
    directory.mkdir(parents=True, exist_ok=True)
    return _replace(directory, _files(report))


def _files(report: Report | Comparison) -> dict[str, bytes]:
    data = to_json(report).encode(errors="backslashreplace")
    if isinstance(report, Report):
        html, drawn = page(report), _timeline("timeline", report)
    else:
        before, after = report.before, report.after
        html, ends = comparison_page(report), charts.axes(before.timeline, after.timeline)
        drawn = _timeline("timeline-before", before, ", before", ends)
        drawn |= _timeline("timeline-after", after, ", after", ends)
    return {"report.html": html.encode(), "report.json": data, **drawn}


def _timeline(
    name: str, report: Report, side: str = "", ends: charts.Axes | None = None
) -> dict[str, bytes]:
    title = f"Drill {report.scenario}, stack {report.stack}{side}"
    drawn = charts.spec(report.timeline, light, ends=ends, title=title)
    return {f"{name}.svg": charts.svg(drawn).encode(), f"{name}.png": charts.png(drawn)}


def _replace(directory: Path, files: Mapping[str, bytes]) -> list[Path]:
    written: dict[Path, Path] = {}
    try:
        for name, content in files.items():
            handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=directory)
            written[Path(temporary)] = directory / name
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
        for source, target in written.items():
            source.replace(target)
    finally:
        for source in written:
            source.unlink(missing_ok=True)
    return list(written.values())


def to_json(report: Report | Comparison) -> str:
    """Write the report as JSON, with the keys of the dataclasses in model.py."""
    return dumps(asdict(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read_report(file: Path) -> Report:
    """Read a report.json. Raises SandboxError for another file, or another format."""
    try:
        with file.open("rb") as opened:
            content = opened.read(_LARGEST + 1)
    except OSError as error:
        raise SandboxError(f"{file} cannot be read: {error.strerror}") from None
    if len(content) > _LARGEST:
        mebibytes = _LARGEST // 1024**2
        raise SandboxError(
            f"{file} is larger than a report of a drill can be: more than {mebibytes} MiB"
        )
    try:
        report = TypeAdapter(Report).validate_json(content)
    except ValidationError as error:
        raise SandboxError(
            f"{file} is no report of a drill: {error.error_count()} problems;"
            " name the report.json of a drill"
        ) from None
    if report.format != FORMAT:
        raise SandboxError(
            f"{file} is a report of format {report.format};"
            f" this version reads format {FORMAT}: run the drill again"
        )
    return report
