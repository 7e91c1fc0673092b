"""All that each checked-in stack declares: a change here is the change that a reviewer of the stack would see.

`pytest tests/components --snapshot-update` writes the files anew.
"""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from tests.components.program import PROJECT, declare, stack_config

pytestmark = pytest.mark.program


@pytest.mark.parametrize("path", sorted(PROJECT.glob("Pulumi.*.yaml")), ids=lambda path: path.stem)
def test_a_stack_declares_what_it_declared(path: Path, snapshot: SnapshotAssertion) -> None:
    declared = declare(stack_config(path))
    resources = {f"{resource.type} {resource.name}": resource.inputs for resource in declared.resources}
    assert len(resources) == len(declared.resources)
    assert resources == snapshot(extension_class=JSONSnapshotExtension)
