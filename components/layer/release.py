"""The release that a cluster was declared with, read from this stack's own contract in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from components import refusal
from config import releases
from config.base.problems import Problem


def check_release(wanted: str, config_map: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return warnings about the way from the cluster's release to the wanted one.

    `config_map`: this stack's contract in the cluster, None if it is missing. Raise
    `pulumi.RunError` if a newer program declared the cluster: this program does not know which
    objects it would remove.
    """
    current = declared(config_map)
    if current is None or current == wanted:
        return ()
    # An older release that this program no longer has is fine.
    if not releases.known(current) and not releases.newer(releases.names()[-1], current):
        what = (
            f"the cluster was declared with {current}, which this program does not know (its "
            f"newest is {releases.names()[-1]});"
            f" the stack file says {wanted}"
        )
        remedy = (
            "update the checkout (git pull, uv sync) to one that has "
            f"config/releases/{current}.toml"
        )
        refusal.refuse_settings([Problem("release", what, remedy)])
    if not releases.newer(current, wanted):
        return ()
    # The candidate may have become the wanted release unchanged.
    older = "may be older" if current == releases.CANDIDATE else "is older"
    return (
        f"release: the cluster was declared with {current}; {wanted} {older}. Images go back, and "
        f"objects that only {current}"
        " declares are removed; Kubernetes stays as it is (docs/operate.md, Go back)",
    )


def declared(config_map: Mapping[str, Any] | None) -> str | None:
    """Return the release in a contract; None without one."""
    release = ((config_map or {}).get("data") or {}).get("release")
    return release if isinstance(release, str) else None
