"""Storage accounts and their containers."""

from __future__ import annotations

from collections.abc import Iterator

from policy.declared import UNKNOWN, Declared
from policy.rule import Finding

_ACCOUNT = "azure-native:storage:StorageAccount"
_CONTAINER = "azure-native:storage:BlobContainer"


def is_open(declared: Declared) -> Iterator[Finding]:
    """Accounts that strangers or holders of a key may read; a key needs no role, and is there unless it is switched off."""
    if declared.type == _ACCOUNT:
        public, keys = declared.get("allowBlobPublicAccess"), declared.get("allowSharedKeyAccess")
        if public is not UNKNOWN and public:
            yield Finding(
                "allowBlobPublicAccess",
                "a container may be opened to the internet",
                "set it to false",
            )
        if keys not in (False, UNKNOWN):
            yield Finding(
                "allowSharedKeyAccess",
                "a key reads everything, whatever roles say",
                "set it to false",
            )
    if declared.type == _CONTAINER and declared.get("publicAccess") not in (None, "None", UNKNOWN):
        yield Finding(
            "publicAccess", "everybody on the internet reads it", "set it to None, and give roles"
        )
