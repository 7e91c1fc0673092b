"""The life of a pod in a drill."""

from dataclasses import dataclass

from sandbox.drill import record as records
from sandbox.kubernetes.client import Object


@dataclass
class Life:
    """A pod, its record, and what it works at."""

    pod: Object
    record: records.Pod
    work: records.Work | None
    needs: float | None = None
    checkpoint: float | None = None
    ending: records.PodEnd | None = None
    """Why it is about to end."""
    tokens: int = 0

    @property
    def node(self) -> str:
        """The name of its node in the cluster; empty without one."""
        return self.pod["spec"].get("nodeName") or ""
