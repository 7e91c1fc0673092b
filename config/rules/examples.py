"""Rules of values that pages and examples show: ids, keys, addresses and hosts that nobody has.

In a stack that reaches a real cloud each is an error; a stack that accepts examples is warned
(`config.stack_file.loader.read_stack`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Network

from config.base.problems import Problem
from config.clouds.traits import Cloud
from config.model.wording import OF_AN_EXAMPLE
from config.rules.draft import Draft
from config.rules.text_rules import parts, texts

_GUID = re.compile(r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_SHOWN_GUIDS = frozenset({"2b0f5c1e-8f0e-4d3a-9c57-1f6f1f0a7c11"})
_HEX = re.compile(r"\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b")
_KEYS = ("AAAAIAAAAAAAAAAAAAAAAAAAAAAA", "AAAAILwf25YCRkhL4liB4388rDxhWoGhRZDbHy8V/RKKvQ0H")
"""Parts of the public keys of stack-file.md and of examples/stacks/aks-engine.yaml."""

_HOST = re.compile(r"(?:^|[/@.])example\.(?:com|net|org|azurecr\.io|vault\.azure\.net)(?=$|[/:])")
"""RFC 2606, and the names that our pages show of Azure's services."""

_PROJECT = re.compile(r"(?:^|@|projects/)(?:example-[-a-z0-9]+|my-project)(?:$|\.iam\.|/)")

RANGES = tuple(
    map(IPv4Network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "198.18.0.0/15"))
)
"""Addresses of documentation (RFC 5737) and of measurements (RFC 2544), which no caller has."""


def guid(text: str) -> str | None:
    """Return a made-up GUID in a text: zeros in front, or two or three digits repeated."""
    for found in _GUID.findall(text):
        lower = found.lower()
        if (
            lower.startswith("00000000-0000-")
            or len({*lower} - {"-"}) <= 3
            or lower in _SHOWN_GUIDS
        ):
            return str(found)
    return None


def digest(text: str) -> str | None:
    """Return hexadecimal digits in a text that repeat themselves, as no digest's do."""
    return next(
        (found for found in _HEX.findall(text) if found == (found[:16] * 4)[: len(found)]), None
    )


def public_key(text: str) -> str | None:
    """Return a public key whose private one everybody or nobody has."""
    return text if any(key in text for key in _KEYS) else None


def host(text: str) -> str | None:
    """Return a host of examples in a text."""
    found = _HOST.search(text)
    return found[0].lstrip("/@.") if found else None


def project(text: str) -> str | None:
    """Return a project of Google's that our examples have."""
    return text if _PROJECT.search(text) else None


def caller(text: str) -> str | None:
    """Return a range of addresses that no caller has."""
    try:
        addresses = IPv4Network(text)
    except ValueError:
        return None
    return text if any(addresses.subnet_of(shown) for shown in RANGES) else None


_Find = Callable[[str], str | None]

_EVERYWHERE: tuple[tuple[_Find, str], ...] = (
    (guid, "the id of your own subscription, tenant or group"),
    (digest, "the digest of your own image, or the version of your own key"),
)
_HOSTS = (host, "the name of your own host")
_PROJECTS = (project, "the id of your own project, or what is in it")
_OF_FIELDS: Mapping[str, tuple[_Find, str]] = {
    "public_key": (public_key, "your own public key, such as ~/.ssh/id_ed25519.pub"),
    "authorized_ranges": (caller, "the public addresses of your callers"),
    **dict.fromkeys(("server", "value", "image", "key_id", "security_group"), _HOSTS),
    **dict.fromkeys(("project", "service_account", "secrets_key", "boot_disk_key"), _PROJECTS),
}
"""What to look for in single fields: example.com is right in a label, not as a registry."""


def _examples(draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    others = [("workloads", draft.workloads), *draft.written_overrides()]
    for path, name, text in texts([*parts(draft), *others]):
        for find, remedy in (*_EVERYWHERE, *filter(None, [_OF_FIELDS.get(name)])):
            found = find(text) if draft.accepts_examples is not None or find is caller else None
            if found:
                yield Problem(
                    path,
                    f"has {found} in it, {OF_AN_EXAMPLE}",
                    f"write {remedy}",
                    warning=draft.accepts_examples is not False,
                )
                break


RULES = (_examples,)
