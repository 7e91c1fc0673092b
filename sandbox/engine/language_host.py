"""The language host: runs the program in this process when the engine asks for it, and takes the engine's events.

Pulumi's Automation API has a host as well, in a private module, and it lets the engine print each error of a program twice.
This one answers as Pulumi's own Python host does.
"""

import asyncio
import json
import logging
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi import RunError, log, runtime
from pulumi.automation.events import EngineEvent
from pulumi.runtime.proto import events_pb2_grpc, language_pb2, language_pb2_grpc, plugin_pb2
from pulumi.runtime.settings import get_monitor

from sandbox.cloud.callers import OwnUser
from sandbox.cloud.program_requests import ProgramRequests
from sandbox.engine.workspace import FAKE

OnEvent = Callable[[EngineEvent], object]

_LONGEST_MESSAGE = 400 << 20  # bytes; a program's settings or an event may exceed gRPC's default of 4 MB
_WORKERS = 8
_THREADS_PER_REGISTRATION = 4
_END_SECONDS = 5
_TOLD = 32
"""The exit code of a program that has told the user why it ends."""


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Serves one program to the engine. `root` is the folder of the stack file as the user wrote it."""

    def __init__(
        self, program: Callable[[], None], root: Path | None = None, requests: ProgramRequests | None = None
    ) -> None:
        self._program, self._root, self._requests = program, root, requests

    def GetRequiredPlugins(self, request: Any, context: Any) -> Any:
        return language_pb2.GetRequiredPluginsResponse()

    def GetRequiredPackages(self, request: Any, context: Any) -> Any:
        return language_pb2.GetRequiredPackagesResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo()

    def Run(self, request: Any, context: Any) -> Any:
        # Pulumi keeps a run's settings in context variables: the copy ends with the run.
        return copy_context().run(self._run, request)

    def _run(self, request: Any) -> Any:
        """Run the program, and answer as Pulumi's own host does.

        That ends the program's process with 1 after a RunError and with 32 after any other exception, having told of both, or with
        the program's own code (sdk/python/cmd/pulumi-language-python-exec); it answers `bail` for 32, and an error for others
        (sdk/python/cmd/pulumi-language-python/main.go).
        """
        code: Any = _TOLD
        runtime.reset_options(
            project=request.project,
            stack=request.stack,
            root_directory=str(self._root or request.info.root_directory),
            organization=request.organization or "organization",
            parallel=request.parallel,
            preview=request.dryRun,
            monitor_address=request.monitor_address,
            engine_address=request.args[0] if request.args else "",
        )
        config = dict(request.config)
        if self._requests and (monitor := get_monitor()):
            self._requests.watch(monitor, config)
        # The engine knows no secrets: the workspace has replaced them.
        secret_keys = [key for key, value in config.items() if FAKE in value]
        runtime.set_all_config(config, [*request.configSecretKeys, *secret_keys])
        # Tasks of a program that failed end with errors nobody reads: the first error is reported below.
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        with asyncio.Runner() as runner:
            threads = max(request.parallel, 1) * _THREADS_PER_REGISTRATION
            runner.get_loop().set_default_executor(ThreadPoolExecutor(threads))
            try:
                runner.run(runtime.run_in_stack(self._program))
            except RunError as error:
                log.error(str(error))
                code = 1
            except SystemExit as ended:
                code = ended.code
            except grpc.RpcError as error:
                # An engine that ends is unavailable: nobody reads the message.
                if error.code() != grpc.StatusCode.UNAVAILABLE:
                    log.error(f"RPC error: {error.details()}")
            except BaseException:
                log.error(f"the program failed with an unhandled exception:\n{traceback.format_exc()}")
            else:
                code = 0
        if code in (0, None):
            return language_pb2.RunResponse()
        if code == _TOLD:
            return language_pb2.RunResponse(bail=True)
        return language_pb2.RunResponse(error=f"program exited with non-zero exit code: {code}")


class _EventLog(events_pb2_grpc.EventsServicer):
    """Passes the engine's events on."""

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event

    def StreamEvents(self, request_iterator: Iterator[Any], context: Any) -> Any:
        for request in request_iterator:
            try:
                self._on_event(EngineEvent.from_json(json.loads(request.event)))
            except Exception as defect:
                # The engine would end in the middle of its work.
                warnings.warn(f"an event of the engine could not be read: {defect!r}", stacklevel=1)
        return empty_pb2.Empty()


@contextmanager
def serving(
    program: Callable[[], None],
    on_event: OnEvent,
    root: Path | None = None,
    requests: ProgramRequests | None = None,
) -> Iterator[str]:
    """Yield the address at which the engine finds the program and sends its events. All events are taken when this ends.

    `root`: the folder of the stack file as the user wrote it; `requests` gets those of the program.
    """
    workers = ThreadPoolExecutor(max_workers=_WORKERS)
    callers = OwnUser()
    server = grpc.server(
        workers,
        interceptors=[callers],
        options=[
            ("grpc.max_receive_message_length", _LONGEST_MESSAGE),
            # Calls wait for as long as the program computes.
            ("grpc.server_max_unrequested_time_in_server", 30 * 60),
        ],
    )
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageHost(program, root, requests), server)
    events_pb2_grpc.add_EventsServicer_to_server(_EventLog(on_event), server)
    callers.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{callers.port}"
    finally:
        server.stop(grace=_END_SECONDS).wait()
        workers.shutdown()
