"""The start of a control plane: its files, its processes in their order, and the wait until it can be used."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from subprocess import run
from time import monotonic, sleep
from typing import NamedTuple

from sandbox.base.errors import SandboxError
from sandbox.base.files import write_private
from sandbox.base.notices import Notify
from sandbox.cluster.control_plane.certificates import ensure_certificates
from sandbox.cluster.control_plane.plane import KUBELETS, LOOPS, PROVISIONER, SERVERS, USER, ControlPlane
from sandbox.cluster.control_plane.ports import FILE, choose_ports, taken_ports
from sandbox.cluster.control_plane.process import Process, stop_all
from sandbox.cluster.control_plane.program_flags import Command, Settings, commands, write_inputs

LATE = (LOOPS, PROVISIONER)
OLDEST_EMULATED = 3  # minor versions behind its own that a 1.36 API server can emulate
START_TIMEOUT = 120.0  # seconds; a start takes about 6, on a machine that builds something else at the time 40


def start(plane: ControlPlane, programs: Mapping[str, Path], notify: Notify) -> None:
    """Bring up what does not run, or runs with other settings, and wait until the cluster can be used.

    Raises SandboxError when the programs cannot serve this version or a process ends or hangs; the processes launched by
    this call are stopped then.
    """
    plane.directory.mkdir(parents=True, exist_ok=True)
    with plane.locked(notify):
        begun = _Start(plane, programs, notify)
        try:
            begun.run()
        except SandboxError:
            # A control plane that starts at the same time may choose the same port; kwok takes its own seconds later.
            if not taken_ports(plane.directory / FILE, begun.held()):
                raise
            _Start(plane, programs, notify).run()


class _Start:
    """One start of one control plane, for a caller that holds its lock."""

    def __init__(self, plane: ControlPlane, programs: Mapping[str, Path], notify: Notify) -> None:
        self.plane, self.programs, self.notify = plane, programs, notify
        self.processes = plane.processes
        self.certificates = plane.directory / "certificates"
        self.launched: list[Process] = []

    def run(self) -> None:
        """Start the processes that do not run as they should, and wait; a failure stops those launched here."""
        started = monotonic()
        settings = self.prepare()
        commands_by_name = commands(settings, write_inputs(settings))
        stale = [
            name
            for name, process in self.processes.items()
            if not process.up_to_date(commands_by_name[name].arguments, commands_by_name[name].inputs)
        ]
        self.plane.end_others()
        try:
            self.launch_all(stale, commands_by_name, settings)
            self.wait(self.usable(settings), "can be used")
            for name in LATE:
                if name in stale:
                    # Last, and without a wait: no declared resource needs it, and it would slow down the others at the start.
                    self.launch(name, commands_by_name[name])
        except BaseException:
            stop_all(self.launched)
            raise
        if stale:
            seconds, megabytes = monotonic() - started, self.plane.memory() / 1e6
            self.notify(
                f"control plane {self.plane.version}: {', '.join(stale)} ready in {seconds:.1f} s, {megabytes:.0f} MB"
            )

    def prepare(self) -> Settings:
        """Prepare all files that the processes need."""
        plane, programs = self.plane, self.programs
        if missing := [name for name in plane.processes if name not in (*programs, *LATE)]:
            raise SandboxError(f"a control plane also needs {', '.join(missing)}")
        binary = binary_version(programs["kube-apiserver"])
        emulated = emulated_version(plane.version, binary)
        ensure_certificates(self.certificates, plane.service_cidr)
        write_private(plane.directory / "tokens.csv", f'{plane.token()},{USER},{USER},"system:masters"\n'.encode())
        ports = choose_ports(plane.directory / FILE, self.held(), self.notify)
        full = plane.version if plane.version.count(".") > 1 else f"{plane.version}.0"
        kubelet = binary if plane.version == binary.rpartition(".")[0] else full
        return Settings(plane, ports, programs, emulated, kubelet)

    def held(self) -> set[str]:
        """Return the names of the ports on which processes of this control plane listen."""
        alive = {name for name, process in self.processes.items() if process.find()}
        return alive | ({"etcd-peer"} if "etcd" in alive else set())

    def launch_all(self, stale: list[str], commands_by_name: Mapping[str, Command], settings: Settings) -> None:
        """Restart the named processes: etcd and the API server at once, their clients when the API server answers."""
        stop_all([self.processes[name] for name in reversed(self.processes) if name in stale])
        servers = [name for name in stale if name in SERVERS]
        clients = [name for name in stale if name not in (*SERVERS, *LATE)]
        if stale:
            self.notify(f"control plane {self.plane.version}: starting {', '.join(stale)}")
        for names in (servers, clients):
            for name in names:
                self.launch(name, commands_by_name[name])
            if names is servers and clients:
                self.wait({"kube-apiserver": self.api(settings, "/readyz")}, "is ready")
                if KUBELETS in clients:
                    self.release_leases(settings)

    def launch(self, name: str, command: Command) -> None:
        """Launch one process."""
        process = self.processes[name]
        self.launched.append(process)
        process.launch(command.arguments, command.inputs, command.environment)

    def release_leases(self, settings: Settings) -> None:
        """Delete the node leases of a dead kwok: the new one would ignore those nodes until the leases expire."""
        request(self.api(settings, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"), "DELETE")

    def usable(self, settings: Settings) -> dict[str, Endpoint]:
        """Return the endpoints that must answer before the cluster can be used, by the name of the part."""
        trust = self.trust()
        loops = ("kube-scheduler", "kube-controller-manager")
        return {
            "kube-apiserver": self.api(settings, "/readyz"),
            "kube-system": self.api(settings, "/api/v1/namespaces/kube-system"),
            # The controller manager makes it; no pod can be created in `default` before.
            "service accounts": self.api(settings, "/api/v1/namespaces/default/serviceaccounts/default"),
            **{name: Endpoint(settings.ports[name], "/healthz", trust) for name in loops},
            **({} if self.plane.timed else {KUBELETS: Endpoint(settings.ports[KUBELETS], "/healthz", None)}),
        }

    def trust(self) -> ssl.SSLContext:
        """Return TLS with this control plane's authority and the administrator's certificate."""
        context = ssl.create_default_context(cafile=str(self.certificates / "ca.crt"))
        context.load_cert_chain(self.certificates / "admin.crt", self.certificates / "admin.key")
        return context

    def api(self, settings: Settings, path: str) -> Endpoint:
        """Return a path of the API server."""
        return Endpoint(settings.ports["kube-apiserver"], path, self.trust())

    def wait(self, endpoints: Mapping[str, Endpoint], what: str) -> None:
        """Wait until every endpoint answers 200. Raises SandboxError when a launched process ends or time is up."""
        until = monotonic() + START_TIMEOUT
        waiting = dict(endpoints)
        while waiting:
            for process in self.launched:
                if (code := process.exit_code()) is not None:
                    tail = process.log_tail()
                    raise SandboxError(f"{process.name} ended with exit code {code}; {process.log} ends with:\n{tail}")
            waiting = {name: endpoint for name, endpoint in waiting.items() if request(endpoint) != 200}
            if waiting and monotonic() > until:
                names = ", ".join(waiting)
                raise SandboxError(
                    f"control plane {self.plane.version}: not every part {what} after {START_TIMEOUT:.0f} s (waiting for"
                    f" {names}); its logs are in {self.plane.directory / 'logs'}"
                )
            if waiting:
                sleep(0.05)


class Endpoint(NamedTuple):
    """An HTTP path on a loopback port; HTTPS with a TLS context."""

    port: int
    path: str
    trust: ssl.SSLContext | None


def request(endpoint: Endpoint, method: str = "GET") -> int:
    """Return the status of an endpoint's answer; 0 without an answer."""
    trust, port = endpoint.trust, endpoint.port
    connection = (
        HTTPSConnection("127.0.0.1", port, timeout=5, context=trust) if trust else HTTPConnection("127.0.0.1", port, 5)
    )
    try:
        connection.request(method, endpoint.path)
        return connection.getresponse().status
    except (OSError, HTTPException):
        return 0
    finally:
        connection.close()


def binary_version(apiserver: Path) -> str:
    """Return the version of an API server's binary, such as "1.36.2". Raises SandboxError."""
    done = run([apiserver, "--version"], capture_output=True, text=True, check=False)
    match = re.search(r"v(\d+\.\d+\.\d+)", done.stdout)
    if not match:
        raise SandboxError(f"{apiserver} --version prints no version: {done.stdout}{done.stderr}")
    return match[1]


def emulated_version(version: str, binary: str) -> str | None:
    """Return the minor version that a binary must emulate, None for its own.

    Raises SandboxError for a version it cannot serve
    (https://kubernetes.io/docs/concepts/cluster-administration/compatibility-version/).
    """
    minor, own = int(version.split(".")[1]), int(binary.split(".")[1])
    if not own - OLDEST_EMULATED <= minor <= own:
        supported = f"1.{own - OLDEST_EMULATED} to 1.{own}"
        raise SandboxError(f"Kubernetes {version} cannot be emulated: the API server {binary} serves {supported}")
    return None if minor == own else f"1.{minor}"
