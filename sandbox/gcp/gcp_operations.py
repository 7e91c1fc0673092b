"""Operations that still run: a cluster's or pool's `status`, from the request that began one until its nodes are as they should be.

Records outlive the process that wrote them, and `GcpCloud.reconcile` finishes what a killed process began. GKE refuses a second
operation with 400 failedPrecondition, which the provider repeats for two hours (terraform-provider-google-beta,
services/container): nobody sees it, so here the second just follows the first.
"""

from sandbox.cloud.state import Record

RUNNING = "RUNNING"
FAILED = "RUNNING_WITH_ERROR"


def begin(record: Record, status: str) -> None:
    record.body["status"] = status


def end(record: Record, *, failed: bool = False) -> None:
    record.body["status"] = FAILED if failed else RUNNING


def stopping(record: Record) -> bool:
    return record.body.get("status") == "STOPPING"
