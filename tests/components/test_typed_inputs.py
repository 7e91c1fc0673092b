"""mypy sees a mistake in the inputs of the SDKs' classes, as the project's settings have it read them.

It reads the SDKs' modules for 25 seconds where `.mypy_cache` does not have them, and else takes one.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.components.program import PROJECT

pytestmark = [pytest.mark.process, pytest.mark.slow]

IMPORTS = [
    "import pulumi_kubernetes as k8s",
    "from pulumi_azure_native import containerservice, network",
    "from pulumi_gcp import compute, container",
]
PLANTED = {
    # A misspelt key
    'containerservice.ManagedClusterAgentPoolProfileArgs(name="a", vm_size="Standard_D4ds_v5")': (
        'containerservice.ManagedClusterAgentPoolProfileArgs(name="a", vm_sze="Standard_D4ds_v5")'
    ),
    'compute.Subnetwork("a", network="n", private_ip_google_access=True)': (
        'compute.Subnetwork("a", network="n", private_google_access=True)'
    ),
    'k8s.core.v1.ContainerArgs(name="a", image="b")': 'k8s.core.v1.ContainerArgs(name="a", imge="b")',
    # A member that the enumeration does not have
    "containerservice.AgentPoolMode.SYSTEM": "containerservice.AgentPoolMode.SYSTM",
    # A value of another type
    'containerservice.AgentPool("a", resource_group_name="g", resource_name_="c", max_count=3)': (
        'containerservice.AgentPool("a", resource_group_name="g", resource_name_="c", max_count="three")'
    ),
    "container.NodePoolNodeConfigArgs(spot=True)": 'container.NodePoolNodeConfigArgs(spot="true")',
    "k8s.core.v1.TolerationArgs(toleration_seconds=30)": 'k8s.core.v1.TolerationArgs(toleration_seconds="30s")',
    'k8s.meta.v1.ObjectMetaArgs(labels={"a": "b"})': 'k8s.meta.v1.ObjectMetaArgs(labels=["a"])',
    # The arguments of another property
    'network.VirtualNetwork("a", resource_group_name="g", address_space=network.AddressSpaceArgs())': (
        'network.VirtualNetwork("a", resource_group_name="g", address_space=network.SubResourceArgs())'
    ),
    'container.NodePool("a", cluster="c", autoscaling=container.NodePoolAutoscalingArgs())': (
        'container.NodePool("a", cluster="c", autoscaling=container.NodePoolManagementArgs())'
    ),
}
"""Mistakes by the right line."""


def test_every_planted_mistake_is_an_error_and_the_right_line_beside_it_is_none(tmp_path: Path) -> None:
    lines = [*IMPORTS, *(line for pair in PLANTED.items() for line in pair)]
    source = tmp_path / "typed_inputs.py"
    source.write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "mypy", "--output=json", str(source)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    said = [json.loads(line) for line in done.stdout.splitlines()]
    wrong = {lines[each["line"] - 1] for each in said if each["severity"] == "error"}
    assert wrong == set(PLANTED.values())
