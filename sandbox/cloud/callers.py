"""Callers of the servers that a command has for its engine: this user alone.

The servers listen on the loopback address, where every user of the machine can call, and would hand out a cluster administrator's
token. The engine gets a port and nothing else (`PULUMI_DEBUG_PROVIDERS=name:port`), so it cannot show a secret; but the kernel
knows the owner of the other end of a connection. The servers answer this user alone; this user's programs can read the sandbox's
files anyway.
"""

import os
import socket
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import grpc
import psutil

_ESTABLISHED = 1
_MAPPED = "::ffff:"
"""Before an IPv4 address that a socket for both kinds has, as gRPC's own clients do."""

# Of linux/netlink.h, linux/sock_diag.h and linux/inet_diag.h
_NETLINK_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST = 4, 20, 1
_HEADER = struct.Struct("=IHHII")
_QUESTION = struct.Struct("=BBBBI")
_ENDS = struct.Struct("!HH4s12x4s12x4x8s")
_ANSWER = struct.Struct("=xB2x48x12xI4x")
_ANY = b"\xff" * 8

Address = tuple[str, int]
"""An IPv4 address and a port."""


class OwnUser(grpc.ServerInterceptor):  # type: ignore[misc]
    """Refuses calls of other users to a server on this port, which is known once the server listens."""

    port = 0

    def intercept_service(
        self, continuation: Callable[[Any], grpc.RpcMethodHandler | None], handler_call_details: Any
    ) -> grpc.RpcMethodHandler | None:
        handler: Any = continuation(handler_call_details)
        if handler is None:
            return None
        # Of the four kinds of calls a handler has one.
        kinds = ("unary_unary", "unary_stream", "stream_unary", "stream_stream")
        kind = next(kind for kind in kinds if getattr(handler, kind))
        answer: Callable[[Any, grpc.ServicerContext], Any] = getattr(handler, kind)

        def checked(request: Any, context: grpc.ServicerContext) -> Any:
            # At every call: a connection that has ended leaves its port to others.
            if not of_this_user(_address(context.peer()), ("127.0.0.1", self.port)):
                _refuse(context)
            return answer(request, context)

        make = getattr(grpc, f"{kind}_rpc_method_handler")
        checked_handler: grpc.RpcMethodHandler = make(
            checked, handler.request_deserializer, handler.response_serializer
        )
        return checked_handler


def _refuse(context: grpc.ServicerContext) -> NoReturn:
    context.abort(grpc.StatusCode.PERMISSION_DENIED, "this server answers the user alone who has started it")
    raise AssertionError("abort returned")


def _address(peer: str) -> Address:
    """Return the address in `ipv4:127.0.0.1:50123`, as gRPC names who calls."""
    _, host, port = peer.split(":")
    return host, int(port)


def of_this_user(local: Address, remote: Address) -> bool:
    """Return whether a process of this user has the end of an open connection that is local to it."""
    owner = owner_by_kernel(local, remote) if sys.platform == "linux" else None
    return own_process_has(local, remote) if owner is None else owner == os.geteuid()


def owner_by_kernel(local: Address, remote: Address) -> int | None:
    """Return the owner of the connection by Linux (the page sock_diag.7); None for no open connection, and where the
    kernel does not tell. The file /proc/net/tcp has the same, and takes a thousand times as long to read on a busy
    machine.
    """
    ends = _ENDS.pack(local[1], remote[1], socket.inet_aton(local[0]), socket.inet_aton(remote[0]), _ANY)
    question = _QUESTION.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF) + ends
    header = _HEADER.pack(_HEADER.size + len(question), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 0, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
            kernel.send(header + question)
            answer = kernel.recv(4096)
    except OSError:
        return None
    if _HEADER.unpack_from(answer)[1] != _SOCK_DIAG_BY_FAMILY:
        return None
    state, user = _ANSWER.unpack_from(answer, _HEADER.size)
    # A closed connection is nobody's, and is shown as root's.
    return int(user) if state == _ESTABLISHED else None


def own_process_has(local: Address, remote: Address) -> bool:
    """Return whether this process or one that it has started has that end: what every system tells."""
    return (local, remote) in _ends(psutil.Process())


def _ends(process: psutil.Process) -> Iterator[tuple[Address, Address]]:
    for member in (process, *process.children(recursive=True)):
        try:
            for connection in member.net_connections("tcp"):
                if connection.status == psutil.CONN_ESTABLISHED:
                    yield _plain(connection.laddr), _plain(connection.raddr)
        except psutil.Error:
            continue  # it has ended


def _plain(address: Any) -> Address:
    return address.ip.removeprefix(_MAPPED), address.port
