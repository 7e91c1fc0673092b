"""The language host: runs the program in this process when the engine asks for it, and takes the engine's events.

Pulumi's Automation API has a host as well, in a private module, and it lets the engine print each error of a program twice.
This one reports an error itself and answers `bail`, "True if an error happened, but it was reported to the user"
(sdk/proto/pulumi/language.proto, RunResponse), as Pulumi's own Python host does.
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
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi import RunError, log, runtime
from pulumi.automation.events import EngineEvent
from pulumi.runtime.proto import events_pb2_grpc, language_pb2, language_pb2_grpc, plugin_pb2

from sandbox.cloud.callers import OwnUser

OnEvent = Callable[[EngineEvent], object]

_LONGEST_MESSAGE = 400 << 20  # bytes; a program's settings or an event may exceed gRPC's default of 4 MB
_WORKERS = 8
_THREADS_PER_REGISTRATION = 4
_END_SECONDS = 5


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Serves one program to the engine."""

    def __init__(self, program: Callable[[], None]) -> None:
        self._program = program

    def GetRequiredPlugins(self, request: Any, context: Any) -> Any:
        return language_pb2.GetRequiredPluginsResponse()

    def GetRequiredPackages(self, request: Any, context: Any) -> Any:
        return language_pb2.GetRequiredPackagesResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo()

    def Run(self, request: Any, context: Any) -> Any:
        # Pulumi keeps a run's settings in context variables: the copy ends with the run.
        return language_pb2.RunResponse(bail=not copy_context().run(self._run, request))

    def _run(self, request: Any) -> bool:
        """Run the program; False when it failed, which the engine's log then tells."""
        runtime.reset_options(
            project=request.project,
            stack=request.stack,
            organization=request.organization or "organization",
            parallel=request.parallel,
            preview=request.dryRun,
            monitor_address=request.monitor_address,
            engine_address=request.args[0] if request.args else "",
        )
        runtime.set_all_config(dict(request.config), list(request.configSecretKeys))
        # Tasks of a program that failed end with errors nobody reads: the first error is reported below.
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        with asyncio.Runner() as runner:
            threads = max(request.parallel, 1) * _THREADS_PER_REGISTRATION
            runner.get_loop().set_default_executor(ThreadPoolExecutor(threads))
            try:
                runner.run(runtime.run_in_stack(self._program))
            except RunError as error:
                log.error(str(error))
            except grpc.RpcError as error:
                # An engine that ends is unavailable: nobody reads the message.
                if error.code() != grpc.StatusCode.UNAVAILABLE:
                    log.error(f"RPC error: {error.details()}")
            except BaseException:
                log.error(f"the program failed with an unhandled exception:\n{traceback.format_exc()}")
            else:
                return True
        return False


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
def serving(program: Callable[[], None], on_event: OnEvent) -> Iterator[str]:
    """The address at which the engine finds the program and sends its events. All events are taken when this ends."""
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
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageHost(program), server)
    events_pb2_grpc.add_EventsServicer_to_server(_EventLog(on_event), server)
    callers.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{callers.port}"
    finally:
        server.stop(grace=_END_SECONDS).wait()
        workers.shutdown()
