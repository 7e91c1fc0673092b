"""Runs the unmodified program with no cloud account: a real engine and Kubernetes over emulated clouds.

Knows the program by running it; imports nothing of it.
"""

import os
import sys
from pathlib import Path

if sys.dont_write_bytecode:
    # Whoever asks Python not to write bytecode wants none beside the sources. Without any, importing the cloud SDKs takes
    # longer than everything else a preview does (2.2 s against 0.7 s), so it goes to the user's cache.
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    sys.pycache_prefix = str(cache / "kubeflow-spot" / "bytecode")
    sys.dont_write_bytecode = False
