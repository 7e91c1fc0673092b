"""The report of a drill: verdicts, figures and a timeline, for a terminal, as JSON, and as a page with pictures.

`build` makes it of a record, `text` shows it, `write` writes its files, `compared` puts two side by side.
"""

from drill.judge.losses import Loss
from drill.report.compare import compared
from drill.report.contents import build
from drill.report.files import read, to_json, write
from drill.report.model import Comparison, Report
from drill.report.terminal import text

__all__ = ["Comparison", "Loss", "Report", "build", "compared", "read", "text", "to_json", "write"]
