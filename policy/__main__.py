"""The pack's program: the engine starts it by its Python host, and it answers for every declared resource until it is ended."""

import os
import sys
from pathlib import Path

# The host runs this folder by its path; its modules are the package `policy`.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from policy.pack import serve

serve(os.environ.get("PULUMI_STACK", ""))
