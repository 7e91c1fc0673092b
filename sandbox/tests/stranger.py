"""Another user of the machine, who calls the engine of a running command. `python -m sandbox.tests.stranger` reads a task, JSON.

The task: `user`, the id of the user to become (null: stay), `ports`, on which the engine listens, and `calls`, each the name of a
call of the resource monitor with its request. Answers, as JSON, with the ports that this user sees open, the answer of each call or
its error, and what the API server says to each kubeconfig among the answers.
"""

import base64
import encodings.idna
import json
import os
import ssl
import sys
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import grpc
import yaml
from google.protobuf import json_format
from pulumi.runtime.proto import resource_pb2, resource_pb2_grpc

_SECONDS = 20
_UNUSED = 1
"""A port on which nothing listens."""
_REQUESTS = {
    "Invoke": resource_pb2.ResourceInvokeRequest,
    "ReadResource": resource_pb2.ReadResourceRequest,
    "RegisterResource": resource_pb2.RegisterResourceRequest,
}


def main() -> None:
    task = json.load(sys.stdin)
    # Before the change of user, who may not read the modules that a first call loads.
    trust = ssl.create_default_context()
    assert encodings.idna
    assert _monitor(_UNUSED) is None
    if task["user"] is not None:
        os.setgroups([])
        os.setgid(task["user"])
        os.setuid(task["user"])
    lines = Path("/proc/net/tcp").read_text().splitlines() if sys.platform == "linux" else []
    seen = {int(line.split()[1].partition(":")[2], 16) for line in lines[1:]} if lines else set(task["ports"])
    ports = [port for port in task["ports"] if port in seen]
    monitor = next(filter(None, map(_monitor, ports)))
    answers: dict[str, Any] = {"user": os.geteuid(), "ports": ports}
    for name, (method, request) in task["calls"].items():
        if request.get("provider") in answers:
            # That of a provider which an earlier call has registered.
            registered = answers[request["provider"]]
            request["provider"] = f"{registered.get('urn')}::{registered.get('id')}"
        try:
            done = getattr(monitor, method)(json_format.ParseDict(request, _REQUESTS[method]()), timeout=_SECONDS)
            answers[name] = json_format.MessageToDict(done)
        except grpc.RpcError as refused:
            answers[name] = {"error": f"{refused.code().name}: {refused.details()}"}
        answers[name]["used"] = [_use(text, trust) for text in _kubeconfigs(answers[name])]
    json.dump(answers, sys.stdout)


def _monitor(port: int) -> resource_pb2_grpc.ResourceMonitorStub | None:
    """Return a client of the resource monitor, if that is what listens."""
    monitor = resource_pb2_grpc.ResourceMonitorStub(grpc.insecure_channel(f"127.0.0.1:{port}"))
    try:
        monitor.SupportsFeature(resource_pb2.SupportsFeatureRequest(id="secrets"), timeout=_SECONDS)
    except grpc.RpcError:
        return None
    return monitor


def _kubeconfigs(value: Any) -> list[str]:
    """Return the kubeconfigs in an answer, in base64 or not."""
    if isinstance(value, dict | list):
        return [text for item in (value.values() if isinstance(value, dict) else value) for text in _kubeconfigs(item)]
    if not isinstance(value, str):
        return []
    try:
        plain = base64.b64decode(value, validate=True).decode()
    except ValueError:
        plain = value
    return [plain] if "current-context:" in plain else []


def _use(kubeconfig: str, trust: ssl.SSLContext) -> str:
    """Return the result of reading the Secrets of the cluster with a kubeconfig."""
    content = yaml.safe_load(kubeconfig)
    cluster, user = content["clusters"][0]["cluster"], content["users"][0].get("user") or {}
    try:
        token = user.get("token") or Path(user.get("tokenFile", "/none")).read_text()
    except OSError as unreadable:
        return type(unreadable).__name__
    trust.load_verify_locations(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    connection = HTTPSConnection(cluster["server"].removeprefix("https://"), timeout=_SECONDS, context=trust)
    connection.request("GET", "/api/v1/secrets", headers={"Authorization": f"Bearer {token}"})
    return str(connection.getresponse().status)


if __name__ == "__main__":
    main()
