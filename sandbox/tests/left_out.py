"""What Pulumi's SDK does for each resource and tests leave out, because they run the program a thousand times.

The aliases of azure-native's classes: 110 a resource, of API versions that no state of this program has. The SDK makes a URN of
each, one by one, which takes 40 ms a resource, and sends them to an engine of today in another form (docs/adr/0012). And the
place in the program, which it reads from the whole stack of calls, and the engine notes in the state.
"""

import re
from typing import Any

import pulumi
import pulumi.resource
import pytest
from pulumi.runtime import resource
from pulumi.runtime.proto import source_pb2

_VERSIONED = re.compile(r"azure-native:\w+/v\d{8}\w*:")


_LEFT_OUT = (
    # For engines of before 2022.
    (pulumi.resource, "collapse_alias_to_urn", lambda *_: ""),
    (resource, "_get_stack_trace", source_pb2.StackTrace),
)


def leave_out_for_good() -> None:
    """Make no URNs and send no places in this process."""
    for module, name, instead in _LEFT_OUT:
        setattr(module, name, instead)


def leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make no URNs, and send no places and no aliases of API versions, while a test runs."""
    prepare = resource.prepare_aliases

    async def without(res: Any, opts: pulumi.ResourceOptions, supports_alias_specs: bool) -> Any:
        opts = opts._copy()
        aliases = opts.aliases or ()
        opts.aliases = [alias for alias in aliases if not _VERSIONED.match(str(getattr(alias, "type_", "")))]
        return await prepare(res, opts, supports_alias_specs)

    for module, name, instead in _LEFT_OUT:
        monkeypatch.setattr(module, name, instead)
    monkeypatch.setattr(resource, "prepare_aliases", without)
