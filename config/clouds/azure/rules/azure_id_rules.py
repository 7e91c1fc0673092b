"""Checks of Azure resource ids: their type, and their subscription."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base.problems import Problem
from config.clouds.azure.azure_forms import GUID
from config.clouds.azure.azure_settings import Azure
from config.clouds.traits import Cloud
from config.rules.draft import Draft
from config.rules.text_rules import texts


def check(path: str, id: str, type: str, what: str) -> Iterator[Problem]:
    """A problem when an id is not of a type such as Microsoft.Network/privateDnsZones. Azure compares ids without case."""
    # namespace/type/name[/type/name]...
    namespace, *rest = re.split("/providers/", id, flags=re.IGNORECASE)[-1].split("/")
    actual = "/".join([namespace, *rest[::2]])
    if actual.lower() != type.lower():
        yield Problem(
            path,
            f"is the id of a {actual}, not of {what}",
            f"/subscriptions/.../resourceGroups/.../providers/{type}/NAME",
        )


def subscription(path: str, text: str) -> Iterator[Problem]:
    """A problem when an id has the name of a subscription in place of the subscription's id."""
    written = re.match(r"/subscriptions/([^/]+)/", text, re.IGNORECASE)
    # MicrosoftDocs/azure-docs issue 77959; what is left of a template `rules.texts` has.
    if written and re.fullmatch(r"[-\w ]+", written[1]) and not re.search(GUID, written[1]):
        yield Problem(
            path,
            f"has the subscription {written[1]!r}, which is not an id",
            "write the subscription's id, a GUID; not its name",
        )


def _subscriptions(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, _, text in texts([("cloud", azure)]):
        yield from subscription(path, text)


NEW_CLUSTER_RULES = (_subscriptions,)
