"""The aliases of azure-native's classes: 110 a resource, of API versions that no state of this program has.

Pulumi's SDK makes a URN of each, one by one, which takes 40 ms a resource, and sends them to an engine of today in another form
(docs/adr/0012). Tests run the program a thousand times: they leave the URNs out, and under mocks these aliases as well.
"""

import re
from typing import Any

import pulumi
import pulumi.resource
import pytest
from pulumi.runtime import resource

_VERSIONED = re.compile(r"azure-native:\w+/v\d{8}\w*:")


def leave_urns_out() -> None:
    """Make no URNs in this process: they are for engines that know no other form, of before 2022."""
    setattr(pulumi.resource, "collapse_alias_to_urn", lambda *_: "")  # noqa: B010


def leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send no aliases of API versions while a test runs."""
    prepare = resource.prepare_aliases

    async def without(res: Any, opts: pulumi.ResourceOptions, supports_alias_specs: bool) -> Any:
        opts = opts._copy()
        aliases = opts.aliases or ()
        opts.aliases = [alias for alias in aliases if not _VERSIONED.match(str(getattr(alias, "type_", "")))]
        return await prepare(res, opts, supports_alias_specs)

    monkeypatch.setattr(pulumi.resource, "collapse_alias_to_urn", lambda *_: "")
    monkeypatch.setattr(resource, "prepare_aliases", without)
