"""The life of a pod in a drill."""

from dataclasses import dataclass

from drill.world import record as records
from sandbox.kubernetes.client import Object


@dataclass
class Life:
    """A pod, its record, and what it works at."""

    pod: Object
    record: records.Pod
    work: records.Work | None
    needs: float | None = None
    checkpoint: float | None = None
    """Seconds of work between two checkpoints."""
    save: float | None = None
    """Seconds in which it saves after SIGTERM; None where it does not, and goes back to its last checkpoint."""
    told: float | None = None
    """When it got SIGTERM."""
    ending: records.PodEnd | None = None
    """Why it is about to end."""
    tokens: int = 0

    def saved_at(self, now: float) -> float | None:
        """Return the time up to which its work is saved since SIGTERM; None where it did not save."""
        if self.told is None or self.save is None or now < self.told + self.save:
            return None
        return self.told

    @property
    def node(self) -> str:
        """The name of its node in the cluster; empty without one."""
        return self.pod["spec"].get("nodeName") or ""
