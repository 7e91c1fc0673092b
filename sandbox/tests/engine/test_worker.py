"""Output of an engine's process: one JSON object, also when the program prints."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

NOISY = """
import os, sys
from sandbox.engine import worker

def run(*arguments):
    print("from Python")
    os.system("echo from a program that it runs")
    return worker.Outcome(errors=["wrong"])

worker._run = run
sys.argv[1:] = ["up", "dev", "."]
worker.main()
"""


def test_output_of_the_program_is_no_part_of_the_object(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", NOISY], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["errors"] == ["wrong"]
    assert {"from Python", "from a program that it runs"} <= set(done.stderr.splitlines())
