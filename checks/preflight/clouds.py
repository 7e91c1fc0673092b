"""The clouds that can be asked. A further one is a folder here and a line below."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from checks.findings import Finding, Unasked
from checks.preflight.answers import Answers
from checks.preflight.demand import Demand

_CLOUDS = {"azure": "checks.preflight.azure", "gcp": "checks.preflight.gcp"}


def read_account(demand: Demand, account: str | None) -> Answers:
    """Ask the stack's cloud. Raises `Unasked`."""
    ask: Callable[[Demand, str | None], Answers] = _module(demand, "reading").read_account
    try:
        return ask(demand, account)
    except ModuleNotFoundError as missing:
        raise Unasked(
            f"{missing.name} is not installed: run `make preflight`, or install the group"
            " `preflight`"
        ) from None


def findings(answers: Answers) -> list[Finding]:
    """Return the findings of all checks; a pure function of the answers."""
    return [
        found
        for check in _module(answers.demand, "checks").CHECKS
        for found in check.findings(answers)
    ]


def _module(demand: Demand, name: str):  # type: ignore[no-untyped-def]
    package = _CLOUDS.get(demand.cloud.provider)
    if package is None:
        raise Unasked(
            "a cluster that is known by its kubeconfig alone has no cloud to ask: use `ready`"
        )
    return import_module(f"{package}.{demand.cloud.provider}_{name}")
