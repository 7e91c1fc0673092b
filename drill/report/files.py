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
"""Bytes of a report file that is read. The report of a week has about 100,000."""


def write(report: Report | Comparison, directory: Path) -> list[Path]:
    """Write the files of a report or a comparison into a directory, and return their paths.

    All are written beside their places first and then moved: raises OSError, of a full disk too, and leaves the earlier files.
    """
    directory.mkdir(parents=True, exist_ok=True)
    return _replace(
        directory,
        _comparison_files(report) if isinstance(report, Comparison) else _report_files(report),
    )


def _report_files(report: Report) -> dict[str, bytes]:
    drawn = charts.spec(
        report.timeline, light, title=f"Drill {report.scenario}, stack {report.stack}"
    )
    return {
        "report.html": page(report).encode(),
        "timeline.svg": charts.svg(drawn).encode(),
        "timeline.png": charts.png(drawn),
        "report.json": to_json(report).encode(errors="backslashreplace"),
    }


def _comparison_files(comparison: Comparison) -> dict[str, bytes]:
    files = {
        "report.html": comparison_page(comparison).encode(),
        "report.json": to_json(comparison).encode(errors="backslashreplace"),
    }
    ends = charts.axes(comparison.before.timeline, comparison.after.timeline)
    for name, report in (("before", comparison.before), ("after", comparison.after)):
        drawn = charts.spec(
            report.timeline,
            light,
            ends=ends,
            title=f"Drill {report.scenario}, stack {report.stack}, {name}",
        )
        files |= {
            f"timeline-{name}.svg": charts.svg(drawn).encode(),
            f"timeline-{name}.png": charts.png(drawn),
        }
    return files


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
    """The report as JSON: the keys of the dataclasses in model.py."""
    return dumps(asdict(report), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def read(file: Path) -> Report:
    """The report of a report.json. Raises SandboxError when the file is none, or of another format."""
    try:
        with file.open("rb") as opened:
            content = opened.read(_LARGEST + 1)
    except OSError as error:
        raise SandboxError(f"{file} cannot be read: {error.strerror}") from None
    if len(content) > _LARGEST:
        raise SandboxError(
            f"{file} is larger than a report of a drill can be: more than {_LARGEST // 1024**2} MiB"
        )
    try:
        report = TypeAdapter(Report).validate_json(content)
    except ValidationError as error:
        raise SandboxError(
            f"{file} is no report of a drill: {error.error_count()} problems; name the report.json of a drill"
        ) from None
    if report.format != FORMAT:
        raise SandboxError(
            f"{file} is a report of format {report.format}; this version reads format {FORMAT}: run the drill again"
        )
    return report
