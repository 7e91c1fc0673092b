"""Stacks as a commit left them: `up` of the checked-in stack files by that commit, kept as text.

`<stack>.json` has the stack file's settings, the state that the engine wrote, and the emulated cloud's memory. Objects in the
cluster are kept as they were declared, with their field manager: an API server makes the rest of them. What belongs to one run is
replaced by a word: the folder, address and authority of its control plane. Secrets are in clear text, as in `pulumi stack export
--show-secrets`; the only ones are kubeconfigs, which have that address and the name of a file with a token, and Google's labels.

`python -m tests.recorded.record COMMIT` records again, in a checkout of that commit with this file. It is due when a change of
what is declared is meant; then the commit is the one before.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sandbox.base.cloud_types import CLUSTERS
from sandbox.base.home import Home
from sandbox.base.notices import discard
from sandbox.cloud.plugin import Plugin
from sandbox.cluster import clusters
from sandbox.cluster.control_plane import ControlPlane
from sandbox.engine import session
from sandbox.engine.clouds import plugin_of
from sandbox.engine.workspace import passphrase
from sandbox.kubernetes import node_objects
from sandbox.kubernetes.client import ApiError, Client
from sandbox.tests.stack import Stack, until

FOLDER = Path(__file__).parent
STACKS = ("dev", "staging", "prod")

_INSIDE = "kubernetes:"
_OF_A_RUN = ("created", "modified", "sourcePosition", "stackTrace")
"""When and where in the program a resource was declared."""


def main(commit: str) -> None:
    """Bring each stack up, record it, and take it down."""
    for name in STACKS:
        with TemporaryDirectory() as folder:
            stack = Stack.copy(Path(folder), name)
            try:
                stack.run("up")
                recorded = {"commit": commit, **_record(stack)}
            finally:
                stack.run("down", "--force")
        (FOLDER / f"{name}.json").write_text(json.dumps(recorded, indent=1) + "\n")


def _record(stack: Stack) -> dict[str, Any]:
    home = Home.of(stack.name, stack.project)
    with session.open(home, discard, changing=False, program=False) as engine:
        state = engine.command.export_stack()
    for resource in state.deployment["resources"]:
        for key in _OF_A_RUN:
            resource.pop(key, None)
        if resource["type"].startswith(_INSIDE):
            resource["outputs"] = {"__fieldManager": resource["outputs"]["__fieldManager"]}
    clouds = {path.name: json.loads(path.read_text()) for path in sorted(home.cloud.glob("*.json"))}
    # The engine takes secrets in clear text where the state names no key for them.
    del state.deployment["secrets_providers"]
    text = json.dumps({"config": stack.config, "version": state.version, "state": state.deployment, "clouds": clouds})
    for word, value in _words(clusters.of_stack(home)).items():
        text = text.replace(value, word)
    recorded: dict[str, Any] = json.loads(text)
    return recorded


def _words(plane: ControlPlane) -> dict[str, str]:
    """Return what stands for a control plane's folder, address and authority."""
    return {"@FOLDER@": str(plane.directory), "@ADDRESS@": plane.address(), "@AUTHORITY@": plane.authority()}


@contextmanager
def restored(name: str, folder: Path, plane: ControlPlane) -> Iterator[Stack]:
    """Yield the recorded stack in a new sandbox, with its objects in this control plane."""
    stack = Stack.copy(folder, name)
    home = Home.of(name, stack.project)
    text = (FOLDER / f"{name}.json").read_text()
    (cluster,) = (each for each in json.loads(text)["state"]["resources"] if each["type"] in CLUSTERS)
    cloud = plugin_of(cluster["type"])
    own = _attached(plane, home.clusters / clusters.folder_name(cluster["id"]), cloud)
    for word, value in _words(own).items():
        text = text.replace(word, value)
    recorded = json.loads(text)
    stack.write(recorded["config"])
    # Before the state: a state without its passphrase is refused. Nothing in this one is encrypted.
    passphrase(home)
    states = home.backend / ".pulumi"
    checkpoint = {"stack": f"organization/kubeflow-spot/{name}", "latest": recorded["state"]}
    state = {"version": recorded["version"], "checkpoint": checkpoint}
    _write(states / "stacks" / "kubeflow-spot" / f"{name}.json", state)
    (states / "meta.yaml").write_text("version: 1\n")
    for file, memory in recorded["clouds"].items():
        _write(home.cloud / file, memory)
    client = Client(plane.admin_kubeconfig)
    # The kinds that the cloud brings.
    kinds = [body for body in cloud.objects(plane.version) if body["kind"] == "CustomResourceDefinition"]
    declared = [each for each in recorded["state"]["resources"] if each["type"].startswith(_INSIDE)]
    try:
        node_objects.install_addons(client, kinds, "recorded")
        for each in declared:
            assert until(partial(_served, client, each["inputs"]))
            client.apply(each["inputs"], each["outputs"]["__fieldManager"])
        yield stack
    finally:
        for body in (*(each["inputs"] for each in reversed(declared)), *kinds):
            metadata = body["metadata"]
            client.delete(body["apiVersion"], body["kind"], metadata["name"], metadata.get("namespace"))
        client.close()


def _attached(plane: ControlPlane, folder: Path, cloud: Plugin) -> ControlPlane:
    """Return a running control plane as that of a cluster of this cloud. Its folder's name is in kubeconfigs."""
    clusters.note(folder, {"version": plane.version, "cloud": cloud.name})
    for part in ("certificates", "ports.json", "processes", "token"):
        (folder / part).symlink_to(plane.directory / part)
    cloud.trust(folder.parent)
    return clusters.plane(folder)


def _served(client: Client, body: dict[str, Any]) -> bool:
    """Return whether the API server knows the kind of an object: one just defined is served a moment later."""
    try:
        client.namespaced(body)
    except ApiError:
        return False
    return True


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


if __name__ == "__main__":
    main(sys.argv[1])
