"""The key `cloud.maintenance` of GKE (page maintenance-windows-and-exclusions)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import Field

from config.model.fields import Model, optional, worded

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

ANCHOR = datetime(2026, 1, 5, tzinfo=UTC)
"""The Monday from which windows are counted: a date that never moves, so that nothing differs."""

_MOMENT = worded(
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"T([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?(Z|[+-][0-9]{2}:[0-9]{2})$",
    'a time by RFC 3339 in quotes, such as "2026-12-18T00:00:00Z"',
)


def moment(text: str) -> datetime:
    """Return a time by RFC 3339 in UTC. Raise ValueError for a day or an hour that does not exist.

    GKE answers in UTC, and any other form would differ for ever (pulumi-gcp, `recurring_window`).
    """
    return datetime.fromisoformat(text).astimezone(UTC)


class GcpExclusion(Model):
    """A time in which GKE makes no upgrades by itself."""

    name: str = Field(min_length=1, description="The exclusion's name.", examples=["end-of-year"])
    start: str = Field(
        pattern=_MOMENT,
        description="When it begins, by RFC 3339, in quotes.",
        examples=["2026-12-18T00:00:00Z"],
    )
    end: str | None = optional(
        None,
        "When it ends. Required without `endTimeBehavior`.",
        "2027-01-04T00:00:00Z",
        pattern=_MOMENT,
    )
    end_time_behavior: Literal["UNTIL_END_OF_SUPPORT"] | None = optional(
        None, "In place of `end`: it ends with the support of the cluster's minor version."
    )
    scope: Literal["NO_UPGRADES", "NO_MINOR_UPGRADES", "NO_MINOR_OR_NODE_UPGRADES"] = optional(
        "NO_UPGRADES",
        "What it forbids: all upgrades; new minor versions; or these and all upgrades of nodes.",
    )


class GcpMaintenance(Model):
    """When GKE may upgrade, and when not. AKS has the same keys in `cloud.upgrades`."""

    start_time: str | None = optional(
        None,
        "The time, in quotes, at which the window opens. Default: GKE may upgrade at any time.",
        "02:00",
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$",
    )
    days: tuple[
        Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"], ...
    ] = optional((), "The days on which it opens; empty: every day.", ["Saturday", "Sunday"])
    duration_hours: int = optional(4, "Hours it stays open.", ge=4, le=24)
    utc_offset: str = optional(
        "+00:00",
        "The time zone of `startTime` and `days`, as an offset from UTC.",
        "+02:00",
        pattern=worded(
            r"^[+-](0[0-9]|1[0-4]):[0-5][0-9]$",
            'the offset from UTC in quotes, such as "+02:00"',
        ),
    )
    exclusions: tuple[GcpExclusion, ...] = optional(
        (),
        "Times in which GKE makes no upgrades.",
        [
            {
                "name": "end-of-year",
                "start": "2026-12-18T00:00:00Z",
                "end": "2027-01-04T00:00:00Z",
            }
        ],
    )

    @property
    def ends(self) -> list[tuple[str, datetime]]:
        """When each exclusion with a set end is over, by its path."""
        return [
            (f"cloud.maintenance.exclusions[{index}]", moment(each.end))
            for index, each in enumerate(self.exclusions)
            if each.end
        ]

    @property
    def opens(self) -> tuple[datetime, ...]:
        """When the window opens in the week of `ANCHOR`, in UTC, in order."""
        sign, (hours, minutes) = self.utc_offset[0], self.utc_offset[1:].split(":")
        east = timedelta(hours=int(hours), minutes=int(minutes)) * (-1 if sign == "-" else 1)
        hour, minute = (self.start_time or "00:00").split(":")
        time = timedelta(hours=int(hour), minutes=int(minute)) - east
        days = {
            (timedelta(days=DAYS.index(day)) + time) % timedelta(days=7)
            for day in self.days or DAYS
        }
        return tuple(ANCHOR + day for day in sorted(days))

    @property
    def open_for(self) -> timedelta:
        """How long the window stays open."""
        return timedelta(hours=self.duration_hours if self.start_time else 24)
