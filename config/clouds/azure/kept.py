"""The resource group that outlives a stack: a deleted group takes all with it, and the cluster's group goes with the stack."""

from __future__ import annotations

MOST = 90
"""Characters of a resource group's name (page resource-name-rules)."""


def kept_group(group: str, account: str) -> str:
    """The name of the group of a storage account, beside the cluster's `group`.

    It has the account's name: the group of an account that the stack file no longer names is still there.
    """
    return f"{group}-checkpoints-{account}"
