"""The pack's program: the engine starts it and ends it."""

import os
import sys
from pathlib import Path

# The host runs this folder by its path; its modules belong to the package `policy`.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from policy.pack import serve

serve(os.environ.get("PULUMI_STACK", ""))
