"""The commands of docs/kubeflow.md end, whatever the cluster answers."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.overlay.tree import PROJECT

pytestmark = pytest.mark.process

BLOCKS = re.findall(r"```sh\n(.*?)```", (PROJECT / "docs" / "kubeflow.md").read_text(), re.DOTALL)
(PASSWORD,) = (block for block in BLOCKS if "htpasswd" in block)
(APPLY,) = (block for block in BLOCKS if "kubectl apply --server-side" in block and "kubeflow.yaml" in block)


def run(block: str, folder: Path, programs: dict[str, str]) -> str:
    """Return what a block prints, with these programs, each a line of shell."""
    for name, body in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    path = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", block], env=path, capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(("refusals", "end"), [(2, ("", 3)), (99, ("refused", 15))], ids=["heals", "never"])
def test_applying_ends_and_says_what_is_refused(refusals: int, end: tuple[str, int], tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    programs = {
        # It refuses so many times.
        "kubectl": f'echo taken; echo x >>"{calls}"; [ $(wc -l <"{calls}") -gt {refusals} ] || {{ echo refused >&2; exit 1; }}',
        "sleep": "exit 0",
    }
    assert (run(APPLY, tmp_path, programs), len(calls.read_text().splitlines())) == end


def test_the_hash_of_the_password_reaches_the_secret_as_it_is(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    programs = {"htpasswd": "printf 'user:$2y$12$a/b.c\\n\\n'", "kubectl": f'echo "$@" >>"{calls}"'}
    run(PASSWORD, tmp_path, programs)
    (made,) = (line for line in calls.read_text().splitlines() if "generic dex-passwords" in line)
    assert "-n auth --from-literal=DEX_USER_PASSWORD=$2y$12$a/b.c --dry-run=client" in made
