"""One control plane: looks up its processes and stops them. `sandbox.cluster.control_plane.start` brings it up."""

import re
import secrets
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from sandbox.base.errors import SandboxError
from sandbox.base.files import write_private
from sandbox.base.notices import Notify
from sandbox.cluster import plugins
from sandbox.cluster.control_plane.ports import FILE, read_ports
from sandbox.cluster.control_plane.process import Process, stop_all


def kubeconfig(cluster: str, server: str, certificates: Path, user: str, credentials: Mapping[str, str]) -> str:
    """Return a kubeconfig: one cluster, one user, and a context named after the cluster (https://kubernetes.io/docs/reference/config-api)."""
    access = {"server": server, "certificate-authority-data": encoded(certificates / "ca.crt")}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster, "cluster": access}],
        "users": [{"name": user, "user": dict(credentials)}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": user}}],
        "current-context": cluster,
        "preferences": {},
    }
    # Only here: most commands only look for the processes of a control plane.
    import yaml

    return str(yaml.safe_dump(document, sort_keys=False))


def client_credentials(certificates: Path, client: str) -> dict[str, str]:
    """Return the credentials of a client with a certificate."""
    return {
        "client-certificate-data": encoded(certificates / f"{client}.crt"),
        "client-key-data": encoded(certificates / f"{client}.key"),
    }


def encoded(path: Path) -> str:
    """Return a file's content as base64."""
    return b64encode(path.read_bytes()).decode()


PROCESSES = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kwok")
SERVERS = PROCESSES[:2]
KUBELETS = "kwok"
LOOPS = "autoscaler"
PROVISIONER = "provisioner"
SOCKET = "provisioner.sock"
"""The name of the socket, in a control plane's folder, on which the loops answer for the cloud. Processes run in that folder: with
its whole path the name could be too long for a socket."""
USER = "cluster-admin"


class ControlPlane:
    """etcd, API server, scheduler, controller manager and kwok of one emulated cluster, all on 127.0.0.1.

    `directory` has everything: certificates, data, logs, records of the processes, kubeconfigs. `version` is a
    Kubernetes version such as "1.36", "1.35.3" or GKE's "1.35.7-gke.1240000", which nodes show and the API server's
    `/version` does not. `cloud` is "azure" or "gcp". With `loops`, arguments of `python -m sandbox.autoscaler`, a sixth
    process does the cloud's own work inside the cluster; with `provisioner`, a `cluster_runtime.Provisioner` as a dict, a
    seventh makes nodes. `timed` is for a cluster whose time somebody else keeps: without kwok, and without the controllers that
    act when time has passed.
    """

    def __init__(
        self,
        directory: Path,
        *,
        version: str,
        cloud: str,
        service_cidr: str = "10.0.0.0/16",
        loops: Sequence[str] = (),
        timed: bool = False,
        provisioner: Mapping[str, Any] | None = None,
    ) -> None:
        if not re.fullmatch(r"1\.\d+(\.\d+(-gke\.\d+)?)?", version):
            raise SandboxError(f"{version!r} is not a Kubernetes version: expected one like 1.36 or 1.35.3")
        if cloud not in plugins.NAMES:
            raise SandboxError(f"no control plane is known for cloud {cloud!r} (known: {', '.join(plugins.NAMES)})")
        self.directory = directory.absolute()
        self.version = version
        self.cloud = cloud
        self.service_cidr = service_cidr
        self.loops = loops
        self.timed = timed
        self.provisioner = provisioner
        own = tuple(name for name in PROCESSES if name != KUBELETS or not timed)
        names = (*own, *((LOOPS,) if loops else ()), *((PROVISIONER,) if provisioner else ()))
        self.processes = {name: Process(name, self.directory) for name in names}

    @property
    def admin_kubeconfig(self) -> Path:
        """The sandbox's own kubeconfig: a client certificate in `system:masters`, mode 0600."""
        return self.directory / "kubeconfigs" / "admin.kubeconfig"

    def user_kubeconfig(self) -> str:
        """Return the kubeconfig that a cloud would issue, with its token in a file that its owner alone can read.

        The engine hands its state to every user of the machine (see `sandbox.cloud.program_requests`). Raises SandboxError before
        the first start.
        """
        certificates = self.directory / "certificates"
        credentials = {"tokenFile": str(self._token_file)}
        return kubeconfig(self.directory.name, f"https://{self.address()}", certificates, USER, credentials)

    @property
    def _token_file(self) -> Path:
        return self.directory / "token"

    def address(self) -> str:
        """Return the API server's host and port. Raises SandboxError before the first start."""
        ports = read_ports(self.directory / FILE)
        if not ports:
            raise SandboxError(f"the control plane in {self.directory} was never started")
        return f"127.0.0.1:{ports['kube-apiserver']}"

    def authority(self) -> str:
        """Return the API server's certificate authority, base64 of PEM."""
        return encoded(self.directory / "certificates" / "ca.crt")

    def token(self) -> str:
        """Return the user's bearer token: random, made once for each control plane, kept with mode 0600."""
        path = self._token_file
        if not path.exists():
            self.directory.mkdir(parents=True, exist_ok=True)
            write_private(path, secrets.token_urlsafe(32).encode())
        return path.read_text()

    def running(self) -> bool:
        """Return whether all processes run."""
        return all(process.find() for process in self.processes.values())

    def memory(self) -> int:
        """Return the resident bytes of all processes together."""
        return sum(process.memory() for process in self.processes.values())

    def stop(self) -> None:
        """End the processes, clients before servers, and wait until they have ended."""
        if self.directory.is_dir():
            with self.locked(lambda _: None):
                self.end()

    def end(self) -> None:
        """End the processes; the caller holds the lock."""
        self.end_others()
        clients = [name for name in self.processes if name not in SERVERS]
        for names in (clients, *([name] for name in reversed(SERVERS))):
            stop_all([self.processes[name] for name in names])

    def end_others(self) -> None:
        """End the processes that it had with other settings."""
        others = [
            path.stem for path in (self.directory / "processes").glob("*.json") if path.stem not in self.processes
        ]
        stop_all([Process(name, self.directory) for name in others])

    @contextmanager
    def locked(self, notify: Notify) -> Iterator[None]:
        """Lock the control plane against a second start or stop."""
        lock = FileLock(self.directory / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            notify(f"waiting: another process starts or stops {self.directory.name}")
            lock.acquire()
        try:
            yield
        finally:
            lock.release()
