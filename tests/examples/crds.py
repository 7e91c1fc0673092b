"""CustomResourceDefinitions of the projects whose objects the examples make, from pinned Go modules in Go's own cache."""

import json
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path

import yaml

from sandbox.base.home import PROJECT
from sandbox.kubernetes.client import Object
from sandbox.tests.api import Api, Refused
from sandbox.tests.stack import eventually
from sandbox.toolchain.golang import find_go
from sandbox.toolchain.programs import cache_directory

PINS = Path(__file__).with_name("modules.toml")


@cache
def folder(path: str, version: str, hashed: str) -> Path:
    """Return the files of a module. Raises AssertionError when Go refuses it, or its hash is another."""
    go = find_go(cache_directory(), PROJECT, print)
    command = [str(go.path), "mod", "download", "-json", f"{path}@{version}"]
    done = subprocess.run(
        command, env=dict(go.environment), cwd=cache_directory(), capture_output=True, text=True, check=False
    )
    answer = json.loads(done.stdout)
    assert "Error" not in answer, answer["Error"]
    assert answer["Sum"] == hashed, f"{path}@{version} has the hash {answer['Sum']}, not {hashed}"
    return Path(answer["Dir"])


def definitions() -> Iterator[Object]:
    """Yield every CustomResourceDefinition that is pinned."""
    for module in tomllib.loads(PINS.read_text())["module"]:
        root = folder(module["path"], module["version"], module["sum"])
        for pattern in module["crds"]:
            files = sorted(root.glob(pattern))
            assert files, f"{module['path']} has no {pattern}"
            for file in files:
                yield yaml.load(file.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def install(api: Api, wanted: Sequence[Object] = ()) -> None:
    """Create these definitions, or all that are pinned; returns when the API server serves their objects."""
    wanted = wanted or list(definitions())
    for definition in wanted:
        # Conversion and injected certificates need the project's own webhook.
        definition["spec"].pop("conversion", None)
        try:
            api.create(definition)
        except Refused as refused:
            if refused.status != 409:
                raise
    for definition in wanted:
        eventually(partial(_served, api, definition), f"{definition['metadata']['name']} is served")


def remove(api: Api, wanted: Sequence[Object]) -> None:
    """Delete definitions and all their objects; returns when they are gone, so that others may have the names."""
    names = {definition["metadata"]["name"] for definition in wanted}
    for definition in wanted:
        api.delete(definition)
    left = partial(api.list, "apiextensions.k8s.io/v1", "CustomResourceDefinition")
    eventually(lambda: not names & {d["metadata"]["name"] for d in left()}, "the definitions are gone")


def _served(api: Api, definition: Object) -> bool:
    """Return whether the objects of a definition are listed and in discovery, which controllers read at their start.

    404 before it is established, 429 while their cache is filled; discovery comes a little later.
    """
    spec = definition["spec"]
    version = next(version["name"] for version in spec["versions"] if version["storage"])
    try:
        api.list(f"{spec['group']}/{version}", spec["names"]["kind"])
        found = api.request("GET", f"/apis/{spec['group']}/{version}")["resources"]
    except ValueError:
        # "404 page not found" is no JSON.
        return False
    except Refused as refused:
        if refused.status not in (404, 429):
            raise
        return False
    return spec["names"]["plural"] in {resource["name"] for resource in found}
