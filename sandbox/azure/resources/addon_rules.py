"""Rules of AKS on the Container insights add-on (page monitor-aks); codes: list."""

from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources.azure_cluster_request import ClusterRequest
from sandbox.cloud import rules

_WORKSPACE = "logAnalyticsWorkspaceResourceID"


@rules.as_read
def log_workspace(request: ClusterRequest) -> AzureRefused | None:
    addon = request.part("addonProfiles").get("omsagent", {})
    if not addon.get("enabled"):
        return None
    # AKS accepts the keys of the add-on's settings in any letter case.
    config = {key.lower(): value for key, value in addon.get("config", {}).items()}
    workspace = config.get(_WORKSPACE.lower())
    if not workspace:
        text = f"The omsagent add-on needs {_WORKSPACE}."
        return aks("LogAnalyticsWorkspaceNotSet", text, "addonProfiles.omsagent")
    if request.resources.get(workspace) is None:
        text = f"Log Analytics workspace {workspace} was not found."
        return aks("LogAnalyticsWorkspaceNotFound", text, "addonProfiles.omsagent")
    if config.get("useaadauth", "false").lower() not in ("true", "false"):
        text = f"useAADAuth is {config['useaadauth']}, neither true nor false."
        return aks("OmsagentInvalidAADAuthInput", text, "addonProfiles.omsagent")
    return None
