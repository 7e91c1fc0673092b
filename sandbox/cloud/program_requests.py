"""What a command's program asked its engine for: the emulated clouds serve that, and nothing that another caller asked for.

Every user of the machine can call the engine's resource monitor: it listens on the loopback address and asks for no login (pulumi
v3.258.0, sdk/go/common/util/rpcutil/serve.go). It passes each call on to the providers under the user who started the engine. A
stranger's kubeconfig would then run a login command as that user, and a stranger's resource would be made as cluster administrator.
The program runs in the same process as the emulated clouds, so its own requests are known before the engine sends them on.

Deliberately does not: requests of another process for the program (remote components), and programs whose transforms the engine
calls. From the first of those on everything is served.
"""

import json
from collections.abc import Callable, Collection, Mapping
from threading import Lock
from typing import Any

from google.protobuf import json_format, struct_pb2
from pulumi.runtime.proto import resource_pb2_grpc

from sandbox.cloud.provider import SECRET, SIGNATURE, UNKNOWN

_OUTPUT = "d0e6a833031e9bbcd3f4e8bde6ca49a4"
_REFERENCE = "5cf8f73096256a8f31e491e813e4eb8e"
"""Signatures of an output and of a reference to a resource (sdk/python/lib/pulumi/runtime/rpc.py)."""

_PROVIDERS = "pulumi:providers:"
_ENGINES_OWN = ("version", "pluginDownloadURL")
"""Settings that the engine adds to those of a provider."""

_CALLED_BACK = ("RegisterStackTransform", "RegisterStackInvokeTransform")


class ProgramRequests:
    """The requests of one command's program: `watch` its monitor, then ask `checks`, `reads`, `invokes` and `configures`."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._resources: dict[tuple[str, str], list[tuple[Collection[str], str]]] = {}
        self._others: set[tuple[str, ...]] = set()
        self._serve_all = False

    def watch(self, monitor: resource_pb2_grpc.ResourceMonitorStub, config: Mapping[str, str]) -> None:
        """Note each request that is sent by this client of a program with these settings."""
        with self._lock:
            for key, value in config.items():
                package, _, name = key.partition(":")
                self._others.add(("setting", package, name, _digest(value)))
        monitor.RegisterResource = _noted(monitor.RegisterResource, self._registered)
        monitor.ReadResource = _noted(monitor.ReadResource, self._read)
        monitor.Invoke = _noted(monitor.Invoke, self._invoked)
        for name in _CALLED_BACK:
            setattr(monitor, name, _noted(getattr(monitor, name), self._changed_later))

    def _registered(self, request: Any) -> None:
        package = request.type.removeprefix(_PROVIDERS)
        # The engine takes what is below an ignored property from the state.
        ignored = frozenset(path.partition(".")[0].partition("[")[0] for path in request.ignoreChanges)
        content = _digest(request.object, ignored)
        with self._lock:
            self._serve_all |= request.remote or bool(request.transforms)
            self._resources.setdefault((request.type, request.name), []).append((ignored, content))
            self._others.add(("read", request.type, request.name, request.importId))
            if package != request.type:
                settings = json_format.MessageToDict(request.object)
                self._others |= {("setting", package, key, _digest(value)) for key, value in settings.items()}

    def _read(self, request: Any) -> None:
        with self._lock:
            self._others.add(("read", request.type, request.name, request.id))

    def _invoked(self, request: Any) -> None:
        with self._lock:
            self._others.add(("invoke", request.tok, _digest(request.args)))

    def _changed_later(self, request: Any) -> None:
        with self._lock:
            self._serve_all = True

    def checks(self, type: str, name: str, inputs: struct_pb2.Struct) -> bool:
        """Return whether the program declares a resource with these inputs."""
        with self._lock:
            declared = list(self._resources.get((type, name), ()))
        return self._serve_all or any(_digest(inputs, ignored) == content for ignored, content in declared)

    def reads(self, type: str, name: str, id: str) -> bool:
        """Return whether the program reads or imports the resource with this id."""
        return self._has("read", type, name, id)

    def invokes(self, token: str, arguments: struct_pb2.Struct) -> bool:
        """Return whether the program calls a function with these arguments."""
        return self._has("invoke", token, _digest(arguments))

    def configures(self, package: str, settings: struct_pb2.Struct) -> bool:
        """Return whether the program or its stack file has all these settings of a provider."""
        given = json_format.MessageToDict(settings)
        own = (key for key in given if key not in _ENGINES_OWN and not key.startswith("__"))
        return all(self._has("setting", package, key, _digest(given[key])) for key in own)

    def _has(self, *request: str) -> bool:
        with self._lock:
            return self._serve_all or request in self._others


def _noted(call: Callable[..., Any], note: Callable[[Any], None]) -> Callable[..., Any]:
    def noted(request: Any, *arguments: Any, **options: Any) -> Any:
        note(request)
        return call(request, *arguments, **options)

    return noted


def _digest(value: Any, ignored: Collection[str] = ()) -> str:
    """Return a text that two values share if a provider gets the same of both."""
    if isinstance(value, struct_pb2.Struct):
        value = {k: v for k, v in json_format.MessageToDict(value).items() if k not in ignored and "*" not in ignored}
    return json.dumps(_as_sent(value), sort_keys=True)


def _as_sent(value: Any) -> Any:
    """Return a value as the engine sends it to a provider that takes neither secrets nor outputs nor references."""
    if isinstance(value, list):
        return [_as_sent(item) for item in value]
    if not isinstance(value, dict):
        return value
    if (signature := value.get(SIGNATURE)) == SECRET:
        return _as_sent(value["value"])
    if signature == _OUTPUT:
        return _as_sent(value.get("value", UNKNOWN))
    if signature == _REFERENCE:
        return value.get("id", value["urn"])
    return {key: _as_sent(item) for key, item in value.items() if item is not None}
