"""Answers with the model of train.py over KServe's protocol 1, by the standard library alone: POST /v1/models/NAME:predict.

The weights come from the variable WEIGHTS, as JSON; the port from PORT, which Knative sets.
"""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WEIGHTS = json.loads(os.environ["WEIGHTS"])


class Model(BaseHTTPRequestHandler):
    """GET says that it is ready; POST answers `{"instances": [[...], ...]}` with `{"predictions": [...]}`."""

    def do_GET(self) -> None:
        self._answer({"ready": True})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        rows = [zip(WEIGHTS, row, strict=True) for row in asked["instances"]]
        self._answer({"predictions": [sum(weight * feature for weight, feature in row) for row in rows]})

    def _answer(self, body: dict[str, object]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())


if __name__ == "__main__":
    ThreadingHTTPServer(("", int(os.environ.get("PORT", "8080"))), Model).serve_forever()
