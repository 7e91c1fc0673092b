"""A mutating webhook like Katib's: it labels the pods of trials, after every MutatingAdmissionPolicy.

kubeflow/katib v0.19.0, pkg/webhook/v1beta1/pod/inject_webhook.go: label `katib.kubeflow.org/trial`, variable KATIB_TRIAL_NAME,
and on the primary pod a metrics collector. Katib finds the trial by the pod's owners; here the names are given.
"""

import base64
import ipaddress
import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from cryptography import x509

from sandbox.cluster.control_plane.certificates import Authority
from sandbox.tests.api import Api
from sandbox.tests.stack import eventually
from tests.admission.bed import KATIB

LABEL = "katib.kubeflow.org/trial"
VARIABLE = "KATIB_TRIAL_NAME"
COLLECTOR = "metrics-logger-and-collector"
NAME = "mutator.pod.katib.kubeflow.org"
_JOB_LABELS = ("batch.kubernetes.io/job-name", "training.kubeflow.org/job-name", "jobset.sigs.k8s.io/jobset-name")


def patch(pod: dict[str, Any], trials: frozenset[str]) -> list[dict[str, Any]]:
    """The JSON patch for a pod; empty for a pod without a trial, or with the label already."""
    labels = pod["metadata"].get("labels", {})
    trial = next((labels[key] for key in _JOB_LABELS if labels.get(key) in trials), None)
    if trial is None or LABEL in labels:
        return []
    key = LABEL.replace("/", "~1")
    operations: list[dict[str, Any]] = [{"op": "add", "path": f"/metadata/labels/{key}", "value": trial}]
    variable = {"name": VARIABLE, "value": trial}
    variables = [*pod["spec"]["containers"][0].get("env", []), variable]
    operations.append({"op": "add", "path": "/spec/containers/0/env", "value": variables})
    if labels.get("training.kubeflow.org/replica-type") != "worker":
        collector = {"name": COLLECTOR, "image": "ghcr.io/kubeflow/katib/file-metrics-collector:v0.19.0"}
        operations.append({"op": "add", "path": "/spec/containers/-", "value": collector})
        operations.append({"op": "add", "path": "/spec/shareProcessNamespace", "value": True})
    return operations


@contextmanager
def katib(api: Api, trials: frozenset[str], folder: Path) -> Iterator[list[str]]:
    """The served and registered webhook; yields the names of the requested trials as they come."""
    requested: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
            operations = patch(request["object"], trials)
            requested.extend(o["value"] for o in operations if o["path"].startswith("/metadata/labels/"))
            response = {"uid": request["uid"], "allowed": True}
            if operations:
                encoded = base64.b64encode(json.dumps(operations).encode()).decode()
                response |= {"patchType": "JSONPatch", "patch": encoded}
            answer = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing into the output of a test."""

    Handler.protocol_version = "HTTP/1.1"
    # Otherwise each answer waits 40 ms for the acknowledgement of its header.
    Handler.disable_nagle_algorithm = True
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    Authority(folder).issue("webhook", "katib-controller", None, names)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "webhook.crt", folder / "webhook.key")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    configuration = _configuration(server.server_address[1], (folder / "ca.crt").read_bytes())
    try:
        api.create(configuration)
        probe = _probe(next(iter(trials)))
        # An API server learns of a webhook some milliseconds after its creation.
        eventually(
            lambda: LABEL in api.create(probe, dry_run=True)["metadata"]["labels"], "the webhook of the test is asked"
        )
        requested.clear()
        yield requested
    finally:
        api.delete(configuration)
        server.shutdown()
        server.server_close()
        thread.join()


def _configuration(port: int, authority: bytes) -> dict[str, Any]:
    """The registration of kubeflow/manifests 26.03 (applications/katib), with this server in place of the Service."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "katib.kubeflow.org"},
        "webhooks": [
            {
                "name": NAME,
                "admissionReviewVersions": ["v1"],
                "sideEffects": "None",
                "failurePolicy": "Fail",
                "clientConfig": {
                    "url": f"https://127.0.0.1:{port}/mutate-pod",
                    "caBundle": base64.b64encode(authority).decode(),
                },
                "namespaceSelector": {"matchLabels": KATIB},
                "rules": [rule],
            }
        ],
    }


def _probe(trial: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "probe", "namespace": "unmatched-katib", "labels": {_JOB_LABELS[0]: trial}},
        "spec": {"containers": [{"name": "main", "image": "image"}]},
    }
