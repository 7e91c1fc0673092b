"""Rules of AKS on the node labels and taints of a pool."""

import re

from sandbox.azure.azure_errors import AzureRefused, aks
from sandbox.azure.resources.azure_pool_request import SPOT_LABEL, PoolRequest
from sandbox.cloud import rules

_TAINT = re.compile(
    r"^(?:[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?"
    r"=[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?:(NoSchedule|PreferNoSchedule|NoExecute)$",
    re.ASCII,
)
_LABEL_KEY = re.compile(r"^(?:[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$", re.ASCII)
_LABEL_VALUE = re.compile(r"^([A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?)?$", re.ASCII)


def labels(request: PoolRequest) -> AzureRefused | None:
    for key, value in request.wanted.get("nodeLabels", {}).items():
        prefix = key.rsplit("/", 1)[0] if "/" in key else ""
        if request.spot and (key, value) == SPOT_LABEL:
            continue
        if prefix == "kubernetes.azure.com" or prefix.endswith(".kubernetes.azure.com"):
            # ams0/aks-nvme-ssd-provisioner #5. Only the label and value that AKS sets itself may be repeated.
            text = f"Invalid node label key {key}. The 'kubernetes.azure.com' prefix is preserved by aks system labels"
            return aks("BadRequest", text)
        if _in_namespace(prefix, "kubernetes.io", "k8s.io") and not _in_namespace(
            prefix, "kubelet.kubernetes.io", "node.kubernetes.io"
        ):
            text = (
                "For Kubernetes version greater than or equal to 1.16, node label keys in the 'kubernetes.io' or 'k8s.io' "
                "namespace must begin with an allowed prefix (kubelet.kubernetes.io, node.kubernetes.io). "
                f"({key}={value})"
            )
            return aks("BadRequest", text)  # azurerm #18567
        if key == "agentpool" or not _LABEL_KEY.fullmatch(key) or not _LABEL_VALUE.fullmatch(value):
            # azurerm #28636; text UNCONFIRMED
            return aks(
                "InvalidParameter", f"Invalid node label {key}={value}.", "agentPoolProfile.nodeLabels"
            ).as_read()
    return None


def _in_namespace(prefix: str, *namespaces: str) -> bool:
    return any(prefix == n or prefix.endswith("." + n) for n in namespaces)


@rules.as_read
def taints(request: PoolRequest) -> AzureRefused | None:
    # azurerm PR 32269 ("invalid taint spec"); the rest of the text is UNCONFIRMED. kubectl's `key:Effect` without a value is
    # refused as well, because the AKS page shows only key=value:Effect.
    for taint in request.wanted.get("nodeTaints", []):
        if not _TAINT.fullmatch(taint):
            text = f"invalid taint spec: {taint}. Please see https://aka.ms/node-taints for more details."
            return aks("InvalidParameter", text, "agentPoolProfile.nodeTaints")
    return None
