"""The work of `sandbox kubeflow`: render, apply, wait, report."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overlay import applying, observing
from overlay.applying import Object, stages
from overlay.observing import Live, Observed
from overlay.render import Sources, render
from overlay.report import Report
from sandbox.base.errors import SandboxError
from sandbox.base.notices import Notify
from sandbox.kubernetes.client import Client

_PAUSE = 1.0
_LINE = 10.0
"""Seconds between two lines of progress."""


@dataclass(frozen=True)
class Request:
    """One installation."""

    root: Path
    """The folder of the kustomization."""
    manifests: Path
    folder: Path
    """Scratch, made anew."""
    kubeconfig: Path
    version: str
    outputs: Mapping[str, Any]
    """The stack's outputs."""
    bases: Mapping[str, Path] = field(default_factory=dict)
    timeout: float = 300
    """Seconds to wait for pods and volumes."""


def install(request: Request, kubectl: Path, notify: Notify) -> Report:
    """Install Kubeflow on a stack's cluster, and report what became of it.

    Raises SandboxError where nothing could be rendered.
    """
    began = time.monotonic()
    values = request.outputs.get("kubeflowValues")
    if not isinstance(values, dict):
        raise SandboxError(
            "the stack has no output kubeflowValues: bring it up with this version of the program"
        )
    sources = Sources(request.root, request.manifests, values, request.version, request.bases)
    rendered = render(sources, kubectl, request.folder, notify)
    client = Client(request.kubeconfig)
    try:
        ordered = stages(rendered.objects)
        refused = applying.apply(client, ordered, notify)
        observed = _settle(client, rendered.objects, request.timeout, notify)
        return Report(rendered, ordered, refused, observed, time.monotonic() - began)
    finally:
        client.close()


def _settle(client: Client, objects: list[Object], timeout: float, notify: Notify) -> Observed:
    """Return the state of the workloads when all run, or at the timeout."""
    until, shown = time.monotonic() + timeout, 0.0
    while True:
        observed = observing.observe(objects, _live(client))
        now = time.monotonic()
        if observed.settled or now > until:
            return observed
        if now - shown > _LINE:
            shown = now
            bound = sum(claim.bound for claim in observed.claims)
            notify(
                f"{observed.running} of {observed.wanted} pods run, {bound} of"
                f" {len(observed.claims)} claims are bound"
            )
        time.sleep(_PAUSE)


def _live(client: Client) -> Live:
    read: Callable[[str], list[Object]] = lambda kind: client.list("v1", kind)  # noqa: E731
    return Live(read("Node"), read("Pod"), read("PersistentVolumeClaim"), read("Event"))
