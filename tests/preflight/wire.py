"""Recorded answers behind the clouds' own clients: an adapter for Azure's HTTP session, and a server on loopback for Google's."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import requests
from requests.adapters import BaseAdapter

Documents = Mapping[str, Any]
"""By the lower-cased path of a request; None stands for 404, a number for a refusal with that status, a function for an answer
by the query."""


def _answer(documents: Documents, url: str) -> tuple[int, dict[str, Any]]:
    parts = urlsplit(url)
    found = documents.get(unquote(parts.path).lower())
    if callable(found):
        found = found(parts.query)
    if isinstance(found, int):
        # The body of Azure's and of Google's errors: a code and a message below `error`.
        return found, {"error": {"code": "AuthorizationFailed", "message": "no", "status": "PERMISSION_DENIED"}}
    if found is None:
        return 404, {"error": {"code": "NotFound", "message": "no", "status": "NOT_FOUND"}}
    return 200, found


class Recorded(BaseAdapter):
    """Answers every request of a `requests` session; `asked` are their methods and paths."""

    def __init__(self, documents: Documents) -> None:
        super().__init__()
        self._documents = documents
        self.asked: list[tuple[str, str]] = []

    def send(self, request: requests.PreparedRequest, *args: Any, **options: Any) -> requests.Response:
        """The recorded answer."""
        path = urlsplit(str(request.url)).path
        self.asked.append((str(request.method), path))
        response = requests.Response()
        response.status_code, body = _answer(self._documents, str(request.url))
        response.headers["Content-Type"] = "application/json"
        response.reason = "recorded"
        response.raw = _Raw(json.dumps(body).encode())
        response.url = str(request.url)
        response.request = request
        return response

    def close(self) -> None:
        """Nothing is open."""


class _Raw:
    """The body of a response as urllib3 hands it out."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.version = 11

    def stream(self, *args: Any, **options: Any) -> Iterator[bytes]:
        yield self._body

    def read(self, *args: Any, **options: Any) -> bytes:
        body, self._body = self._body, b""
        return body

    def release_conn(self) -> None:
        """Nothing to release."""

    def close(self) -> None:
        """Nothing to close."""


@contextmanager
def served(documents: Documents) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """A server on loopback with these answers: its address, and the requests that it saw."""
    asked: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            asked.append((self.command, path))
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, body = _answer(documents, self.path)
            text = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_GET

        def log_message(self, *args: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
