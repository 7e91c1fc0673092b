"""The contract's ConfigMap in the cluster, and what to do where it cannot be read."""

from __future__ import annotations

from typing import Any

from kubeflow_spot.errors import ContractError

_ELSE = "or load a file: Contract.load(path)"

_REMEDIES = {
    401: "the cluster does not know these credentials. Log in again (az, gcloud), " + _ELSE,
    403: "reading is not allowed. Ask the cluster's administrator to add your group to"
    " scheduling.contract.readers of the stack file; every service account may read, " + _ELSE,
    404: "it does not exist. Check the kubeconfig's current context, and the name in the output"
    " of `pulumi up`; only a kubeflow-spot cluster has it",
}
"""What a status of the API server means, and what to do."""


def data(name: str, namespace: str) -> dict[str, str]:
    """Return the data of a ConfigMap of the cluster that this code runs in, else of the current
    kubeconfig. Raises ContractError."""
    subject = f"ConfigMap {namespace}/{name}"
    try:
        from kubernetes import client, config
        from urllib3.exceptions import HTTPError
    except ImportError as error:
        raise ContractError(
            f"{subject}: the Python package kubernetes is not installed. Run"
            f" `pip install kubernetes`, {_ELSE}"
        ) from error
    loader: Any = config
    try:
        loader.load_incluster_config()
    except config.ConfigException:
        try:
            loader.load_kube_config()
        except Exception as error:  # of a damaged file the client passes on what it stumbles over
            raise ContractError(
                f"{subject}: this is no pod, and there is no usable kubeconfig ({error}). Set"
                " KUBECONFIG or write ~/.kube/config (`az aks get-credentials`, `gcloud container"
                f" clusters get-credentials`), {_ELSE}"
            ) from error
    try:
        found: Any = client.CoreV1Api().read_namespaced_config_map(name, namespace)
    except client.ApiException as error:
        remedy = _REMEDIES.get(
            error.status,
            f"the API server answers {error.status} {error.reason}. Try again, {_ELSE}",
        )
        raise ContractError(f"{subject}: {remedy}") from error
    except (HTTPError, OSError) as error:
        raise ContractError(
            f"{subject}: the cluster cannot be reached ({error}). Check the network or VPN and the"
            f" kubeconfig's current context, {_ELSE}"
        ) from error
    return dict(found.data or {})
