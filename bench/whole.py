"""CPU time of the whole process in which Pulumi's Python host runs the program, the interpreter's start and exit included.

The process is `bench.host`: it imports Pulumi and the program, nothing else, and speaks gRPC as it does to the real engine. The
engine's part is played here, in the measuring process, so its time is not in the figure. Every thread of the program's process
counts, gRPC's too.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import grpc
import pulumi
from google.protobuf import json_format, struct_pb2
from pulumi.runtime.proto import resource_pb2

from bench.peers import PEERS, Peer
from bench.program import PROJECT, pool_files
from sandbox.cloud.provider import SIGNATURE
from sandbox.tests.engine.test_language_host import Engine, asking
from tests.components.emulated import EmulatedAzure
from tests.components.emulated_google import EmulatedGoogle
from tests.components.program import Cloud, stack_config

NAME = "kubeflow-spot"
STACK = "test"


class _Answering(Engine):
    """Takes every resource, and answers with what a cloud of the tests makes of it."""

    def __init__(self, cloud: pulumi.runtime.Mocks) -> None:
        super().__init__()
        self._cloud = cloud
        self.registered = 0

    def RegisterResource(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.registered += 1
        answer = super().RegisterResource(request, context)
        if request.custom:
            named = (request.type, request.name, _plain(request.object), request.provider)
            id, state = self._cloud.new_resource(pulumi.runtime.MockResourceArgs(*named, "", True))
            answer.MergeFrom(resource_pb2.RegisterResourceResponse(id=id or "", object=_struct(state)))
        return answer

    def Invoke(self, request: Any, context: grpc.ServicerContext) -> Any:
        try:
            answer = self._cloud.call(pulumi.runtime.MockCallArgs(request.tok, _plain(request.args), request.provider))
        except grpc.RpcError as refused:
            context.abort(grpc.StatusCode.UNKNOWN, str(refused))
        found = _struct(answer[0] if isinstance(answer, tuple) else answer)
        return resource_pb2.ResourceInvokeResponse(**{"return": found})


def _plain(values: Any) -> dict[str, Any]:
    properties: dict[str, Any] = _unwrapped(json_format.MessageToDict(values))
    return properties


def _unwrapped(value: Any) -> Any:
    if isinstance(value, list):
        return [_unwrapped(item) for item in value]
    if isinstance(value, dict):
        # A secret, or an output with its dependencies
        return _unwrapped(value.get("value")) if SIGNATURE in value else {k: _unwrapped(v) for k, v in value.items()}
    return value


def _struct(values: dict[str, Any]) -> Any:
    return json_format.ParseDict(values, struct_pb2.Struct())


def cpu(stack_file: Path) -> float:
    """Return the CPU seconds, user and system, of one run of the program on a stack file."""
    # The project of Pulumi.staging.yaml is an example, as in the sandbox.
    return _cpu(PROJECT, {**stack_config(stack_file), "examples:accept": "true"}, Cloud(None))


def peer_cpu(peer: Peer) -> float:
    """Return the CPU seconds of one run of a peer's program. The emulated cloud answers: the mocks know what ours asks."""
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "cloud.json"
        cloud = EmulatedAzure(state, "westeurope") if peer.package == "azure-native" else EmulatedGoogle(state)
        settings = stack_config(peer.stack_file)
        cloud.provider.configure({key.removeprefix(f"{peer.package}:"): value for key, value in settings.items()})
        return _cpu(peer.folder, settings, cloud)


def _cpu(folder: Path, settings: Mapping[str, Any], cloud: pulumi.runtime.Mocks) -> float:
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in settings.items()}
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "PYTHON"))}
    environment["PULUMI_CONFIG"] = json.dumps(texts)
    if sys.pycache_prefix:
        environment["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    engine = _Answering(cloud)
    with asking(engine) as address:
        command = (sys.executable, "-m", "bench.host", address, address, NAME, STACK, str(folder))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode or not engine.registered:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}{engine.errors or ''}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def beside_peers(names: Sequence[str], runs: int) -> dict[str, list[tuple[float, float]]]:
    """Return the CPU seconds of checked-in stacks by name, each with those of its peer, in turns."""
    files = {name: PROJECT / f"Pulumi.{name}.yaml" for name in names}

    def turn() -> dict[str, tuple[float, float]]:
        return {name: (cpu(file), peer_cpu(PEERS[name])) for name, file in files.items()}

    turn()  # compiles what has no bytecode yet
    rounds = [turn() for _ in range(runs)]
    return {name: [times[name] for times in rounds] for name in names}


def pool(stack: str, runs: int, few: int, many: int) -> list[float]:
    """Return the CPU seconds of one more spot pool on a stack's cloud, by stacks of few and of many."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = pool_files(stack, Path(folder), (few, many))
        cpu(small)
        return [(cpu(large) - cpu(small)) / (many - few) for _ in range(runs)]
