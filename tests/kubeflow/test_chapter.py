"""The commands of docs/kubeflow.md end, whatever the cluster answers."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.kubeflow.tree import PROJECT

pytestmark = pytest.mark.process

BLOCKS = re.findall(r"```sh\n(.*?)```", (PROJECT / "docs" / "kubeflow.md").read_text(), re.DOTALL)
(APPLY,) = (block for block in BLOCKS if "kubectl apply --server-side" in block and "kubeflow.yaml" in block)


def said(folder: Path, refusals: int) -> tuple[str, int]:
    """What the block prints and how often it applies, with a kubectl that refuses so many times."""
    calls = folder / "calls"
    programs = {
        "kubectl": f'echo taken; echo x >>"{calls}"; [ $(wc -l <"{calls}") -gt {refusals} ] || {{ echo refused >&2; exit 1; }}',
        "sleep": "exit 0",
    }
    for name, body in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    path = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", APPLY], env=path, capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip(), len(calls.read_text().splitlines())


@pytest.mark.parametrize(("refusals", "end"), [(2, ("", 3)), (99, ("refused", 15))], ids=["heals", "never"])
def test_applying_ends_and_says_what_is_refused(refusals: int, end: tuple[str, int], tmp_path: Path) -> None:
    assert said(tmp_path, refusals) == end
