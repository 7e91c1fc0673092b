"""What the engine starts, by way of its Python host: answers for every resource that is declared until it is ended."""

import os
import sys
from pathlib import Path

# The host runs this folder by its path; its modules are the package `policy`.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from policy.pack import serve

serve(os.environ.get("PULUMI_STACK", ""))
