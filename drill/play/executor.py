"""What runs in place of the containers of pods that work: nothing, or what a caller of the drill brings, such as a real process."""

from typing import Protocol

from sandbox.kubernetes.client import Object


class Executor(Protocol):
    """Containers of pods. `uid` is the pod's; `done` is the share of its work that is done by the drill's clock."""

    def start(self, uid: str, pod: Object) -> None:
        """The container starts."""

    def end(self, uid: str, done: float, *, noticed: bool) -> None:
        """It is told to end, and then it is killed; without a notice it is only killed."""

    def finish(self, uid: str) -> int:
        """Its time is over: the exit code with which it ends by itself."""


class Nothing:
    """No process: the work is done when its time is over."""

    def start(self, uid: str, pod: Object) -> None:
        """Nothing starts."""

    def end(self, uid: str, done: float, *, noticed: bool) -> None:
        """Nothing ends."""

    def finish(self, uid: str) -> int:
        """The work is done."""
        return 0
