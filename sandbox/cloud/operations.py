"""Operations that still run: the property of a cluster or pool that marks one, and its values.

A mark stands from the request that begins an operation until the nodes are as they should be. Records outlive the process that
wrote them, so another stack's command sees the marks too, and `EmulatedCloud.reconcile` finishes what a killed process began.
"""

from dataclasses import dataclass

from sandbox.cloud.state import Record


@dataclass(frozen=True)
class States:
    """One cloud's words for the states of clusters and pools, in the property `field`."""

    field: str
    creating: str
    updating: str
    deleting: str
    succeeded: str
    failed: str
    retried: bool = False
    """Whether `reconcile` tries again what had failed."""

    def begin(self, record: Record, state: str) -> None:
        record.body[self.field] = state

    def end(self, record: Record, *, failed: bool = False) -> None:
        record.body[self.field] = self.failed if failed else self.succeeded

    def of(self, record: Record) -> str | None:
        """The state of a cluster or pool; None where it has none."""
        return record.body.get(self.field)

    def running(self, record: Record) -> bool:
        return self.of(record) in (self.creating, self.updating, self.deleting)

    def ending(self, record: Record) -> bool:
        """True while it is being deleted."""
        return self.of(record) == self.deleting
