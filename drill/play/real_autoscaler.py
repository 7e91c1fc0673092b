"""The real cluster-autoscaler in a drill on AKS: the program that `SANDBOX_AUTOSCALER` names.

It is a cluster-autoscaler 1.36 with the kwok provider (`go build -tags kwok` in the folder
cluster-autoscaler of kubernetes/autoscaler). That provider has no cloud: it makes and deletes Node
objects. So the node groups are rendered for it, under the names of their scale sets, which the
priority expander's ConfigMap matches. `drill.play.real_provider` lists what the provider leaves
out.

Files named here are of kubernetes/autoscaler at cluster-autoscaler-1.36.1, below
cluster-autoscaler/.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from drill.play.real_log import Log
from drill.play.real_provider import NAMESPACE, config_maps, hostnames
from sandbox.autoscaler.world import Decision
from sandbox.base.errors import SandboxError
from sandbox.cloud.node_groups import NodeGroup
from sandbox.cluster.control_plane import ControlPlane
from sandbox.cluster.control_plane.ports import free_port
from sandbox.cluster.control_plane.process import Process, stop_all
from sandbox.kubernetes.client import ApiError
from sandbox.kubernetes.node_objects import opened

VARIABLE = "SANDBOX_AUTOSCALER"
VERSION = "1.36"

_CLOUD = "azure"
_MANAGER = "sandbox-drill"
_START = 60.0  # Seconds; a start takes less than one.

_FLAGS = {
    "balanceSimilarNodeGroups": "balance-similar-node-groups",
    "daemonsetEvictionForEmptyNodes": "daemonset-eviction-for-empty-nodes",
    "daemonsetEvictionForOccupiedNodes": "daemonset-eviction-for-occupied-nodes",
    "expander": "expander",
    "ignoreDaemonsetsUtilization": "ignore-daemonsets-utilization",
    # 1.36 has no max-empty-bulk-delete. While it had both, the larger one held (commit 1e4507819a).
    "maxEmptyBulkDelete": "max-scale-down-parallelism",
    "maxGracefulTerminationSec": "max-graceful-termination-sec",
    "maxNodeProvisionTime": "max-node-provision-time",
    "maxTotalUnreadyPercentage": "max-total-unready-percentage",
    "newPodScaleUpDelay": "new-pod-scale-up-delay",
    "okTotalUnreadyCount": "ok-total-unready-count",
    "scaleDownDelayAfterAdd": "scale-down-delay-after-add",
    "scaleDownDelayAfterDelete": "scale-down-delay-after-delete",
    "scaleDownDelayAfterFailure": "scale-down-delay-after-failure",
    "scaleDownUnneededTime": "scale-down-unneeded-time",
    "scaleDownUnreadyTime": "scale-down-unready-time",
    "scaleDownUtilizationThreshold": "scale-down-utilization-threshold",
    "scanInterval": "scan-interval",
    "skipNodesWithLocalStorage": "skip-nodes-with-local-storage",
    "skipNodesWithSystemPods": "skip-nodes-with-system-pods",
}
"""AKS' settings, and the flags of config/flags/flags.go."""

_DIFFERENT_IN_EACH_POOL = (
    "agentpool",
    "kubernetes.azure.com/agentpool",
    "topology.disk.csi.azure.com/zone",
    "kubernetes.azure.com/node-image-version",
    "kubernetes.azure.com/consolidated-additional-properties",
)
"""Labels that the provider for Azure ignores when it compares groups
(processors/nodegroupset/azure_nodegroups.go)."""


def named_program(environment: Mapping[str, str]) -> Path | None:
    """Return the program that `SANDBOX_AUTOSCALER` names; None if it names none."""
    return Path(text).absolute() if (text := environment.get(VARIABLE, "").strip()) else None


def require_runnable(program: Path, cloud: str) -> None:
    """Raise SandboxError for a program that cannot be run, and on another cloud than AKS."""
    if cloud != _CLOUD:
        raise SandboxError(
            f"{VARIABLE} is for stacks on AKS:"
            " this cloud's own autoscaler is another program; unset it"
        )
    if not program.is_file():
        what = "is no file" if program.exists() else "does not exist"
        raise SandboxError(
            f"{VARIABLE}: {program} {what};"
            f" expected a cluster-autoscaler {VERSION} with the kwok provider"
        )
    if not os.access(program, os.X_OK):
        raise SandboxError(f"{VARIABLE}: {program} is not executable; `chmod +x` it")


def flags(profile: Mapping[str, Any]) -> list[str]:
    """Return the flags of a profile with AKS' keys.

    Raises SandboxError for a setting without a flag.
    """
    if unknown := sorted(profile.keys() - _FLAGS.keys()):
        raise SandboxError(
            f"cluster-autoscaler {VERSION} has no flag for {', '.join(unknown)};"
            f" remove {VARIABLE} or them"
        )
    values = {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in profile.items()}
    return [
        *(f"--{flag}={values[key]}" for key, flag in _FLAGS.items() if key in values),
        *(f"--balancing-ignore-label={label}" for label in _DIFFERENT_IN_EACH_POOL),
    ]


class RealAutoscaler:
    """One run of the program against a control plane: `autoscaler.start()`, then `decisions()`.

    `groups` are the cluster's pools and `profile` its settings with AKS' keys, both as they are
    when it starts. `directory` keeps its log and its process's record. The caller writes the
    priority expander's ConfigMap, gives the cluster its first nodes (`real_provider.first_nodes`),
    and runs no other autoscaler. Raises SandboxError for a program that cannot be run, and on
    another cloud than AKS.
    """

    def __init__(
        self,
        program: Path,
        plane: ControlPlane,
        groups: Sequence[NodeGroup],
        profile: Mapping[str, Any],
        directory: Path,
    ) -> None:
        require_runnable(program, plane.cloud)
        self._program, self._plane, self._groups = program, plane, groups
        self._flags = flags(profile)
        self._process = Process("cluster-autoscaler", directory.absolute())
        self._log, self._read = Log(groups, datetime.now(UTC).year), 0
        self._decisions: list[Decision] = []

    @property
    def version(self) -> str:
        """The version of a started program, such as "1.36.1"."""
        return self._log.version

    def start(self) -> None:
        """Start the program, and wait until it has read its groups.

        Raises SandboxError when it ends, hangs or has another version.
        """
        self.stop()  # A killed drill may have left one.
        with opened(self._plane.admin_kubeconfig) as client:
            for body in config_maps(self._groups):
                client.apply(body, _MANAGER, force=True)
            try:
                for body in hostnames():
                    client.apply(body, _MANAGER, force=True)
            except ApiError as refused:
                # Kubernetes before 1.36 has no such policies: nodes stay without the label.
                if refused.status != 404:
                    raise
        settings = {
            "TZ": "UTC",
            "POD_NAMESPACE": NAMESPACE,
            "KWOK_PROVIDER_MODE": "local",
            "KUBECONFIG": str(self._plane.admin_kubeconfig),
        }
        self._log, self._decisions = Log(self._groups, datetime.now(UTC).year), []
        try:
            self._process.launch(self._command(), [], settings)
        except OSError as error:
            raise SandboxError(
                f"{VARIABLE}: {self._program} cannot be run: {error.strerror}"
            ) from error
        self._read = self._process.log_start
        try:
            self._await_ready()
        except BaseException:
            self.stop()
            raise

    def require_running(self) -> None:
        """Raise SandboxError, with the end of the log, if the program has ended by itself."""
        if (code := self._process.exit_code()) is not None:
            raise SandboxError(
                f"{VARIABLE}: {self._program} ended with exit code {code};"
                f" its log ends with:\n{self._process.log_tail()}"
            )

    def stop(self) -> None:
        """Kill the program. Its nodes stay."""
        child = self._process.child
        running = child if child and child.poll() is None else self._process.find()
        if running:
            # After SIGTERM it would delete its nodes (core/static_autoscaler.go, ExitCleanUp). The
            # process group is killed, since a script may have started the program.
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
        if child:
            child.wait()
        stop_all([self._process])

    def decisions(self) -> list[Decision]:
        """List all decisions since the start; times are seconds since 1970."""
        if not self._process.log.exists():
            return []
        with self._process.log.open("rb") as log:
            log.seek(self._read)
            # An unfinished line is read later.
            text = log.read().rpartition(b"\n")[0]
        self._read += len(text) + (1 if text else 0)
        for line in text.decode(errors="replace").split("\n"):
            self._decisions += self._log.read_line(line)
        return list(self._decisions)

    def _command(self) -> list[str]:
        return [
            str(self._program),
            "--cloud-provider=kwok",
            f"--kubeconfig={self._plane.admin_kubeconfig}",
            f"--namespace={NAMESPACE}",
            "--leader-elect=false",
            f"--address=127.0.0.1:{free_port(())}",
            # The provider counts Node objects. Without the time of this write, a loop that
            # follows a scale-up at once would miss the last node and ask for one more.
            "--write-status-configmap=true",
            "--v=1",
            *self._flags,
        ]

    def _await_ready(self) -> None:
        until = monotonic() + _START
        while not (self._log.ready and self._log.version):
            code = self._process.exit_code()
            self.decisions()
            version = self._log.version
            if version and not f"{version}.".startswith(f"{VERSION}."):
                raise SandboxError(
                    f"{VARIABLE}: {self._program} is cluster-autoscaler {version};"
                    f" expected {VERSION}"
                )
            if code is not None or monotonic() > until:
                hangs = f"is not ready after {_START:.0f} s"
                state = hangs if code is None else f"ended with exit code {code}"
                raise SandboxError(
                    f"{VARIABLE}: {self._program} {state};"
                    f" {self._process.log} ends with:\n{self._process.log_tail()}"
                )
            sleep(0.05)
