"""The report of a drill: verdicts, figures and a timeline, for a terminal, as JSON, and as a page with pictures.

`build` makes it of a record, `text` shows it, `write` writes its files, `compared` puts two side by side.
"""

from sandbox.drill.losses import Loss
from sandbox.drill.report.compare import compared
from sandbox.drill.report.contents import build
from sandbox.drill.report.files import read, to_json, write
from sandbox.drill.report.model import Comparison, Report
from sandbox.drill.report.terminal import text

__all__ = ["Comparison", "Loss", "Report", "build", "compared", "read", "text", "to_json", "write"]
