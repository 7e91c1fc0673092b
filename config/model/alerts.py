"""The stack file's `alerts`."""

from __future__ import annotations

from pydantic import Field

from config.model.fields import Model, optional


class Alerts(Model):
    """Alerts of the stack's pools, as rules of Prometheus."""

    hourly_budget: float | None = optional(
        None,
        "US dollars that all GPU nodes may cost an hour. Default: every pool but the twins at its "
        "largest.",
        12.5,
        gt=0,
    )
    runbooks: str = optional(
        "docs/runbooks.md", "The address of the runbooks, which alerts link to.", min_length=1
    )
    without: tuple[str, ...] = Field(
        (), description="Alerts that are left out.", examples=[["FallbackLasts"]]
    )
