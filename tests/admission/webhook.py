"""Mutating webhooks: one like Katib's, which labels the pods of trials after every MutatingAdmissionPolicy, and JobSet's own.

kubeflow/katib v0.19.0, pkg/webhook/v1beta1/pod/inject_webhook.go: label `katib.kubeflow.org/trial`, variable KATIB_TRIAL_NAME,
and on the primary pod a metrics collector. Katib finds the trial by the pod's owners; here the names are given.
"""

import base64
import ipaddress
import json
import socket
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
    """Return the JSON patch for a pod; empty for a pod without a trial, or with the label already."""
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
    """Serve and register the webhook; yield the names of the requested trials as they come."""
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
    _certify("webhook", folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "webhook.crt", folder / "webhook.key")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    # As in kubeflow/manifests 26.03 (applications/katib), with this server in place of the Service.
    address, selected = f"{server.server_address[1]}/mutate-pod", {"matchLabels": KATIB}
    configuration = _registration(
        "katib.kubeflow.org", ("", "v1", "pods"), folder, address, name=NAME, namespaceSelector=selected
    )
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


@contextmanager
def job_set(api: Api, folder: Path) -> Iterator[tuple[str, ...]]:
    """Register JobSet's webhook, which fills in defaults; yield the options of the program that serves it.

    kubernetes-sigs/jobset v0.10.1, pkg/webhooks/jobset_webhook.go.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    _certify("tls", folder)
    kind = ("jobset.x-k8s.io", "v1alpha2", "jobsets")
    path = "mutate-jobset-x-k8s-io-v1alpha2-jobset"
    registration = _registration("examples-jobset", kind, folder, f"{port}/{path}", name="jobset.example.com")
    with api.created(registration):
        yield "--certificates", str(folder), "--port", str(port)


def _certify(name: str, folder: Path) -> None:
    """Write a certificate of this name for a server on this machine, and that of its authority."""
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    Authority(folder).issue(name, "webhook", None, names)


def _registration(name: str, kind: tuple[str, str, str], folder: Path, address: str, /, **hook: Any) -> dict[str, Any]:
    """Return the registration of a webhook on this machine, which is asked about new objects of a kind."""
    group, version, resource = kind
    rule = {"apiGroups": [group], "apiVersions": [version], "operations": ["CREATE"], "resources": [resource]}
    authority = base64.b64encode((folder / "ca.crt").read_bytes()).decode()
    hook |= {"clientConfig": {"url": f"https://127.0.0.1:{address}", "caBundle": authority}, "rules": [rule]}
    hook |= {"admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail"}
    base = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration"}
    return {**base, "metadata": {"name": name}, "webhooks": [hook]}


def _probe(trial: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "probe", "namespace": "unmatched-katib", "labels": {_JOB_LABELS[0]: trial}},
        "spec": {"containers": [{"name": "main", "image": "image"}]},
    }
