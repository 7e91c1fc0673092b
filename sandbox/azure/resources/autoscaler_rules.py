"""The autoscaler's profile: the values AKS takes, and those it shows where nothing was sent."""

from __future__ import annotations

import re

from sandbox.azure.errors import AzureRefused, aks
from sandbox.azure.resources.cluster_request import ClusterRequest

# AKS page cluster-autoscaler (2026-07-30); `skip-nodes-with-local-storage` as in several pasted GETs, where the REST text says
# true. The three daemonset booleans were seen in no GET.
DEFAULTS = {
    "balanceSimilarNodeGroups": "false",
    "expander": "random",
    "maxEmptyBulkDelete": "10",
    "maxGracefulTerminationSec": "600",
    "maxNodeProvisionTime": "15m",
    "maxTotalUnreadyPercentage": "45",
    "newPodScaleUpDelay": "0s",
    "okTotalUnreadyCount": "3",
    "scaleDownDelayAfterAdd": "10m",
    "scaleDownDelayAfterDelete": "10s",
    "scaleDownDelayAfterFailure": "3m",
    "scaleDownUnneededTime": "10m",
    "scaleDownUnreadyTime": "20m",
    "scaleDownUtilizationThreshold": "0.5",
    "scanInterval": "10s",
    "skipNodesWithLocalStorage": "false",
    "skipNodesWithSystemPods": "true",
}

_MINUTES = r"[0-9]+m"
_BOOLEAN = r"true|false"
_FORMATS = {
    # azure-sdk-for-go #14311 refuses `1m`. A bare number, which the REST text speaks of, is UNCONFIRMED.
    "scanInterval": r"[1-9][0-9]*s",
    # azure-docs #121999 and #123289: `0m` passes, `0s` and `30s` do not.
    "maxNodeProvisionTime": _MINUTES,
    "scaleDownDelayAfterAdd": _MINUTES,
    "scaleDownDelayAfterFailure": _MINUTES,
    "scaleDownUnneededTime": _MINUTES,
    "scaleDownUnreadyTime": _MINUTES,
    # The REST text wants minutes; AKS itself shows seconds, and terraform-provider-azurerm #23339 sends them.
    "scaleDownDelayAfterDelete": r"[0-9]+[sm]",
    "newPodScaleUpDelay": r"[0-9]+[smh]",
    "maxGracefulTerminationSec": r"[0-9]+",
    "maxEmptyBulkDelete": r"[1-9][0-9]*",
    "okTotalUnreadyCount": r"[0-9]+",
    "maxTotalUnreadyPercentage": r"[0-9]{1,2}|100",
    "scaleDownUtilizationThreshold": r"0(\.[0-9]+)?|1(\.0+)?",
    "balanceSimilarNodeGroups": _BOOLEAN,
    "skipNodesWithLocalStorage": _BOOLEAN,
    "skipNodesWithSystemPods": _BOOLEAN,
}
"""Of the fields that are text. The provider itself knows the values of `expander`, and that the other three are booleans."""


def profile_formats(request: ClusterRequest) -> AzureRefused | None:
    # azure-sdk-for-go #14311
    for field, value in request.wanted.get("autoScalerProfile", {}).items():
        if field in _FORMATS and not re.fullmatch(_FORMATS[field], value):
            flag = re.sub("[A-Z]", lambda letter: "-" + letter[0].lower(), field)
            text = (
                f"Invalid value specified for the cluster-autoscaler parameter '{flag}'. Please refer to "
                "https://aka.ms/cluster-autoscaler for more details."
            )
            return aks("InvalidParameter", text)
    return None
