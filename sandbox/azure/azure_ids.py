"""Azure Resource Manager ids, and the fixed identities of the emulated tenant.

ARM compares ids without regard to case, so `key` is what to look things up by.
"""

import re
import uuid

from sandbox.cloud.ids import key as key
from sandbox.cloud.ids import last as last
from sandbox.cloud.ids import parent as parent

SUBSCRIPTION = "00000000-0000-4000-8000-00000000a2e5"
TENANT = "00000000-0000-4000-8000-0000000007e4"
CLIENT = "00000000-0000-4000-8000-0000000c11e4"
USER_OBJECT = "00000000-0000-4000-8000-0000000b1ec7"
"""Fake and fixed, so that two runs of the sandbox give the same ids."""

GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_NAMESPACE = uuid.UUID("5b1c1d3e-7a43-4c5e-9a52-7d1f1f2c0a55")
_GROUP = re.compile(r"^/subscriptions/[^/]+/resourcegroups/([^/]+)", re.IGNORECASE)


def guid(*parts: str) -> str:
    """Return a stable GUID for something the cloud would number at random."""
    return str(uuid.uuid5(_NAMESPACE, "\0".join(parts)))


def group_name(id: str) -> str:
    """Return the resource group in an id, spelled as in the id; empty for ids outside any group."""
    match = _GROUP.match(id)
    return match.group(1) if match else ""


def group_id(subscription: str, name: str) -> str:
    return f"/subscriptions/{subscription}/resourceGroups/{name}"


def arm_type(id: str) -> str:
    """Return the type in an id, `Microsoft.Network/virtualNetworks/subnets`; empty for a subscription or a group."""
    provider = id.rstrip("/").rsplit("/providers/", 1)
    if len(provider) == 1:
        return ""
    segments = provider[1].split("/")
    return "/".join([segments[0], *segments[1::2]])
