"""Compiled pipelines and sent objects of the examples, recorded: the tests that need no kfp read them.

python -m tests.examples.record    # makes them anew with kfp and the SDKs; a test of `make test-slow` compares
"""

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.examples.contracts import written
from tests.examples.environment import EXAMPLES, inside

RECORD = Path(__file__).with_name("record.json")


def documents(name: str) -> list[dict[str, Any]]:
    """Return the documents of a YAML example, by its path below examples/."""
    return list(yaml.safe_load_all((EXAMPLES / name).read_text()))


def make(stack: str = "dev") -> dict[str, Any]:
    """Return what kfp compiles and what the SDKs send, with a stack's contract."""
    with tempfile.TemporaryDirectory() as folder:
        contract = written(Path(folder), stack)
        runtime = next(d for d in documents("jobs/trainjob.yaml") if d["kind"] == "ClusterTrainingRuntime")
        return {"pipelines": inside(contract, "facts"), "sdk": inside(contract, "sdk", json.dumps(runtime))}


@cache
def recorded() -> dict[str, Any]:
    """Return the record; made with the contract of the stack dev."""
    content: dict[str, Any] = json.loads(RECORD.read_text())
    return content


if __name__ == "__main__":
    RECORD.write_text(json.dumps(make(), indent=1, sort_keys=True) + "\n")
