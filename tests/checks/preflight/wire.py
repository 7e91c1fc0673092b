"""Recorded answers behind the clouds' own clients: an adapter for Azure's HTTP session, and a server on loopback for Google's."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import requests
from requests.adapters import BaseAdapter

Documents = Mapping[str, Any]
"""By the lower-cased path of a request; None stands for 404, a number for a refusal with that status, a `Refusal` for one with
its words, an exception for what befalls the connection, a text for a page that is no JSON, a function for one by the query."""

EVERYTHING = "*"
"""The answer to all paths that are not listed."""


@dataclass(frozen=True)
class Refusal:
    """A status with the code and the message of its body."""

    status: int
    code: str
    message: str = "no"


def _answer(documents: Documents, url: str) -> tuple[int, Any]:
    parts = urlsplit(url)
    found = documents.get(unquote(parts.path).lower(), documents.get(EVERYTHING))
    if isinstance(found, Exception):
        raise found
    if callable(found):
        found = found(parts.query)
    if isinstance(found, int):
        found = Refusal(found, "AuthorizationFailed")
    if found is None:
        found = Refusal(404, "NotFound")
    if isinstance(found, Refusal):
        # The body of Azure's and of Google's errors: a code and a message below `error`.
        return found.status, {"error": {"code": found.code, "message": found.message, "status": "PERMISSION_DENIED"}}
    return 200, found


def _text(body: Any) -> bytes:
    return (body if isinstance(body, str) else json.dumps(body)).encode()


class Recorded(BaseAdapter):
    """Answers every request of a `requests` session; `asked` are their methods and paths, `waits` the seconds for each path."""

    def __init__(self, documents: Documents) -> None:
        super().__init__()
        self._documents = documents
        self.asked: list[tuple[str, str]] = []
        self.waits: dict[str, Any] = {}

    def send(self, request: requests.PreparedRequest, *args: Any, **options: Any) -> requests.Response:
        """Return the recorded answer."""
        path = urlsplit(str(request.url)).path
        self.asked.append((str(request.method), path))
        self.waits[path.rpartition("/")[2]] = options.get("timeout")
        response = requests.Response()
        response.status_code, body = _answer(self._documents, str(request.url))
        response.headers["Content-Type"] = "application/json"
        response.reason = "recorded"
        response.raw = _Raw(_text(body))
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
    """Serve these answers on loopback; yield the address, and the requests that the server saw."""
    asked: list[tuple[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            asked.append((self.command, path))
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, body = _answer(documents, self.path)
            text = _text(body)
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


def held(recorded: Any, read: Any) -> bool:
    """Return whether everything in a recorded answer is in what the client made of it; it may add keys that are empty."""
    if isinstance(recorded, dict):
        return isinstance(read, dict) and all(
            held(value, read.get(key)) for key, value in recorded.items() if value not in ([], {})
        )
    if isinstance(recorded, list):
        return isinstance(read, list) and len(read) == len(recorded) and all(map(held, recorded, read))
    return bool(recorded == read)
