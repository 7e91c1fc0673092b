"""Taints of nodes and tolerations of pods, as Kubernetes writes them."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from config.model.fields import LabelKey, LabelValue, Model

_AS_TEXT = re.compile(r"(?P<key>[^=:\s]+)(=(?P<value>[^=:\s]*))?(:(?P<effect>\w+))?")


class Effect(StrEnum):
    """Effects of a taint (https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/)."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class Taint(Model):
    """A Kubernetes node taint."""

    key: LabelKey = Field(description="The taint's key.", examples=["example.com/team"])
    value: Annotated[LabelValue, Field(min_length=1)] = Field(
        description="The taint's value.", examples=["vision"]
    )
    effect: Effect = Field(
        Effect.NO_SCHEDULE,
        description="What happens to pods that do not tolerate the taint, in Kubernetes' words.",
    )

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}"

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """`key=value:Effect`, as kubectl and Azure's tools have it."""
        parts = _AS_TEXT.fullmatch(text)
        return {name: part for name, part in parts.groupdict().items() if part} if parts else None


class Toleration(Model):
    """A Kubernetes toleration of one taint, or of all taints of a key."""

    key: str
    operator: Literal["Equal", "Exists"] = "Equal"
    value: str | None = None
    effect: Effect | None = None

    def as_manifest(self) -> dict[str, str]:
        """The toleration as a pod's spec has it."""
        manifest: dict[str, str] = self.model_dump(mode="json", exclude_none=True)
        return manifest
