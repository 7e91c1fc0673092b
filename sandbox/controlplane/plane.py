"""Starts, finds and stops one control plane."""

import re
import secrets
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from subprocess import run
from time import monotonic, sleep

from filelock import FileLock, Timeout

from sandbox.controlplane.certificates import ensure_certificates
from sandbox.controlplane.commands import ADMISSION, Command, Settings, commands, write_inputs
from sandbox.controlplane.kubeconfig import encoded, token_kubeconfig
from sandbox.controlplane.ports import choose_ports, read_ports
from sandbox.controlplane.process import Process, stop_all
from sandbox.errors import SandboxError
from sandbox.files import write_private

PROCESSES = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kwok")
SERVERS = PROCESSES[:2]
LOOPS = "autoscaler"
USER = "cluster-admin"
OLDEST_EMULATED = 3  # minor versions behind its own that a 1.36 API server can emulate
START_TIMEOUT = 120.0  # seconds; a start takes about 6, on a machine that builds something else at the time 40
Report = Callable[[str], None]


class ControlPlane:
    """etcd, API server, scheduler, controller manager and kwok of one emulated cluster, all on 127.0.0.1.

    `directory` holds everything: certificates, data, logs, records of the processes, kubeconfigs. `version` is a
    Kubernetes version such as "1.36", "1.35.3" or GKE's "1.35.7-gke.1240000", which nodes show and the API server's
    `/version` does not. `cloud` is "azure" or "gcp". Given `loops`, arguments of `python -m sandbox.autoscaler`, a sixth
    process does the cloud's own work inside the cluster.
    """

    def __init__(
        self,
        directory: Path,
        *,
        version: str,
        cloud: str,
        service_cidr: str = "10.0.0.0/16",
        loops: Sequence[str] = (),
    ) -> None:
        if not re.fullmatch(r"1\.\d+(\.\d+(-gke\.\d+)?)?", version):
            raise SandboxError(f"{version!r} is not a Kubernetes version: expected one like 1.36 or 1.35.3")
        if cloud not in ADMISSION:
            raise SandboxError(f"no control plane is known for cloud {cloud!r} (known: {', '.join(ADMISSION)})")
        self.directory = directory.absolute()
        self.version = version
        self.cloud = cloud
        self.service_cidr = service_cidr
        self.loops = loops
        names = (*PROCESSES, LOOPS) if loops else PROCESSES
        self.processes = {name: Process(name, self.directory) for name in names}

    @property
    def admin_kubeconfig(self) -> Path:
        """The sandbox's own way in: a client certificate in `system:masters`, mode 0600."""
        return self.directory / "kubeconfigs" / "admin.kubeconfig"

    def user_kubeconfig(self) -> str:
        """The kubeconfig a cloud would hand out, with a bearer token. Raises SandboxError before the first start."""
        server = f"https://{self.address()}"
        return token_kubeconfig(self.directory.name, server, self.directory / "certificates", USER, self.token())

    def address(self) -> str:
        """The API server's host and port. Raises SandboxError before the first start."""
        ports = read_ports(self.directory / "ports.json")
        if not ports:
            raise SandboxError(f"the control plane in {self.directory} was never started")
        return f"127.0.0.1:{ports['kube-apiserver']}"

    def authority(self) -> str:
        """The certificate of the API server's authority, base64 of PEM."""
        return encoded(self.directory / "certificates" / "ca.crt")

    def token(self) -> str:
        """The user's bearer token: random, made once for each control plane, kept with mode 0600."""
        path = self.directory / "token"
        if not path.exists():
            self.directory.mkdir(parents=True, exist_ok=True)
            write_private(path, secrets.token_urlsafe(32).encode())
        return path.read_text()

    def running(self) -> bool:
        """Whether all processes run."""
        return all(process.find() for process in self.processes.values())

    def memory(self) -> int:
        """Resident bytes of all processes together."""
        return sum(process.memory() for process in self.processes.values())

    def stop(self) -> None:
        """End the processes, clients before servers, and wait until they are gone; nothing when none runs."""
        if self.directory.is_dir():
            with self.locked(lambda _: None):
                self.end()

    def end(self) -> None:
        """Stop everything; for callers that hold the lock."""
        clients = [name for name in self.processes if name not in SERVERS]
        for names in (clients, *([name] for name in reversed(SERVERS))):
            stop_all([self.processes[name] for name in names])

    def start(self, programs: Mapping[str, Path], report: Report) -> None:
        """Bring up what does not run, or runs with other settings, and wait until the cluster can be used.

        Raises SandboxError when the programs cannot serve this version or a process ends or hangs; what this call
        launched is stopped then.
        """
        started = monotonic()
        self.directory.mkdir(parents=True, exist_ok=True)
        with self.locked(report):
            settings = self.prepare(programs, report)
            wanted = commands(settings, write_inputs(settings))
            stale = [name for name in self.processes if not self.up_to_date(name, wanted[name])]
            launched: list[Process] = []
            try:
                self.launch(stale, wanted, launched, settings, report)
                self.wait(self.usable(settings), launched, "can be used")
                if LOOPS in stale:
                    # Last, and not waited for: nothing that is declared needs it, and it would take others' time at the start.
                    self.run(LOOPS, wanted[LOOPS], launched)
            except BaseException:
                stop_all(launched)
                raise
        if stale:
            seconds, megabytes = monotonic() - started, self.memory() / 1e6
            report(f"control plane {self.version}: {', '.join(stale)} ready in {seconds:.1f} s, {megabytes:.0f} MB")

    def up_to_date(self, name: str, command: Command) -> bool:
        """Whether a process runs as it should."""
        return self.processes[name].up_to_date(command.arguments, command.inputs)

    def prepare(self, programs: Mapping[str, Path], report: Report) -> Settings:
        """Everything the processes need before they start."""
        if missing := [name for name in PROCESSES if name not in programs]:
            raise SandboxError(f"a control plane also needs {', '.join(missing)}")
        binary = binary_version(programs["kube-apiserver"])
        emulated = emulated_version(self.version, binary)
        ensure_certificates(self.directory / "certificates", self.service_cidr)
        write_private(self.directory / "tokens.csv", f'{self.token()},{USER},{USER},"system:masters"\n'.encode())
        alive = {name for name, process in self.processes.items() if process.find()}
        ports = choose_ports(
            self.directory / "ports.json", alive | ({"etcd-peer"} if "etcd" in alive else set()), report
        )
        full = self.version if self.version.count(".") > 1 else f"{self.version}.0"
        kubelet = binary if self.version == binary.rpartition(".")[0] else full
        return Settings(self.directory, ports, programs, self.cloud, self.service_cidr, emulated, kubelet, self.loops)

    def launch(
        self,
        stale: list[str],
        wanted: Mapping[str, Command],
        launched: list[Process],
        settings: Settings,
        report: Report,
    ) -> None:
        """Restart the named processes: etcd and the API server at once, their clients when it answers."""
        stop_all([self.processes[name] for name in reversed(self.processes) if name in stale])
        servers = [name for name in stale if name in SERVERS]
        clients = [name for name in stale if name not in (*SERVERS, LOOPS)]
        if stale:
            report(f"control plane {self.version}: starting {', '.join(stale)}")
        for names in (servers, clients):
            for name in names:
                self.run(name, wanted[name], launched)
            if names is servers and clients:
                self.wait({"kube-apiserver": self.api(settings, "/readyz")}, launched, "is ready")
                if "kwok" in clients:
                    self.release_leases(settings)

    def run(self, name: str, command: Command, launched: list[Process]) -> None:
        """Launch one process, and note it among those launched."""
        process = self.processes[name]
        launched.append(process)
        process.launch(command.arguments, command.inputs, command.environment)

    def release_leases(self, settings: Settings) -> None:
        """Drop a dead kwok's node leases, or the new one would leave those nodes alone until they expire."""
        request(self.api(settings, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"), "DELETE")

    def usable(self, settings: Settings) -> dict[str, "Endpoint"]:
        """What must answer before a cluster is handed out, by the name of who is waited for."""
        trust = self.trust()
        loops = ("kube-scheduler", "kube-controller-manager")
        return {
            "kube-apiserver": self.api(settings, "/readyz"),
            "kube-system": self.api(settings, "/api/v1/namespaces/kube-system"),
            # Made by the controller manager; no pod can be created in `default` before.
            "service accounts": self.api(settings, "/api/v1/namespaces/default/serviceaccounts/default"),
            **{name: Endpoint(settings.ports[name], "/healthz", trust) for name in loops},
            "kwok": Endpoint(settings.ports["kwok"], "/healthz", None),
        }

    def trust(self) -> ssl.SSLContext:
        """TLS with this control plane's authority and the administrator's certificate."""
        folder = self.directory / "certificates"
        context = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        context.load_cert_chain(folder / "admin.crt", folder / "admin.key")
        return context

    def api(self, settings: Settings, path: str) -> "Endpoint":
        """A path of the API server."""
        return Endpoint(settings.ports["kube-apiserver"], path, self.trust())

    def wait(self, endpoints: Mapping[str, "Endpoint"], launched: list[Process], what: str) -> None:
        """Wait until every endpoint answers 200. Raises SandboxError when a launched process ends or time is up."""
        until = monotonic() + START_TIMEOUT
        waiting = dict(endpoints)
        while waiting:
            for process in launched:
                if (code := process.exit_code()) is not None:
                    tail = process.log_tail()
                    raise SandboxError(f"{process.name} ended with exit code {code}; {process.log} ends with:\n{tail}")
            waiting = {name: endpoint for name, endpoint in waiting.items() if request(endpoint) != 200}
            if waiting and monotonic() > until:
                names = ", ".join(waiting)
                raise SandboxError(
                    f"control plane {self.version}: not every part {what} after {START_TIMEOUT:.0f} s (waiting for"
                    f" {names}); its logs are in {self.directory / 'logs'}"
                )
            if waiting:
                sleep(0.05)

    @contextmanager
    def locked(self, report: Report) -> Iterator[None]:
        """Keep a second start or stop of the same control plane out."""
        lock = FileLock(self.directory / "lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            report(f"waiting: another process starts or stops {self.directory.name}")
            lock.acquire()
        try:
            yield
        finally:
            lock.release()


class Endpoint:
    """An HTTP path on a loopback port; HTTPS when there is a TLS context."""

    def __init__(self, port: int, path: str, trust: ssl.SSLContext | None) -> None:
        self.port, self.path, self.trust = port, path, trust


def request(endpoint: Endpoint, method: str = "GET") -> int:
    """The status an endpoint answers with, 0 when nobody answers."""
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
    """The version of an API server's binary, such as "1.36.2". Raises SandboxError."""
    done = run([apiserver, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"v(\d+\.\d+\.\d+)", done.stdout)
    if not found:
        raise SandboxError(f"{apiserver} --version tells no version: {done.stdout}{done.stderr}")
    return found[1]


def emulated_version(wanted: str, binary: str) -> str | None:
    """The minor version a binary must be told to emulate, None for its own.

    Raises SandboxError for a version it cannot serve
    (https://kubernetes.io/docs/concepts/cluster-administration/compatibility-version/).
    """
    minor, own = int(wanted.split(".")[1]), int(binary.split(".")[1])
    if not own - OLDEST_EMULATED <= minor <= own:
        supported = f"1.{own - OLDEST_EMULATED} to 1.{own}"
        raise SandboxError(f"Kubernetes {wanted} cannot be emulated: the API server {binary} serves {supported}")
    return None if minor == own else f"1.{minor}"
