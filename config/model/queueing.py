"""The settings of `queueing`: queues of Kueue for work that waits for GPUs."""

from __future__ import annotations

from pydantic import Field

from config.model.fields import Model, Namespace


class Queueing(Model):
    """Queues of Kueue, which the cluster's owner installs: the output `queueing` is what `kubectl apply` gives it."""

    enabled: bool = Field(False, description="Whether the stack has the output `queueing`.")
    namespaces: tuple[Namespace, ...] = Field(
        (),
        description="Namespaces that get a LocalQueue, and whose work alone is taken. Default: none gets one, and the work of "
        "every namespace is taken in which somebody makes one.",
        examples=[["team-a", "vision"]],
    )
