"""Loopback ports of one control plane: chosen once and remembered, so that a restart keeps the server's address."""

import json
import random
import socket
from collections.abc import Collection
from pathlib import Path
from time import monotonic, sleep

import psutil

from sandbox.base.errors import SandboxError
from sandbox.base.files import write_private
from sandbox.base.notices import Notify

FILE = "ports.json"
"""The name of the file, in a control plane's folder, that remembers the ports."""

NAMES = ("kube-apiserver", "etcd", "etcd-peer", "kube-scheduler", "kube-controller-manager", "kwok")
# Below the system's range for outgoing connections (from 32768 on Linux, from 49152 on macOS), which would occupy a remembered
# port while the control plane is down.
RANGE = range(20000, 32000)
PATIENCE = 2.0  # seconds


def read_ports(file: Path) -> dict[str, int]:
    """Return the remembered ports by name; empty before the first start."""
    try:
        ports: dict[str, int] = json.loads(file.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return ports if set(ports) == set(NAMES) else {}


def choose_ports(file: Path, held: Collection[str], notify: Notify) -> dict[str, int]:
    """Return the ports to use, remembered in `file`.

    A running process of this control plane listens on those in `held`. Another port that is taken by now is replaced, with a
    notice. Raises SandboxError when no port is free.
    """
    ports, taken = read_ports(file), taken_ports(file, held)
    for name in NAMES:
        old = ports.get(name)
        if old and old not in taken:
            continue
        ports[name] = free_port(set(ports.values()))
        if old:
            consequence = "; kubeconfigs written before name the old one" if name == "kube-apiserver" else ""
            notify(f"port {old} of {name} is taken by {owner(old)}: using {ports[name]}{consequence}")
    write_private(file, json.dumps(ports, indent=1).encode())
    return ports


def taken_ports(file: Path, held: Collection[str]) -> list[int]:
    """Return the remembered ports that another process has; a process of this control plane listens on those in `held`."""
    return [port for name, port in read_ports(file).items() if name not in held and not becomes_free(port)]


def is_free(port: int) -> bool:
    """Return whether a server may listen on this loopback port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as Go's servers do
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def becomes_free(port: int) -> bool:
    """Return whether a port is free now or within PATIENCE: a process just killed keeps its port while it ends."""
    until = monotonic() + PATIENCE
    while not (free := is_free(port)) and monotonic() < until:
        sleep(0.05)
    return free


def free_port(taken: Collection[int]) -> int:
    """Return a random free port, so that control planes started together rarely pick the same."""
    for port in random.sample(RANGE, 500):
        if port not in taken and is_free(port):
            return port
    raise SandboxError(f"no free port on 127.0.0.1 between {RANGE.start} and {RANGE.stop}")


def owner(port: int) -> str:
    """Return the process that listens on a port, as far as this user may see it."""
    try:
        for connection in psutil.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN and connection.laddr.port == port and connection.pid:
                return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})"
    except psutil.Error:
        pass
    return "another process"
