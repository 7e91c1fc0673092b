"""Command lines of a control plane's processes, and the files they read."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from sandbox.base.files import write_private
from sandbox.cluster import plugins
from sandbox.cluster.control_plane.plane import PROVISIONER, SOCKET, ControlPlane, client_credentials, kubeconfig

ETCD_QUOTA = 512 << 20  # bytes; an emulated cluster holds a few thousand small objects
NODE_LEASE = 40  # seconds, a kubelet's default (nodeLeaseDurationSeconds in KubeletConfiguration)
ISSUER = "https://kubernetes.default.svc.cluster.local"
CHECKOUT = Path(__file__).resolve().parents[3]

_LEFT_OUT = (
    "service-lb-controller",
    "node-route-controller",
    "cloud-node-lifecycle-controller",
    "persistentvolume-attach-detach-controller",
)
_BY_TIME = ("node-lifecycle-controller", "taint-eviction-controller", "pod-garbage-collector-controller")
"""The controllers that act some seconds after a node is gone or silent."""
_UNLIMITED = 2000
"""Requests a second, where an hour of work is done in minutes."""


@dataclass(frozen=True)
class Command:
    """A command line, the files whose change calls for a restart, and environment variables."""

    arguments: list[str]
    inputs: list[Path] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """The settings of all command lines. `emulated` is a minor version such as "1.35", None for the binary's own."""

    plane: ControlPlane
    ports: Mapping[str, int]
    programs: Mapping[str, Path]
    emulated: str | None
    kubelet_version: str

    def collector(self, most: int = 300) -> dict[str, str]:
        """Return the settings of Go's garbage collector: little memory, or as GOGC says; in a drill less work, up to `most` MiB."""
        if self.plane.timed:
            return {"GOGC": "400", "GOMEMLIMIT": f"{most}MiB"}
        return {"GOGC": os.environ.get("GOGC", "50")}

    @property
    def certificates(self) -> Path:
        """The folder of certificates and keys."""
        return self.plane.directory / "certificates"

    @property
    def server(self) -> str:
        """The API server's URL."""
        return f"https://127.0.0.1:{self.ports['kube-apiserver']}"

    def kubeconfig(self, name: str) -> Path:
        """Return the kubeconfig of one of the control plane's own clients."""
        return self.plane.directory / "kubeconfigs" / f"{name}.kubeconfig"

    @property
    def scheduling(self) -> Path:
        """The scheduler's configuration, where it has one."""
        return self.plane.directory / "scheduler.json"

    def serving(self, name: str) -> list[str]:
        """Return the common flags of Kubernetes' servers."""
        emulated = [f"--emulated-version={self.emulated}"] if self.emulated else []
        return [
            "--bind-address=127.0.0.1",
            f"--secure-port={self.ports[name]}",
            f"--tls-cert-file={self.certificates / 'serving.crt'}",
            f"--tls-private-key-file={self.certificates / 'serving.key'}",
            "--profiling=false",
            *emulated,
        ]


def write_inputs(settings: Settings) -> list[Path]:
    """Write the kubeconfigs and kwok's stages; returns the stages' files."""
    for name in ("admin", "kube-controller-manager", "kube-scheduler", "kwok"):
        path = settings.kubeconfig(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        credentials = client_credentials(settings.certificates, name)
        text = kubeconfig(settings.plane.directory.name, settings.server, settings.certificates, name, credentials)
        write_private(path, text.encode())
    if settings.plane.timed:
        write_private(settings.scheduling, json.dumps(_scheduling(settings)).encode())
    stages = []
    folder = settings.plane.directory / "stages"
    folder.mkdir(exist_ok=True)
    for source in sorted(files(__package__).joinpath("stages").iterdir(), key=lambda entry: entry.name):
        if source.name.endswith(".yaml"):
            text = source.read_text().replace("KUBELET_VERSION", f"v{settings.kubelet_version}")
            write_private(folder / source.name, text.encode())
            stages.append(folder / source.name)
    return stages


def commands(settings: Settings, stages: list[Path]) -> dict[str, Command]:
    """Return the command lines by name, each after those it needs."""
    autoscaled = {"autoscaler": autoscaler(settings)} if settings.plane.loops else {}
    kubelets = {} if settings.plane.timed else {"kwok": kwok(settings, stages)}
    return {
        "etcd": etcd(settings),
        "kube-apiserver": apiserver(settings),
        "kube-scheduler": scheduler(settings),
        "kube-controller-manager": controllers(settings),
        **kubelets,
        **autoscaled,
        **({PROVISIONER: provisioner(settings, settings.plane.provisioner)} if settings.plane.provisioner else {}),
    }


def etcd(settings: Settings) -> Command:
    """Return the flags of one member. Without fsync: data survives a killed process and an orderly reboot, not a power cut."""
    client, peer = (f"https://127.0.0.1:{settings.ports[name]}" for name in ("etcd", "etcd-peer"))
    arguments = [
        f"--data-dir={settings.plane.directory / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        # The store has every Secret: only holders of the sandbox's certificates may read it, not every user of the machine.
        *_etcd_certificates(settings, ""),
        # There is no other member, but the port is open, and a member gets all data.
        *_etcd_certificates(settings, "peer-"),
        "--enable-grpc-gateway=false",
        "--unsafe-no-fsync",
        f"--quota-backend-bytes={ETCD_QUOTA}",
        "--snapshot-count=5000",
        "--log-level=warn",
    ]
    return Command([str(settings.programs["etcd"]), *arguments])


def _etcd_certificates(settings: Settings, prefix: str) -> list[str]:
    certificates = settings.certificates
    return [
        f"--{prefix}cert-file={certificates / 'serving.crt'}",
        f"--{prefix}key-file={certificates / 'serving.key'}",
        f"--{prefix}trusted-ca-file={certificates / 'ca.crt'}",
        f"--{prefix}client-cert-auth",
    ]


def apiserver(settings: Settings) -> Command:
    """Return the API server, without the reconciler of the `kubernetes` endpoints, which may not be loopback addresses."""
    certificates = settings.certificates
    arguments = [
        *settings.serving("kube-apiserver"),
        f"--etcd-servers=https://127.0.0.1:{settings.ports['etcd']}",
        f"--etcd-cafile={certificates / 'ca.crt'}",
        f"--etcd-certfile={certificates / 'etcd-client.crt'}",
        f"--etcd-keyfile={certificates / 'etcd-client.key'}",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        f"--service-cluster-ip-range={settings.plane.service_cidr}",
        "--authorization-mode=Node,RBAC",
        "--anonymous-auth=false",
        f"--client-ca-file={certificates / 'ca.crt'}",
        f"--token-auth-file={settings.plane.directory / 'tokens.csv'}",
        f"--service-account-issuer={ISSUER}",
        f"--service-account-key-file={certificates / 'service-accounts.pub'}",
        f"--service-account-signing-key-file={certificates / 'service-accounts.key'}",
        # Kubernetes' pkg/kubeapiserver/options/plugins.go fixes the order they run in.
        f"--enable-admission-plugins={','.join(plugins.plugin(settings.plane.cloud).admission)}",
        "--allow-privileged=true",
    ]
    if settings.plane.timed:
        # The history that the cache keeps for watchers is 75 seconds long (k8s.io/apiserver, watch_cache.go): ten thousand pods
        # in a drill, and half of the server's work was to collect garbage beside them. Its few watchers read the store.
        arguments.append("--watch-cache-sizes=pods#0")
    return Command(
        [str(settings.programs["kube-apiserver"]), *arguments],
        [settings.plane.directory / "tokens.csv"],
        settings.collector(450),
    )


def scheduler(settings: Settings) -> Command:
    """Return the scheduler, with Kubernetes' default profile, as both clouds run it."""
    kubeconfig = settings.kubeconfig("kube-scheduler")
    arguments = settings.serving("kube-scheduler")
    if not settings.plane.timed:
        arguments += [f"--kubeconfig={kubeconfig}", "--leader-elect=false"]
        return Command([str(settings.programs["kube-scheduler"]), *arguments], [kubeconfig], settings.collector())
    configuration = settings.scheduling
    arguments.append(f"--config={configuration}")
    inputs = [kubeconfig, configuration]
    return Command([str(settings.programs["kube-scheduler"]), *arguments], inputs, settings.collector())


def _scheduling(settings: Settings) -> dict[str, object]:
    """Return the configuration of a timed plane's scheduler (kube-scheduler-config.v1).

    It looks at one node after the other: of nodes that suit a pod equally the first is taken, and with several at a time the first
    differs from run to run (kubernetes v1.36.2, schedule_one.go, findNodesThatPassFilters).
    """
    connection = {"kubeconfig": str(settings.kubeconfig("kube-scheduler")), "qps": _UNLIMITED, "burst": _UNLIMITED}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": connection,
        "leaderElection": {"leaderElect": False},
        "parallelism": 1,
    }


def controllers(settings: Settings) -> Command:
    """Return every controller but the cloud's own loops, each under its own service account, as in a real cluster."""
    kubeconfig = settings.kubeconfig("kube-controller-manager")
    certificates = settings.certificates
    arguments = [
        *settings.serving("kube-controller-manager"),
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--use-service-account-credentials",
        f"--service-account-private-key-file={certificates / 'service-accounts.key'}",
        f"--root-ca-file={certificates / 'ca.crt'}",
        f"--service-cluster-ip-range={settings.plane.service_cidr}",
        # A driver on the node confirms that a volume is attached, and simulated nodes run none.
        f"--controllers=*,{','.join(f'-{name}' for name in _LEFT_OUT + (_BY_TIME if settings.plane.timed else ()))}",
        f"--kube-api-qps={_UNLIMITED if settings.plane.timed else 100}",
        f"--kube-api-burst={_UNLIMITED if settings.plane.timed else 200}",
    ]
    if settings.plane.timed:
        # One after the other: who comes first gets a node first, in every run.
        kinds = ("job", "deployment", "replicaset", "statefulset")
        arguments += [f"--concurrent-{kind}-syncs=1" for kind in kinds]
    return Command([str(settings.programs["kube-controller-manager"]), *arguments], [kubeconfig], settings.collector())


def kwok(settings: Settings, stages: list[Path]) -> Command:
    """Return kwok, which plays the kubelet of every node; https://kwok.sigs.k8s.io/docs/user/stages-configuration/."""
    kubeconfig = settings.kubeconfig("kwok")
    arguments = [
        f"--kubeconfig={kubeconfig}",
        "--manage-all-nodes=true",
        f"--node-lease-duration-seconds={NODE_LEASE}",
        f"--server-address=127.0.0.1:{settings.ports['kwok']}",
        *(f"--config={stage}" for stage in stages),
    ]
    return Command([str(settings.programs["kwok"]), *arguments], [kubeconfig, *stages], settings.collector())


def autoscaler(settings: Settings) -> Command:
    """Return the cloud's own loops (see `sandbox.autoscaler`), in this Python."""
    server = [f"--directory={settings.plane.directory}", f"--port={settings.ports['kube-apiserver']}"]
    environment = {"PYTHONPATH": str(CHECKOUT)}
    if sys.pycache_prefix:
        environment["PYTHONPYCACHEPREFIX"] = os.fspath(sys.pycache_prefix)
    return Command([sys.executable, "-P", "-m", "sandbox.autoscaler", *server, *settings.plane.loops], [], environment)


def provisioner(settings: Settings, given: Mapping[str, Any]) -> Command:
    """Return the program that makes nodes, as the cloud runs it."""
    kubeconfig = settings.kubeconfig("admin")
    environment = {
        **given["environment"],
        "KUBECONFIG": str(kubeconfig),
        "DISABLE_LEADER_ELECTION": "true",
        # Any free port: nobody asks there.
        "METRICS_PORT": "0",
        "HEALTH_PROBE_PORT": "0",
        **settings.collector(),
    }
    program = str(settings.programs[given["program"]])
    socket = settings.plane.directory / SOCKET
    return Command([program, "run", f"--azure={socket}", *given["arguments"]], [kubeconfig], environment)
