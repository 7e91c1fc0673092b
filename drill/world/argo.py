"""Argo's own workflow controller at a control plane: the release in kubeflow/manifests 26.03.

The program and its CustomResourceDefinitions are of the module that tools/argo pins. It runs no
containers: the caller plays the kubelets, and the executor of each pod if outputs are needed.
"""

from collections.abc import Mapping
from time import monotonic, sleep
from typing import Any

import yaml

from sandbox.base.errors import SandboxError
from sandbox.base.home import PROJECT
from sandbox.base.notices import Notify
from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.control_plane.process import Process, stop_all
from sandbox.kubernetes.client import ApiError, Client, Object
from sandbox.toolchain import programs

VERSION = "argoproj.io/v1alpha1"
PROGRAM = "workflow-controller"
NAMESPACE = "kubeflow"
CONFIG_MAP = "workflow-controller-configmap"
"""The name in kubeflow/manifests 26.03 (applications/pipeline/upstream/third-party/argo/base)."""
PATHS = {"Workflow": f"/apis/{VERSION}/workflows"}
DEFAULTS = "workflowDefaults"
"""The ConfigMap's key for the defaults of every Workflow."""

# docs/environment-variables.md of the module. Other waits of the real program stay.
_QUICK = {"LEADER_ELECTION_DISABLE": "true", "DEFAULT_REQUEUE_TIME": "50ms"}
AT_ONCE = {
    "RECENTLY_STARTED_POD_DURATION": "0s",
    "RECENTLY_DELETED_POD_DURATION": "0s",
    "TASK_RESULT_TIMEOUT_DURATION": "0s",
}
"""Waits that a drill leaves out: 10 s for a missing pod, 2 and 10 minutes for its results."""
_MANAGER = "sandbox-argo"
_SECONDS = 60.0


def workflow_defaults() -> Object:
    """Read the project's workflow defaults (kubeflow/components/retry), without the retry back-off.

    Raises SandboxError if the checkout lacks them.
    """
    path = PROJECT / "kubeflow" / "components" / "retry" / "workflow-defaults.yaml"
    try:
        body: Object = yaml.safe_load(path.read_text())
    except OSError as error:
        raise SandboxError(
            f"{error}: a drill with Workflows runs from a checkout of the project"
        ) from error
    body["spec"]["templateDefaults"]["retryStrategy"].pop("backoff", None)
    return body


def definitions(notify: Notify) -> list[Object]:
    """Read Argo's CustomResourceDefinitions from its module. Raises ProgramError."""
    # The smaller set, which KFP installs: the full one has the schema of a pod in five kinds.
    folder = programs.source("argo", notify) / "manifests" / "base" / "crds" / "minimal"
    texts = [path.read_text() for path in sorted(folder.glob("argoproj.io_*.yaml"))]
    return [body for text in texts for body in yaml.safe_load_all(text) if body]


def start_controller(
    plane: ControlPlane,
    client: Client,
    notify: Notify,
    defaults: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Process:
    """Start the controller with these workflow defaults, and wait until it works.

    `plane.stop` ends it with the others. Its namespace must exist. `environment` has further
    variables of the program, such as TASK_RESULT_TIMEOUT_DURATION. Raises SandboxError.
    """
    program = programs.ensure([PROGRAM], notify)[PROGRAM]
    for body in definitions(notify):
        client.apply(body, _MANAGER, force=True)
    configure(client, defaults)
    process = Process(PROGRAM, plane.directory)
    command = [
        str(program),
        f"--kubeconfig={plane.admin_kubeconfig}",
        f"--namespace={NAMESPACE}",
        f"--configmap={CONFIG_MAP}",
        "--executor-image=example.invalid/argoexec:1",
        "--qps=200",
        "--burst=400",
    ]
    process.launch(command, [], {**_QUICK, **(environment or {})})
    try:
        _await(process, client)
    except BaseException:
        stop_all([process])
        raise
    return process


def _await(process: Process, client: Client) -> None:
    """Wait until the controller has done a Workflow without a pod: its log does not tell."""
    template = {"name": "nothing", "suspend": {"duration": "0"}}
    probe = {
        "apiVersion": VERSION,
        "kind": "Workflow",
        "metadata": {"name": _MANAGER, "namespace": NAMESPACE},
        "spec": {"entrypoint": "nothing", "templates": [template]},
    }
    until = monotonic() + _SECONDS
    while True:
        try:
            client.create(probe)
            break
        except ApiError as refused:
            # A definition is served a moment after it was written.
            if refused.status != 404 or monotonic() > until:
                raise
            sleep(0.05)
    while not _phase(client):
        if process.exit_code() is not None or monotonic() > until:
            raise SandboxError(f"{PROGRAM} does not work:\n{process.log_tail()}")
        sleep(0.02)
    client.delete(VERSION, "Workflow", _MANAGER, NAMESPACE)


def _phase(client: Client) -> str:
    probe = client.get(VERSION, "Workflow", _MANAGER, NAMESPACE) or {}
    return str((probe.get("status") or {}).get("phase") or "")


def configure(client: Client, defaults: Mapping[str, Any] | None) -> None:
    """Write the controller's ConfigMap with these workflow defaults, or none."""
    # Without metrics: two controllers on one machine would want the same port.
    data = {"metricsConfig": "{enabled: false}", "telemetryConfig": "{enabled: false}"}
    if defaults is not None:
        data[DEFAULTS] = yaml.safe_dump(dict(defaults))
    metadata = {"name": CONFIG_MAP, "namespace": NAMESPACE}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    client.apply(body, _MANAGER, force=True)
