"""The key `cloud.upgrades` of AKS: upgrades that AKS starts by itself, and when."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import ClassVar, Literal

from pydantic import Field

from config.model.fields import Model, optional, worded

_DATE = worded(
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", 'a date in quotes, such as "2026-12-18"'
)


class AzureExclusion(Model):
    """Days without maintenance (page planned-maintenance, notAllowedDates)."""

    start: str = Field(
        pattern=_DATE, description="The first date, in quotes.", examples=["2026-12-18"]
    )
    end: str = Field(
        pattern=_DATE, description="The last date, in quotes.", examples=["2027-01-04"]
    )


class AzureWindow(Model):
    """A weekly maintenance window (page planned-maintenance)."""

    day: Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"] = (
        Field(description="The day on which the window opens.")
    )
    start_time: str = Field(
        pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$",
        description="The time it opens, in quotes.",
        examples=["02:00"],
    )
    duration_hours: int = optional(4, "Hours it stays open.", ge=4, le=24)
    utc_offset: str = optional(
        "+00:00",
        "The time zone of `startTime`, as an offset from UTC.",
        "+02:00",
        pattern=worded(
            r"^[+-](0[0-9]|1[0-4]):[0-5][0-9]$",
            'the offset from UTC in quotes, such as "+02:00"',
        ),
    )
    every_weeks: int = optional(1, "Weeks from one window to the next.", ge=1, le=4)
    exclusions: tuple[AzureExclusion, ...] = optional(
        (),
        "Dates on which the window stays shut.",
        [{"start": "2026-12-18", "end": "2027-01-04"}],
    )


class AzureUpgrades(Model):
    """Upgrades that AKS starts (pages auto-upgrade-cluster, auto-upgrade-node-os-image).

    The channels rapid and stable are missing: they change the minor version, which the release
    pins.
    """

    off: ClassVar[str] = "{channel: none, nodeOsChannel: None}"

    channel: Literal["none", "patch", "node-image"] = optional(
        "none", "Whether AKS installs patches of the Kubernetes version (`patch`) by itself."
    )
    node_os_channel: Literal["None", "Unmanaged", "SecurityPatch", "NodeImage"] = optional(
        "NodeImage",
        "How nodes get security updates: `NodeImage` new images weekly, `SecurityPatch` patches "
        "only, `Unmanaged` the operating system's own updates, `None` none.",
    )
    cluster_window: AzureWindow | None = optional(
        None, "When AKS may upgrade the cluster. Default: at any time."
    )
    node_os_window: AzureWindow | None = optional(
        None, "When AKS may replace node images. Default: at any time."
    )

    @property
    def exclusions(self) -> list[tuple[str, AzureExclusion]]:
        """The exclusions of both windows, by path."""
        # One that cannot be read does not hide the other.
        names = {"clusterWindow": "cluster_window", "nodeOsWindow": "node_os_window"}
        windows = {key: self.__dict__.get(name) for key, name in names.items()}
        return [
            (f"cloud.upgrades.{name}.exclusions[{index}]", each)
            for name, window in windows.items()
            for index, each in enumerate(window.__dict__.get("exclusions", ()) if window else ())
        ]

    @property
    def ends(self) -> list[tuple[str, datetime]]:
        """When each exclusion is over, by its path."""
        return [
            (path, datetime.combine(date.fromisoformat(each.end), time.max, UTC))
            for path, each in self.exclusions
        ]
