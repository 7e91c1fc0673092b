"""Rules about a cluster that runs: its autoscaler's profile, and operations one after the other."""

from __future__ import annotations

from sandbox.azure import azure_ids, azure_operations
from sandbox.azure.azure_operations import Throttle
from sandbox.azure.resources import azure_cluster_rules
from sandbox.cloud.state import Store
from sandbox.tests.rule_walk import ABSENT, Row, Step

from ..conftest import CLUSTER, CLUSTER_INPUTS, POOL, REGULAR, Account
from .requests import Delete, Put, cluster, id_of, pool

_CPU = id_of(POOL, resourceGroupName="ml", resourceName="aks", agentPoolName="cpu")


def _marked(token: str, state: str, **parameters: str) -> Step:
    """A cluster or pool that another process is working on."""
    id = id_of(token, resourceGroupName="ml", **parameters)

    def mark(account: Account) -> None:
        with Store(account.state_file).change() as resources:
            resources.records[azure_ids.key(id)].body["provisioningState"] = state

    return mark


def _twenty_times(account: Account) -> None:
    for _ in range(20):
        account.cloud._throttle.admit(_CPU)
    # Waiting passes no time from now on.
    account.clock.wait = lambda seconds: None  # type: ignore[method-assign]
    account.cloud._throttle._wait = account.clock.wait


ROWS = [
    *(
        Row(f"{field} {value}", azure_cluster_rules.profile_formats, "page cluster-autoscaler")
        .says("InvalidParameter", f"Invalid value specified for the cluster-autoscaler parameter '{flag}'.")
        .tries(cluster, autoScalerProfile={field: (value, neighbour)})
        for field, flag, value, neighbour in (
            ("scanInterval", "scan-interval", "1m", "60s"),
            ("maxNodeProvisionTime", "max-node-provision-time", "900s", "15m"),
            ("scaleDownDelayAfterAdd", "scale-down-delay-after-add", "10", "0m"),
            ("scaleDownDelayAfterDelete", "scale-down-delay-after-delete", "1h", "10s"),
            ("scaleDownDelayAfterFailure", "scale-down-delay-after-failure", "30s", "3m"),
            ("scaleDownUnneededTime", "scale-down-unneeded-time", "0s", "10m"),
            ("scaleDownUnreadyTime", "scale-down-unready-time", "20", "20m"),
            ("newPodScaleUpDelay", "new-pod-scale-up-delay", "10", "10s"),
            ("maxGracefulTerminationSec", "max-graceful-termination-sec", "600s", "600"),
            ("maxEmptyBulkDelete", "max-empty-bulk-delete", "0", "1"),
            ("okTotalUnreadyCount", "ok-total-unready-count", "-1", "0"),
            ("maxTotalUnreadyPercentage", "max-total-unready-percentage", "101", "100"),
            ("scaleDownUtilizationThreshold", "scale-down-utilization-threshold", "1.5", "0.5"),
            ("balanceSimilarNodeGroups", "balance-similar-node-groups", "yes", "true"),
            ("skipNodesWithLocalStorage", "skip-nodes-with-local-storage", "False", "false"),
            ("skipNodesWithSystemPods", "skip-nodes-with-system-pods", "1", "true"),
        )
    ),
    Row("a pool that is worked on", azure_operations.conflict, "2.1, 7.15")
    .says(
        "OperationNotAllowed",
        "Operation is not allowed: Another operation (cpu - Updating) is in progress, please wait for it to finish before "
        "starting a new operation. See https://aka.ms/aks-pending-operation for more details",
    )
    .given(pool(REGULAR), _marked(POOL, "Updating", resourceName="aks", agentPoolName="cpu"))
    .tries(pool, REGULAR, count=(3, ABSENT), agentPoolName=(ABSENT, "other")),
    Row("a cluster one of whose pools is worked on", azure_operations.conflict, "2.1, 7.15")
    .says("OperationNotAllowed", "Another operation (system - Creating) is in progress")
    .given(cluster(), _marked(POOL, "Creating", resourceName="two", agentPoolName="system"))
    .refuses(cluster(tags={"a": "b"}))
    .accepts(Put(CLUSTER, {**CLUSTER_INPUTS, "tags": {"a": "b"}})),
    Row("a pool whose cluster is worked on", azure_operations.conflict, "2.1, 7.15")
    .says("OperationNotAllowed", "Another operation (aks - Deleting) is in progress")
    .given(cluster(), _marked(CLUSTER, "Deleting", resourceName="aks"))
    .tries(pool, REGULAR, resourceName=(ABSENT, "two")),
    Row("a pool deleted that is worked on", azure_operations.conflict, "2.1, 7.15")
    .says("OperationNotAllowed", "Another operation (cpu - Updating) is in progress")
    .given(
        pool(REGULAR),
        pool(REGULAR, agentPoolName="other"),
        _marked(POOL, "Updating", resourceName="aks", agentPoolName="cpu"),
    )
    .tries(Delete, ("cpu", "other")),
    Row("the twenty-first PUT", Throttle.admit, "2.1, 7.18")
    .says(
        "Throttled",
        "The PutAgentPoolHandler.PUT request limit has been exceeded for agentpool "
        f"{_CPU}, please retry again in 60 seconds.",
    )
    .given(_twenty_times)
    .tries(pool, REGULAR, agentPoolName=(ABSENT, "other")),
]
