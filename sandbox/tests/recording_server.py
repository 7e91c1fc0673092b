"""An API server that answers as a test says and records its requests, and a kubeconfig for it."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import yaml

CORE = {"resources": [{"name": "pods", "kind": "Pod", "namespaced": True}, {"name": "pods/log", "kind": "Pod"}]}
APPS = {"resources": [{"name": "deployments", "kind": "Deployment", "namespaced": True}]}
NODES = {"resources": [{"name": "nodes", "kind": "Node", "namespaced": False}]}
DISCOVERY = {"/api/v1": {"resources": [*CORE["resources"], *NODES["resources"]]}, "/apis/apps/v1": APPS}


class Server(ThreadingHTTPServer):
    """A server that answers from `answers` by path, and with 404 otherwise."""

    daemon_threads = True

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {**DISCOVERY}
        self.requests: list[tuple[str, str, str, str]] = []
        self.connections = 0
        self.wait = 0.0
        self.hang_up = False
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections += 1
        super().process_request(request, client_address)

    def paths(self) -> list[str]:
        return [path for _, path, _, _ in self.requests]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.server.requests.append((self.command, self.path, body, self.headers.get("Authorization") or ""))
        time.sleep(self.server.wait)
        answer = self.server.answers.get(self.path.partition("?")[0])
        status = 404 if answer is None else answer.pop("status", 200) if isinstance(answer, dict) else 502
        again = answer.pop("retryAfter", None) if isinstance(answer, dict) else None
        text = json.dumps(answer or {"message": "not found"}) if not isinstance(answer, str) else answer
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        if again is not None:
            self.send_header("Retry-After", again)
        self.end_headers()
        self.wfile.write(text.encode())
        # Without an answer, like a restarting server.
        self.close_connection = self.server.hang_up

    do_GET = do_PATCH = do_POST = do_DELETE = answer

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def kubeconfig(server: Server | str, cluster: dict[str, Any] | None = None, **user: Any) -> str:
    address = server if isinstance(server, str) else f"http://127.0.0.1:{server.server_port}"
    return yaml.safe_dump(
        {
            "clusters": [{"name": "other"}, {"name": "c", "cluster": {"server": address, **(cluster or {})}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
    )
