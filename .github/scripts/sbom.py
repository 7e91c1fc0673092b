"""Writes the Go modules of tools/ as an SBOM: what each go.mod pins, with the digest that go.sum has.

usage: sbom.py > go.cdx.json

CycloneDX 1.5 (cyclonedx.org/docs/1.5/json). Python's list is uv's own: `uv export --format cyclonedx1.5`. No published tool for Go
fits: cyclonedx-gomod 1.10.0 fails on tools/cluster, leaves out modules, and downloads all of them first.
"""

from __future__ import annotations

import base64
import json
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

TOOLS = Path(__file__).resolve().parents[2] / "tools"
_REQUIRED = re.compile(r"^(?:require )?\s*(\S+) (v\S+)(?: // indirect)?$", re.MULTILINE)
_REPLACED = re.compile(r"^(?:replace )?\s*(\S+)(?: v\S+)? => (\S+) (v\S+)$", re.MULTILINE)

Module = tuple[str, str]
"""Path and version."""


def modules(go_mod: str) -> set[Module]:
    """Return the modules that a go.mod selects. Since Go 1.17 it names indirect ones too."""
    replaced = {path: (by, version) for path, by, version in _REPLACED.findall(go_mod)}
    return {replaced.get(path, (path, version)) for path, version in _REQUIRED.findall(go_mod)}


def digests(go_sum: str) -> dict[Module, str]:
    """Return the SHA-256 of each module's files: go.sum's `h1` in hexadecimal (golang.org/x/mod, package dirhash)."""
    lines = [line.split() for line in go_sum.splitlines()]
    return {
        (path, version): base64.b64decode(digest.removeprefix("h1:")).hex()
        for path, version, digest in lines
        if not version.endswith("/go.mod")
    }


def document(tools: Path) -> dict[str, Any]:
    """Return the SBOM of all folders of tools/. A module without a digest is built on other systems only."""
    components: dict[str, dict[str, Any]] = {}
    needs = []
    for file in sorted(tools.glob("*/go.mod")):
        known = digests(file.with_name("go.sum").read_text())
        pinned = sorted(modules(file.read_text()))
        for module in pinned:
            reference = purl(module)
            component = {"type": "library", "bom-ref": reference, "name": module[0], "version": module[1]}
            hashes = [{"alg": "SHA-256", "content": known[module]}] if module in known else []
            old = components.setdefault(reference, {**component, "purl": reference, "hashes": hashes})
            old["hashes"] = old["hashes"] or hashes
        name = f"tools/{file.parent.name}"
        components[name] = {"type": "application", "bom-ref": name, "name": name}
        needs.append({"ref": name, "dependsOn": [purl(module) for module in pinned]})
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "components": [components[reference] for reference in sorted(components)],
        "dependencies": needs,
    }


def purl(module: Module) -> str:
    """Return the package URL (github.com/package-url/purl-spec, golang)."""
    return f"pkg:golang/{module[0]}@{quote(module[1])}"


if __name__ == "__main__":
    json.dump(document(TOOLS), sys.stdout, indent=2)
