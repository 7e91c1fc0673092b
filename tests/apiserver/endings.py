"""Ways in which the pod of a pipeline's step ends, what Argo makes of each, and whether the machine is the reason."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sandbox.kubernetes.client import Object
from tests.apiserver.steps import WAITING, Steps

SHUTDOWN = "Pod was terminated in response to imminent node shutdown."
"""kubernetes 1.36.2, pkg/kubelet/nodeshutdown/nodeshutdown_manager.go."""
FULL = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 90Mi."
"""pkg/kubelet/eviction/helpers.go."""
NO_GPU = "Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu"
"""pkg/kubelet/kubelet.go and pkg/kubelet/cm/devicemanager/manager.go: before the device plugin is back, say."""
TOO_LONG = "Pod was active on the node longer than the specified deadline"
"""pkg/kubelet/active_deadline.go."""


@dataclass(frozen=True)
class Ending:
    """One way."""

    end: Callable[[Steps, Object], None]
    phase: str
    message: str
    """Phase and message of Argo's node."""
    machine: bool
    """Whether the machine is the reason: then, and only then, the step starts again."""
    begun: bool = True
    """Whether its containers ran."""


ENDINGS: Mapping[str, Ending] = {
    "evicted": Ending(lambda steps, pod: steps.evict(pod), "Error", "pod deleted", True),
    "drained": Ending(lambda steps, pod: steps.fail(pod, 143), "Failed", "main: Error (exit code 143)", True),
    "killed": Ending(lambda steps, pod: steps.fail(pod, 137), "Failed", "main: Error (exit code 137)", True),
    "node-shutdown": Ending(
        lambda steps, pod: steps.fail(pod, 143, status_reason="Terminated", message=SHUTDOWN), "Failed", SHUTDOWN, True
    ),
    "node-full": Ending(
        lambda steps, pod: steps.fail(pod, 137, status_reason="Evicted", message=FULL), "Failed", FULL, True
    ),
    "rejected": Ending(
        lambda steps, pod: steps.reject(pod, "UnexpectedAdmissionError", NO_GPU), "Failed", NO_GPU, True, begun=False
    ),
    "not-begun": Ending(
        lambda steps, pod: steps.collect(pod, WAITING),
        "Error",
        "Pod failed before main container starts due to ContainerCreating: ",
        True,
        begun=False,
    ),
    "fails": Ending(lambda steps, pod: steps.fail(pod, 1), "Failed", "main: Error (exit code 1)", False),
    "out-of-memory": Ending(
        lambda steps, pod: steps.fail(pod, 137, "OOMKilled"), "Failed", "main: OOMKilled (exit code 137)", False
    ),
    "too-long": Ending(
        lambda steps, pod: steps.fail(pod, 143, status_reason="DeadlineExceeded", message=TOO_LONG),
        "Failed",
        TOO_LONG,
        False,
    ),
}
