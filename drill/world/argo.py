"""Argo's own workflow controller at a control plane: the program and the CustomResourceDefinitions of the module that tools/argo
pins, the release in kubeflow/manifests 26.03.

It runs no containers: whoever starts it plays the kubelets, and the executor in each pod where outputs are asked for.
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
from sandbox.kubernetes.client import ApiError
from sandbox.kubernetes.client import Client, Object
from sandbox.toolchain import programs

VERSION = "argoproj.io/v1alpha1"
PROGRAM = "workflow-controller"
NAMESPACE = "kubeflow"
CONFIG_MAP = "workflow-controller-configmap"
"""Name and namespace in kubeflow/manifests 26.03 (applications/pipeline/upstream/third-party/argo/base)."""
PATHS = {"Workflow": f"/apis/{VERSION}/workflows"}
DEFAULTS = "workflowDefaults"
"""The ConfigMap's key for what every Workflow gets."""

# docs/environment-variables.md of the module. The waits of the real program, except for the first two, are kept by default.
_QUICK = {"LEADER_ELECTION_DISABLE": "true", "DEFAULT_REQUEUE_TIME": "50ms"}
# Ten seconds before a missing pod counts as deleted, two and ten minutes for the results of one: passed by the drill's clock.
AT_ONCE = {
    "RECENTLY_STARTED_POD_DURATION": "0s",
    "RECENTLY_DELETED_POD_DURATION": "0s",
    "TASK_RESULT_TIMEOUT_DURATION": "0s",
}
_MANAGER = "sandbox-argo"
_SECONDS = 60.0


def defaults() -> Object:
    """The project's workflow defaults (kubeflow/components/retry), without the wait before a retry, which passes for nothing.

    Raises SandboxError where the checkout lacks them.
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
    """The CustomResourceDefinitions of Argo, read from the source of its module. Raises ProgramError."""
    # The smaller set: the full one has the whole schema of a pod in five kinds, and KFP installs the smaller one.
    folder = programs.source("argo", notify) / "manifests" / "base" / "crds" / "minimal"
    return [
        body
        for path in sorted(folder.glob("argoproj.io_*.yaml"))
        for body in yaml.safe_load_all(path.read_text())
        if body
    ]


def start(
    plane: ControlPlane,
    client: Client,
    notify: Notify,
    defaults: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> Process:
    """Start the controller with these workflow defaults, and wait until it works; `plane.stop` ends it with the others.

    Its namespace must exist. `environment` has further variables of the program, such as TASK_RESULT_TIMEOUT_DURATION. Raises
    SandboxError.
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
    """Wait until the controller has done a Workflow without a pod: it says nothing when it is ready."""
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
    while not (
        (client.get(VERSION, "Workflow", _MANAGER, NAMESPACE) or {}).get("status") or {}
    ).get("phase"):
        if process.exit_code() is not None or monotonic() > until:
            raise SandboxError(f"{PROGRAM} does not work:\n{process.log_tail()}")
        sleep(0.02)
    client.delete(VERSION, "Workflow", _MANAGER, NAMESPACE)


def configure(client: Client, defaults: Mapping[str, Any] | None) -> None:
    """Write the controller's ConfigMap: with these workflow defaults, or none. The controller reads a change by itself."""
    # No address of its own for metrics: two controllers on one machine would want the same port.
    data = {"metricsConfig": "{enabled: false}", "telemetryConfig": "{enabled: false}"}
    if defaults is not None:
        data[DEFAULTS] = yaml.safe_dump(dict(defaults))
    metadata = {"name": CONFIG_MAP, "namespace": NAMESPACE}
    client.apply(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data},
        _MANAGER,
        force=True,
    )
