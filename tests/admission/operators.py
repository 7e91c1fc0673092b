"""Real controllers of Kubeflow and Kueue on the bed, from tools/kubeflow, and what a test of them needs."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from sandbox.tests.api import Object, Refused, collection
from sandbox.tests.stack import eventually
from sandbox.toolchain.programs import ensure
from tests.admission.bed import Bed
from tests.admission.posting import decision
from tests.admission.rights import cluster_role

NAMESPACE = "team-a"
GONE = [{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager"}]
"""What the API server, the kubelet or the taint manager writes into a pod that goes with its machine."""
ACCOUNTS = {"training": "training-operator", "trainer": "trainer", "kueue": "kueue"}


def strictly(bed: Bed, body: Object, **query: str) -> Object:
    """Create an object; a field that the server does not know is an error."""
    text = "&".join(f"{key}={value}" for key, value in {"fieldValidation": "Strict", **query}.items())
    return bed.api.request("POST", f"{collection(body)}?{text}", body)


@contextmanager
def running(bed: Bed, folder: Path, name: str, *options: str) -> Iterator[None]:
    """Run the real controllers of a project, as the service account that its manifests give them."""
    user = f"system:serviceaccount:kubeflow:{ACCOUNTS[name]}"
    for body in cluster_role(f"{user}:all", ("*", "*", "*")):
        if body["kind"] == "ClusterRoleBinding":
            body["subjects"] = [{"kind": "ServiceAccount", "name": ACCOUNTS[name], "namespace": "kubeflow"}]
        bed.api.create_once(body)
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


def present(bed: Bed, namespace: str = NAMESPACE) -> list[Object]:
    """Return the pods of a namespace that are not on their way out."""
    return [p for p in bed.api.list("v1", "Pod", namespace) if "deletionTimestamp" not in p["metadata"]]


def pods(bed: Bed, count: int, part: str) -> list[Object]:
    """Return the profile's pods whose names have this part, once the scheduler has decided about so many."""

    def found() -> list[Object]:
        named = [p for p in bed.api.list("v1", "Pod", NAMESPACE) if part in p["metadata"]["name"] and decision(p)]
        return named if len(named) == count else []

    made: list[Object] = eventually(found, f"{count} pods of {part} are made")
    return made


def phase(bed: Bed, pod: Object, now: str, *, restarts: int = 0, code: int = 0, **more: Any) -> None:
    """Write a pod's phase, the restarts or the exit code of its containers, and more of its status, as a kubelet does."""
    state: Object = {"running": {}} if now == "Running" else {"terminated": {"exitCode": code}}
    base = {"image": "x", "imageID": "x", "ready": True, "restartCount": restarts, "state": state}
    containers = [{"name": container["name"], **base} for container in pod["spec"]["containers"]]
    target = {"apiVersion": "v1", "kind": "Pod", "metadata": pod["metadata"]}
    bed.api.patch(target, {"status": {"phase": now, "containerStatuses": containers, **more}}, "/status")


def conditions(bed: Bed, body: Object) -> set[str]:
    """Return the types of an object's conditions that are true."""
    found = bed.api.get(body).get("status", {}).get("conditions", ())
    return {condition["type"] for condition in found if condition["status"] == "True"}


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


def shell(bed: Bed, lines: str) -> None:
    """Run lines of the documentation against the bed."""
    folder = ensure(["kubectl"], print)["kubectl"].parent
    settings = {**os.environ, "KUBECONFIG": str(bed.plane.admin_kubeconfig), "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-ec", lines], env=settings, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
