"""Puts a `Provider` behind the engine's gRPC protocol, on a loopback port the engine attaches to.

The port is named to the engine by `PULUMI_DEBUG_PROVIDERS=name:port`. Secrets and outputs are not accepted from it: it then
sends plain values, and itself keeps an output secret whose input of the same name was.

Source: https://github.com/pulumi/pulumi/blob/master/proto/pulumi/provider.proto

Deliberately does not: components (`Construct`, `Call`), parameterised packages, assets.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import metadata
from threading import Lock
from typing import Any, NoReturn

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2

# The SDK's own `google.rpc.Status`: a process cannot load googleapis' beside it, and a program may use `pulumi.provider`.
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

from sandbox.base.errors import SandboxError
from sandbox.cloud.callers import OwnUser
from sandbox.cloud.program_requests import ProgramRequests
from sandbox.cloud.provider import (
    Diff,
    Failure,
    InitFailed,
    Kind,
    Props,
    Provider,
    Refused,
    Resource,
    is_secret,
    top_level,
)

AroundCreate = Callable[[str], AbstractContextManager[None]]


def _plain(struct: struct_pb2.Struct) -> Props:
    def plain(value: Any) -> Any:
        # Struct has only doubles; Kubernetes and Azure tell 1 from 1.0.
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, dict):
            # Configure is sent secrets in any case: it is what tells the engine whether to send them.
            if is_secret(value):
                return plain(value["value"])
            return {k: plain(v) for k, v in value.items()}
        if isinstance(value, list):
            return [plain(v) for v in value]
        return value

    return {key: plain(value) for key, value in json_format.MessageToDict(struct).items()}


def _struct(value: Mapping[str, Any]) -> struct_pb2.Struct:
    return json_format.ParseDict(dict(value), struct_pb2.Struct())


class _Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """One gRPC service for all instances of a provider: the engine opens a connection for each, so the peer names it."""

    def __init__(
        self, factory: Callable[[], Provider], around_create: AroundCreate, requests: ProgramRequests | None
    ) -> None:
        self._factory, self._around_create, self._requests = factory, around_create, requests
        self._version = metadata.version(factory().sdk)
        self._instances: dict[str, Provider] = {}
        self._lock = Lock()

    def _of(self, context: grpc.ServicerContext) -> Provider:
        peer = context.peer()
        with self._lock:
            if peer not in self._instances:
                self._instances[peer] = self._factory()
            return self._instances[peer]

    def close(self) -> None:
        """End the connections of all instances."""
        for instance in self._instances.values():
            instance.close()

    @contextmanager
    def _answers(self, context: grpc.ServicerContext) -> Iterator[None]:
        try:
            yield
        except Refused as refused:
            context.abort(grpc.StatusCode.UNKNOWN, str(refused))
        except InitFailed as failed:
            self._init_failed(context, failed)
        except OSError as failed:
            # A full disk, or the answer of an emulated cloud that was lost: how the request ended is unknown.
            context.abort(grpc.StatusCode.UNKNOWN, _what(failed))
        except SandboxError as failed:
            context.abort(grpc.StatusCode.UNKNOWN, str(failed))

    def _require(self, context: grpc.ServicerContext, what: str, asked: Callable[[ProgramRequests], bool]) -> None:
        """Refuse what is not among the program's requests; without a program's requests refuse nothing."""
        if self._requests and not asked(self._requests):
            context.abort(
                grpc.StatusCode.PERMISSION_DENIED,
                f"{what}: the program has not asked for this; somebody else calls the engine of this command",
            )

    @staticmethod
    def _init_failed(context: grpc.ServicerContext, failed: InitFailed) -> NoReturn:
        status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(failed))
        status.details.add().Pack(
            provider_pb2.ErrorResourceInitFailed(
                id=failed.id, properties=_struct(failed.outputs), reasons=failed.reasons
            )
        )
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
        context.abort(grpc.StatusCode.UNKNOWN, str(failed))
        raise AssertionError("abort returned")

    def Handshake(self, request: Any, context: Any) -> Any:
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=False, accept_resources=False)

    def Attach(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=self._version)

    def CheckConfig(self, request: Any, context: Any) -> Any:
        package = request.type.rpartition(":")[2]
        self._require(context, request.urn, lambda program: program.configures(package, request.news))
        with self._answers(context):
            failures = self._of(context).check_config(_plain(request.news))
            return provider_pb2.CheckResponse(inputs=request.news, failures=_failures(failures))

    def DiffConfig(self, request: Any, context: Any) -> Any:
        with self._answers(context):
            old = _plain(request.old_inputs) or _plain(request.olds)
            return _diff_response(self._of(context).diff_config(old, _plain(request.news)))

    def Configure(self, request: Any, context: Any) -> Any:
        with self._answers(context):
            self._of(context).configure(_plain(request.args))
            return provider_pb2.ConfigureResponse(acceptSecrets=False, supportsPreview=True)

    def Check(self, request: Any, context: Any) -> Any:
        self._require(context, request.urn, lambda program: program.checks(request.type, request.name, request.news))
        with self._answers(context):
            inputs, failures = self._of(context).check(_resource(request, inputs=request.news, old_inputs=request.olds))
            return provider_pb2.CheckResponse(inputs=_struct(inputs), failures=_failures(failures))

    def Diff(self, request: Any, context: Any) -> Any:
        with self._answers(context):
            return _diff_response(
                self._of(context).diff(
                    _resource(request, inputs=request.news, old_inputs=request.old_inputs, old_outputs=request.olds)
                )
            )

    def Create(self, request: Any, context: Any) -> Any:
        with self._answers(context):
            with nullcontext() if request.preview else self._around_create(request.urn):
                id, outputs = self._of(context).create(_resource(request, inputs=request.properties))
            return provider_pb2.CreateResponse(id=id, properties=_struct(outputs))

    def Read(self, request: Any, context: Any) -> Any:
        # A read that a program asks for has its properties twice, an import has none; a refresh has inputs and outputs of the
        # state (pulumi v3.258.0, pkg/resource/deploy/step.go, ReadStep, ImportStep, RefreshStep).
        if request.inputs == request.properties:
            self._require(context, request.urn, lambda program: program.reads(request.type, request.name, request.id))
        with self._answers(context):
            provider = self._of(context)
            resource = _resource(request, old_inputs=request.inputs, old_outputs=request.properties)
            result = provider.read(resource)
            if result is None:
                return provider_pb2.ReadResponse(id="")
            return provider_pb2.ReadResponse(
                id=provider.id_read(resource), inputs=_struct(result[0]), properties=_struct(result[1])
            )

    def Update(self, request: Any, context: Any) -> Any:
        with self._answers(context):
            outputs = self._of(context).update(
                _resource(request, inputs=request.news, old_inputs=request.old_inputs, old_outputs=request.olds)
            )
            return provider_pb2.UpdateResponse(properties=_struct(outputs))

    def Delete(self, request: Any, context: Any) -> Any:
        with self._answers(context):
            self._of(context).delete(_resource(request, old_inputs=request.old_inputs, old_outputs=request.properties))
            return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Any) -> Any:
        self._require(context, request.tok, lambda program: program.invokes(request.tok, request.args))
        with self._answers(context):
            result = self._of(context).invoke(request.tok, _plain(request.args))
            response = provider_pb2.InvokeResponse()
            # `return` is a keyword of Python.
            getattr(response, "return").CopyFrom(_struct(result))
            return response

    def Cancel(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()


def _what(failed: OSError) -> str:
    """Return the text of an error of this machine, without Python's numbers."""
    return f"{failed.strerror}: {failed.filename or 'a file of the sandbox'}" if failed.errno else str(failed)


def _resource(request: Any, **values: struct_pb2.Struct) -> Resource:
    """Return the resource a request is about; not every request has an id or tells whether it is a preview's."""
    id, preview = getattr(request, "id", ""), getattr(request, "preview", False)
    plain = {name: _plain(value) for name, value in values.items()}
    return Resource(request.type, request.name, request.urn, id, preview=preview, **plain)


def _failures(failures: Iterable[Failure]) -> list[Any]:
    return [provider_pb2.CheckFailure(property=f.property, reason=f.reason) for f in failures]


def _diff_response(diff: Diff) -> Any:
    kinds = {Kind.ADD: "ADD", Kind.DELETE: "DELETE", Kind.UPDATE: "UPDATE"}
    detailed = {
        path: provider_pb2.PropertyDiff(
            kind=getattr(provider_pb2.PropertyDiff, kinds[kind] + ("_REPLACE" if path in diff.replaces else "")),
            inputDiff=True,
        )
        for path, kind in diff.changes.items()
    }
    return provider_pb2.DiffResponse(
        changes=provider_pb2.DiffResponse.DIFF_SOME if diff.changes else provider_pb2.DiffResponse.DIFF_NONE,
        diffs=sorted({top_level(path) for path in diff.changes}),
        replaces=sorted({top_level(path) for path in diff.replaces}),
        deleteBeforeReplace=diff.delete_before_replace,
        detailedDiff=detailed,
        hasDetailedDiff=bool(detailed),
    )


@contextmanager
def serve(
    factories: Mapping[str, Callable[[], Provider]],
    around_create: AroundCreate = lambda urn: nullcontext(),
    requests: ProgramRequests | None = None,
) -> Iterator[str]:
    """Serve each named provider on a free loopback port; yields the value for `PULUMI_DEBUG_PROVIDERS`.

    `around_create` gets the URN of each resource that is made, and sees how that ends. With `requests`, what the program did not
    ask for is refused. Requests that nobody waits for any more, because the engine was killed, are finished before this ends, as
    a cloud finishes them.
    """
    servers: list[grpc.Server] = []
    servicers: list[_Servicer] = []
    workers: list[ThreadPoolExecutor] = []
    attach: list[str] = []
    try:
        for name, factory in factories.items():
            workers.append(ThreadPoolExecutor(max_workers=16, thread_name_prefix=name))
            callers = OwnUser()
            server = grpc.server(workers[-1], interceptors=[callers])
            servicers.append(_Servicer(factory, around_create, requests))
            provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicers[-1], server)
            callers.port = server.add_insecure_port("127.0.0.1:0")
            server.start()
            servers.append(server)
            attach.append(f"{name}:{callers.port}")
        yield ",".join(attach)
    finally:
        for server in servers:
            server.stop(grace=1).wait()
        for worker in workers:
            worker.shutdown(wait=True)
        for servicer in servicers:
            servicer.close()
