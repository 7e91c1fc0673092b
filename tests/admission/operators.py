"""Real controllers of Kubeflow and Kueue on the bed, from tools/kubeflow, and what a test of them needs."""

import base64
import ipaddress
import json
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import yaml
from cryptography import x509

from sandbox.cluster.control_plane.certificates import Authority
from sandbox.tests.api import Object, Refused, collection
from sandbox.tests.stack import eventually
from sandbox.toolchain.programs import ensure
from tests.admission.bed import Bed
from tests.admission.posting import decision
from tests.admission.rights import cluster_role

NAMESPACE = "team-a"
ACCOUNTS = {"training": "training-operator", "trainer": "trainer", "kueue": "kueue"}


def strictly(bed: Bed, body: Object, **query: str) -> Object:
    """Create an object; a field that the server does not know is an error."""
    text = "&".join(f"{key}={value}" for key, value in {"fieldValidation": "Strict", **query}.items())
    return bed.api.request("POST", f"{collection(body)}?{text}", body)


@contextmanager
def running(bed: Bed, folder: Path, name: str, *options: str) -> Iterator[None]:
    """The real controllers of a project, as the service account that its manifests give them."""
    user = f"system:serviceaccount:kubeflow:{ACCOUNTS[name]}"
    for body in cluster_role(f"{user}:all", ("*", "*", "*")):
        if body["kind"] == "ClusterRoleBinding":
            body["subjects"] = [{"kind": "ServiceAccount", "name": ACCOUNTS[name], "namespace": "kubeflow"}]
        create_once(bed, body)
    kubeconfig = yaml.safe_load(Path(bed.plane.admin_kubeconfig).read_text())
    for entry in kubeconfig["users"]:
        entry["user"]["as"] = user
    path = folder / "kubeconfig"
    path.write_text(json.dumps(kubeconfig))
    program = ensure(["kubeflow-controllers"], print)["kubeflow-controllers"]
    with open(folder / "log", "w") as log:
        process = subprocess.Popen([program, *options, name], env={"KUBECONFIG": str(path)}, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.kill()
            process.wait()
            print((folder / "log").read_text()[-3000:])


def create_once(bed: Bed, body: Object) -> None:
    try:
        bed.api.create(body)
    except Refused as refused:
        if refused.status != 409:
            raise


def pods(bed: Bed, condition: Callable[[Object], bool]) -> list[Object]:
    """Pods of the profile that the scheduler has decided about."""
    return [p for p in bed.api.list("v1", "Pod", NAMESPACE) if condition(p) and decision(p)]


def clear(bed: Bed, *bodies: Object) -> None:
    for body in bodies:
        bed.api.delete(body)
    bed.api.clear("batch/v1", "Job", NAMESPACE)
    bed.api.clear("v1", "Pod", NAMESPACE)
    eventually(lambda: not bed.api.list("v1", "Pod", NAMESPACE), "the pods are gone")


def unfinalized(bed: Bed, body: Object) -> None:
    """Delete an object whose controller has ended; a missing one is no error."""
    with suppress(Refused):
        bed.api.patch(body, {"metadata": {"finalizers": None}})
    bed.api.delete(body)


@contextmanager
def job_set_webhook(bed: Bed, folder: Path) -> Iterator[tuple[str, ...]]:
    """The registration of JobSet's webhook, which fills in defaults; yields the options of the program that serves it.

    kubernetes-sigs/jobset v0.10.1, pkg/webhooks/jobset_webhook.go.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    Authority(folder).issue("tls", "jobset", None, names)
    url = f"https://127.0.0.1:{port}/mutate-jobset-x-k8s-io-v1alpha2-jobset"
    authority = base64.b64encode((folder / "ca.crt").read_bytes()).decode()
    rule = {
        "apiGroups": ["jobset.x-k8s.io"],
        "apiVersions": ["v1alpha2"],
        "operations": ["CREATE"],
        "resources": ["jobsets"],
    }
    hook = {
        "name": "jobset.example.com",
        "clientConfig": {"url": url, "caBundle": authority},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "failurePolicy": "Fail",
    }
    metadata = {"name": "examples-jobset"}
    registration = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration"}
    bed.api.create({**registration, "metadata": metadata, "webhooks": [hook]})
    try:
        yield "--certificates", str(folder), "--port", str(port)
    finally:
        bed.api.delete({**registration, "metadata": metadata})
