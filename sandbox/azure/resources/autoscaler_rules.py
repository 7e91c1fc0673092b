"""The autoscaler's profile: the values AKS accepts, and the defaults it shows."""

import re

from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources.azure_cluster_request import ClusterRequest

# AKS page cluster-autoscaler (2026-07-30). `skip-nodes-with-local-storage` is false in several GETs that users pasted; the REST
# text says true. No GET shows the three daemonset booleans.
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
    # azure-sdk-for-go #14311: `1m` is refused. The REST text mentions a bare number: UNCONFIRMED.
    "scanInterval": r"[1-9][0-9]*s",
    # azure-docs #121999 and #123289: `0m` is accepted, `0s` and `30s` are refused.
    "maxNodeProvisionTime": _MINUTES,
    "scaleDownDelayAfterAdd": _MINUTES,
    "scaleDownDelayAfterFailure": _MINUTES,
    "scaleDownUnneededTime": _MINUTES,
    "scaleDownUnreadyTime": _MINUTES,
    # The REST text asks for minutes; AKS itself shows seconds, and terraform-provider-azurerm #23339 sends seconds.
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
"""Formats of the text fields. The provider itself checks the values of `expander` and the three booleans."""


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
