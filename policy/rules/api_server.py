"""The addresses from which a cluster's API server is reached."""

from __future__ import annotations

from collections.abc import Iterator

from policy import clouds
from policy.declared import Declared
from policy.rule import Finding, Rule, Setting, Settings


def _check(declared: Declared, settings: Settings) -> Iterator[Finding]:
    for cloud in clouds.CLOUDS:
        yield from cloud.api_server(declared, settings["mostAddresses"])


API_SERVER = Rule(
    name="api-server-open",
    refuses="A production cluster whose API server anybody on the internet may try",
    reason="One leaked credential, or one flaw in the API server, is then enough",
    sources=(
        "https://learn.microsoft.com/azure/aks/api-server-authorized-ip-ranges",
        "https://docs.cloud.google.com/kubernetes-engine/docs/concepts/network-isolation",
    ),
    check=_check,
    production=True,
    settings={
        "mostAddresses": Setting(
            {
                "type": "integer",
                "minimum": 0,
                "default": 2**24,
                "description": "The most public addresses that all ranges together may hold: by default as many as one /8.",
            }
        )
    },
)
