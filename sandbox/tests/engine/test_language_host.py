"""The host that runs the program, asked as the engine asks it."""

import runpy
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
import pulumi
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import (
    engine_pb2,
    engine_pb2_grpc,
    language_pb2,
    language_pb2_grpc,
    resource_pb2,
    resource_pb2_grpc,
)

from sandbox.base.home import PROJECT
from sandbox.engine.language_host import serving


class Engine(engine_pb2_grpc.EngineServicer, resource_pb2_grpc.ResourceMonitorServicer):
    """The engine as a program sees it: keeps what the program logs as an error, and the stack's outputs."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.outputs: list[str] = []

    def Log(self, request: Any, context: Any) -> Any:
        if request.severity == engine_pb2.ERROR:
            self.errors.append(request.message)
        return empty_pb2.Empty()

    def SetRootResource(self, request: Any, context: Any) -> Any:
        return engine_pb2.SetRootResourceResponse()

    def GetDeploymentInfo(self, request: Any, context: Any) -> Any:
        return resource_pb2.DeploymentInfo(supportedFeatures=resource_pb2.ResourceMonitorFeature.values())

    def RegisterResource(self, request: Any, context: Any) -> Any:
        return resource_pb2.RegisterResourceResponse(urn=f"urn:pulumi:dev::it::{request.type}::{request.name}")

    def RegisterResourceOutputs(self, request: Any, context: Any) -> Any:
        self.outputs += request.outputs.fields
        return empty_pb2.Empty()

    def SignalAndWaitForShutdown(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()


@contextmanager
def asking(engine: Engine) -> Iterator[str]:
    server = grpc.server(ThreadPoolExecutor(8))
    resource_pb2_grpc.add_ResourceMonitorServicer_to_server(engine, server)
    engine_pb2_grpc.add_EngineServicer_to_server(engine, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


def run(engine: Engine, program: Callable[[], None]) -> Any:
    with (
        asking(engine) as address,
        serving(program, lambda event: None) as host,
        grpc.insecure_channel(host) as channel,
    ):
        request = language_pb2.RunRequest(
            project="it", stack="dev", monitor_address=address, args=[address], config={"it:size": "3"}, parallel=4
        )
        return language_pb2_grpc.LanguageRuntimeStub(channel).Run(request)


def test_a_program_runs_with_the_stack_s_settings() -> None:
    engine, sizes = Engine(), list[int]()

    def program() -> None:
        sizes.append(pulumi.Config().require_int("size"))
        pulumi.export("size", 3)

    done = run(engine, program)
    assert (done.error, done.bail, engine.errors) == ("", False, [])
    assert (sizes, engine.outputs) == ([3], ["size"])


EXITED = "program exited with non-zero exit code: {}"


@pytest.mark.parametrize(
    ("raised", "logged", "error"),
    [
        (pulumi.RunError("release: is missing"), "release: is missing", EXITED.format(1)),
        (KeyError("pools"), "KeyError: 'pools'", ""),
        # The code of a program that has told the user: sdk/python/cmd/pulumi-language-python/main.go.
        (SystemExit(32), "", ""),
        (SystemExit(3), "", EXITED.format(3)),
    ],
    ids=repr,
)
def test_the_end_of_a_program_is_answered_as_pulumis_own_host_does(
    raised: BaseException, logged: str, error: str
) -> None:
    engine = Engine()

    def program() -> None:
        raise raised

    done = run(engine, program)
    # The engine prints `error` in words of its own beside what the program logged; `bail` asks it not to.
    assert (done.error, done.bail) == (error, not error)
    assert len(engine.errors) == bool(logged)
    assert logged in "".join(engine.errors)


def test_a_refused_stack_file_is_told_once() -> None:
    engine = Engine()

    def program() -> None:
        runpy.run_path(str(PROJECT / "__main__.py"), run_name="__main__")

    done = run(engine, program)
    assert (done.error, done.bail) == ("", True)
    (message,) = engine.errors
    assert message.startswith("1 problem in the stack's settings; nothing was declared.\n  config: holds no settings")
