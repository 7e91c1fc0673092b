"""Callers of a command's servers: only the user who started the command."""

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, provider_pb2_grpc

from sandbox.base.files import write_private
from sandbox.cloud import callers
from sandbox.cloud.callers import of_this_user, own_process_has, owner_by_kernel
from sandbox.cloud.servicer import serve
from sandbox.cluster.kubernetes_provider import KubernetesProvider
from sandbox.engine import language_host


@contextmanager
def connected() -> Iterator[tuple[callers.Address, callers.Address]]:
    """Yield the two ends of a connection of this process to itself."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, _ = server.accept()
        with accepted:
            yield client.getsockname(), client.getpeername()


def test_an_open_connection_belongs_to_the_owner_of_its_other_end() -> None:
    answers = (own_process_has, of_this_user, *([owner_by_kernel] if sys.platform == "linux" else []))
    with connected() as (local, remote):
        assert [ask(local, remote) for ask in answers] == [True, True, os.geteuid()][: len(answers)]
        for other in ((local[0], local[1] ^ 1), ("127.0.0.2", local[1])):
            assert not any(ask(other, remote) for ask in answers)
    # Nobody owns a closed connection, least of all root.
    assert not any(ask(local, remote) not in (None, False) for ask in answers)


@pytest.mark.parametrize("owner", [0, 1, 65534])
def test_a_connection_of_another_user_is_recognised(owner: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers.sys, "platform", "linux")
    monkeypatch.setattr(callers, "owner_by_kernel", lambda local, remote: owner)
    monkeypatch.setattr(callers.os, "geteuid", lambda: 65534)
    with connected() as (local, remote):
        assert of_this_user(local, remote) == (owner == 65534)


def answer_to(attach: str) -> str:
    """Return the answer of a provider's server at this address to a call."""
    with grpc.insecure_channel(f"127.0.0.1:{attach.rpartition(':')[2]}") as channel:
        try:
            provider_pb2_grpc.ResourceProviderStub(channel).GetPluginInfo(empty_pb2.Empty())
        except grpc.RpcError as refused:
            return str(refused.code().name)
    return "answered"


def test_a_provider_answers_only_this_user(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve({"kubernetes": KubernetesProvider}) as attach:
        assert answer_to(attach) == "answered"
        monkeypatch.setattr(callers, "of_this_user", lambda local, remote: False)
        assert answer_to(attach) == "PERMISSION_DENIED"


def test_the_program_runs_only_for_this_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program's resources contain its settings, also secret ones."""
    ran: list[str] = []
    with language_host.serving(lambda: ran.append("ran"), lambda event: None) as address:
        monkeypatch.setattr(callers, "of_this_user", lambda local, remote: False)
        with grpc.insecure_channel(address) as channel, pytest.raises(grpc.RpcError, match="PERMISSION_DENIED"):
            language_pb2_grpc.LanguageRuntimeStub(channel).Run(language_pb2.RunRequest())
    assert ran == []


def test_threads_may_write_one_private_file_at_once(tmp_path: Path) -> None:
    file, contents = tmp_path / "token", [str(n).encode() * 200_000 for n in range(8)]
    start = threading.Barrier(len(contents))
    failed: list[BaseException] = []

    def write(content: bytes) -> None:
        start.wait()
        try:
            for _ in range(20):
                write_private(file, content)
        except OSError as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=[content]) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert file.read_bytes() in contents
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "token").mkdir()
    with pytest.raises(OSError, match="token"):
        write_private(tmp_path / "token", b"content")
    assert [path.name for path in tmp_path.iterdir()] == ["token"]
