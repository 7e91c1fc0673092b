"""Releases, which hold what a stack takes from the program, and overrides of their pins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from config.model.fields import Model, form

VERSION = r"^1\.[0-9]{2}(\.[0-9]{1,4})?$"
KUEUE = r"^0\.[0-9]{1,3}\.[0-9]{1,3}$"
IMAGE = r"^[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/[a-z0-9][a-z0-9._-]*)+:[A-Za-z0-9_][A-Za-z0-9_.-]*@sha256:[0-9a-f]{64}$"

KubernetesVersion = Annotated[str, form(VERSION, 'a version in quotes, such as "1.35" or "1.35.7"')]
Image = Annotated[
    str,
    form(
        IMAGE,
        "an image by tag and digest, registry.example.com/team/image:v1.2.3@sha256:<64 "
        "hexadecimal digits>",
    ),
]
"""An image by digest, so that its content cannot change; by tag as well, for the reader."""

KueueVersion = Annotated[str, form(KUEUE, "a version of Kueue, such as 0.14.8")]


def all_of(model: type[Model]) -> dict[str, Any]:
    """Return the schema of a cloud's pins: a release must have what a stack file may omit."""
    return {
        "required": sorted(
            str(field.alias) for field in model.model_fields.values() if field.default is None
        )
    }


class ReleaseFile(Model):
    """A file of config/releases: pins, and notes on them."""

    # Each cloud adds the pins of its autoscaler (`config.clouds.registry.Registration`).
    model_config = ConfigDict(title="A release")

    released: bool = Field(
        title="whether it is released",
        description="true: never changes again (digest in released.sha256); false: a candidate",
    )
    notes: tuple[Annotated[str, StringConstraints(min_length=8)], ...] = Field(
        title="notes", description="sentences for a reader who moves a stack to this release"
    )
    kubernetes_version: KubernetesVersion = Field(
        title="Kubernetes version",
        description="of clusters that this program makes, and of their pools",
    )
    device_plugin_image: Image = Field(
        title="image of NVIDIA's device plugin", description="where the cloud does not bring one"
    )
    dcgm_exporter_image: Image = Field(
        title="image of NVIDIA's DCGM exporter",
        description="where `dcgmExporter.enabled` asks for it",
    )
    kueue_version: KueueVersion = Field(
        "0.14.8",
        title="version of Kueue",
        description=(
            "that the output `queueing` was tried with; releases from before it was pinned mean "
            "the default"
        ),
    )

    @model_validator(mode="after")
    def _complete(self) -> ReleaseFile:
        for name, field in type(self).model_fields.items():
            part = getattr(self, name)
            if isinstance(part, Model):
                needed = {*all_of(type(part))["required"]}
                left_out = sorted(needed - part.model_dump(by_alias=True, exclude_none=True).keys())
                if left_out:
                    raise ValueError(f"{field.alias} pins no {', '.join(left_out)}")
        return self


class Release(ReleaseFile):
    """A file of config/releases by its name, which the file itself does not hold."""

    name: str = Field(description="The release's name.")


PINS: Mapping[str, str] = {
    "kubernetesVersion": VERSION,
    "devicePluginImage": IMAGE,
    "dcgmExporterImage": IMAGE,
    "kueueVersion": KUEUE,
}
"""Pins that a stack may override, with their patterns. `cloud` has those of the autoscalers."""


class Override(Model):
    """One pin that a stack takes from elsewhere than its release."""

    pin: Literal["kubernetesVersion", "devicePluginImage", "dcgmExporterImage", "kueueVersion"] = (
        Field(description="The pin to override.")
    )
    value: str = Field(
        min_length=1,
        description="The value to use instead, in the form that a release has.",
        examples=["1.35"],
    )
    reason: str = Field(
        min_length=8,
        description="Why the stack differs from its release, for readers of the outputs.",
        examples=["our Istio is tested up to 1.35"],
    )


@dataclass(frozen=True)
class Overridden:
    """A pin that is not the release's own, as the stack's outputs show it."""

    pin: str
    value: str
    instead: str
    """The release's."""
    reason: str

    def as_output(self) -> dict[str, str]:
        """Return plain data."""
        return asdict(self)


def pinned(release: Release, pin: str) -> str:
    """Return the release's value of one of `PINS`."""
    return str(release.model_dump(by_alias=True, include={_field(pin)})[pin])


def changed(release: Release, overrides: Iterable[Override]) -> Release:
    """Return the release with the stack's overrides in place of its pins."""
    return release.model_copy(
        update={_field(override.pin): override.value for override in overrides}
    )


def _field(pin: str) -> str:
    return next(name for name, field in ReleaseFile.model_fields.items() if field.alias == pin)


FIRST_MUTATING_VERSION = "1.36"
"""The first Kubernetes with MutatingAdmissionPolicy `v1` (KEP-3962)."""


def has_mutating_policies(version: str) -> bool:
    """Return whether an API server, such as v1.36.2-gke.100, has MutatingAdmissionPolicy."""
    numbers = re.match(r"v?(\d+)\.(\d+)", version)
    first = tuple(map(int, FIRST_MUTATING_VERSION.split(".")))
    # An unknown version counts as a new one, which refuses what it does not know.
    return numbers is None or (int(numbers[1]), int(numbers[2])) >= first
