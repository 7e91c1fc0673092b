"""The report of a drill: verdicts, figures and a timeline, as text, JSON and a page with pictures.

`build` makes it from a record, `text` shows it, `write` writes its files, and `compare_reports`
compares two.
"""

from drill.judge.losses import Loss
from drill.report.compare import compare_reports
from drill.report.figures import build
from drill.report.files import read_report, to_json, write
from drill.report.model import Comparison, Report
from drill.report.terminal import text

__all__ = [
    "Comparison",
    "Loss",
    "Report",
    "build",
    "compare_reports",
    "read_report",
    "text",
    "to_json",
    "write",
]
