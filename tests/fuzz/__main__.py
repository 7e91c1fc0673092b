"""`python -m tests.fuzz NUMBER [SEED]`: shows a mutated stack file and what the loader makes of it."""

import sys
import tempfile
from pathlib import Path

from config.base.problems import report
from config.stack_file import loader
from tests.fuzz import files, verdict

file = files.mutated(*map(int, sys.argv[1:3]))
print(file)
with tempfile.TemporaryDirectory() as folder:
    raw = files.delivered(file, Path(folder))
if raw is None:
    sys.exit("it is refused before the program gets it")
spec, problems = loader.read_stack(raw)
print("accepted" if spec else report(problems))
print(*verdict.faults(spec, problems, raw), sep="\n")
