"""Runs in the environment of the examples: `copy_data` of the long training, with the real driver of gs:// addresses.

The bucket is a server on this machine, which lets the caller do what a profile may do by name and by prefix, and answers 403 to
all else: `python copies_inside.py team-a/` prints the names of the objects, and what was refused, as JSON.
"""

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

import fsspec
from gcsfs.extended_gcsfs import BucketType, ExtendedGcsFileSystem

BUCKET = "lab-checkpoints"
_OF_BUCKET = f"/storage/v1/b/{BUCKET}"


class Bucket(BaseHTTPRequestHandler):
    """The part of the JSON API of Cloud Storage that the driver asks for (page docs/json_api)."""

    prefix: ClassVar[str]
    objects: ClassVar[dict[str, bytes]] = {}
    refused: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        name = unquote(url.path.partition(f"{_OF_BUCKET}/o/")[2])
        if url.path == f"{_OF_BUCKET}/o":
            begin = parse_qs(url.query).get("prefix", [""])[0]
            items = [self._shown(name) for name in self.objects if name.startswith(begin)]
            self._answer({"items": items} if begin.startswith(self.prefix) else None)
        elif not name.startswith(self.prefix):
            self._answer(None)
        elif name not in self.objects:
            # Not 404: whoever may not list the bucket is not told what is missing (googleapis/google-api-php-client issue 1791).
            self._answer({"error": {"code": 403, "message": "Permission denied"}}, 403)
        else:
            self._answer(self._shown(name))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        query = parse_qs(urlsplit(self.path).query)
        known = re.search(rb'"name": ?"([^"]+)"', body)
        name = known[1].decode() if known else query.get("name", [""])[0]
        if not urlsplit(self.path).path.startswith(f"/upload{_OF_BUCKET}/o") or not name.startswith(self.prefix):
            self._answer(None)
        elif query.get("uploadType") == ["resumable"]:
            port = self.server.server_address[1]
            self._answer({}, location=f"http://127.0.0.1:{port}/upload{_OF_BUCKET}/o?name={name}")
        else:
            self._keep(name, body)

    def log_message(self, *arguments: Any) -> None:
        pass

    def _keep(self, name: str, content: bytes) -> None:
        self.objects[name] = content
        self._answer(self._shown(name))

    def _shown(self, name: str) -> dict[str, Any]:
        size, time = str(len(self.objects[name])), "2026-01-01T00:00:00.000Z"
        return {"name": name, "bucket": BUCKET, "size": size, "generation": "1", "timeCreated": time, "updated": time}

    def _answer(self, body: dict[str, Any] | None, status: int = 200, location: str = "") -> None:
        if body is None:
            self.refused.append(f"{self.command} {self.path}")
            status, body = 403, {"error": {"code": 403, "message": "Permission denied"}}
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(content)


async def _plain(self: ExtendedGcsFileSystem, bucket: str) -> BucketType:
    """Answer in place of another server of Google's, which the driver would ask."""
    return BucketType.NON_HIERARCHICAL


def main(prefix: str) -> dict[str, list[str]]:
    Bucket.prefix = prefix
    ExtendedGcsFileSystem._get_bucket_type = _plain
    with ThreadingHTTPServer(("127.0.0.1", 0), Bucket) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        fsspec.config.conf["gs"] = {"token": "anon", "endpoint_url": f"http://127.0.0.1:{server.server_port}"}
        import long_training

        for _ in range(2):
            long_training.copy_data.python_func(bucket=f"gs://{BUCKET}/{prefix}".rstrip("/"), run="run-1", seed=7)
        server.shutdown()
    return {"objects": sorted(Bucket.objects), "refused": Bucket.refused}


if __name__ == "__main__":
    print("\n" + json.dumps(main(sys.argv[1])))
