"""The provider that the program reads a cloud by."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent
from typing import Any

import pulumi
import pytest

from components.layer import discovery
from tests.components import program
from tests.components.program import PROJECT, Cloud, declare

OF_THE_STACK = "readStackOutputs"
"""No cloud's: the engine itself answers."""

CLUSTER = "KubeflowCluster(spec.name, spec)"
OWN = """\
own = pulumi.ProviderResource("{package}", "own", {{}})
other = pulumi.ProviderResource("aws", "other", {{}})
"""
PARENT = 'parent = pulumi.ComponentResource("a:b:C", "parent", None, pulumi.ResourceOptions(providers=[own]))\n'


class RecordingCloud(Cloud):
    """Remembers which provider was asked what."""

    def __init__(self) -> None:
        super().__init__(None)
        self.calls: list[tuple[str, str]] = []

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        name = args.token.rpartition(":")[2]
        if name != OF_THE_STACK:
            self.calls.append((name, args.provider))
        if args.token.endswith(":getCluster") and args.args["name"] == "theirs":
            return {
                **args.args,
                "nodePools": [],
                "endpoint": "203.0.113.20",
                "masterAuths": [{"clusterCaCertificate": ""}],
            }
        if args.token.endswith(":getManagedCluster") and args.args["resourceName"] == "theirs":
            return {"agentPoolProfiles": []}
        return super().call(args)


def read_calls(
    settings: dict[str, Any], opts: str, folder: Path, monkeypatch: pytest.MonkeyPatch, package: str = "gcp"
) -> list[tuple[str, str]]:
    """Calls of a program that declares the cluster with these options, by function: their provider. `own` is of that package."""
    text = (PROJECT / "__main__.py").read_text()
    assert text.count(CLUSTER) == 1
    own = OWN.format(package=package) + (PARENT if "parent" in opts else "")
    declared = f"{own}cluster = KubeflowCluster(spec.name, spec, opts=pulumi.ResourceOptions({opts}))"
    changed = text.replace(f"    cluster = {CLUSTER}", indent(declared, "    "))
    (folder / "__main__.py").write_text(changed)
    monkeypatch.setattr(program, "PROJECT", folder)
    monkeypatch.setattr(
        discovery, "read_contents", lambda kubeconfig, what, compute_class=None: discovery.Contents("1.36.2")
    )
    cloud = RecordingCloud()
    declare(settings, monkeypatch, cloud=cloud)
    return cloud.calls
