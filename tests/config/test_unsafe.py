"""Settings that a cloud takes and that harm somebody later: a warning. What is refused has an error row in tests/configs/errors."""

from __future__ import annotations

from typing import Any

import pytest
from config.stack_file import loader

from tests.config.stack import GOOD, good, on_gke, with_pool

CPU = {"name": "general", "machine": "n2-standard-8", "maxNodes": 6}

WARNED = {
    "a label that begins as Google's do": (
        on_gke([{**CPU, "labels": {"goog-gke-node": "true"}}]),
        'pools[0].labels["goog-gke-node"]',
        "another name",
    ),
    "a tag that begins as Google's do": (
        {**on_gke(), "cluster": {"name": "ml-test", "tags": {"goog-k8s": "yes"}}},
        'cluster.tags["goog-k8s"]',
        "another name",
    ),
    "a taint in a domain of Kubernetes'": (
        with_pool(taints=[{"key": "node-role.kubernetes.io/vision", "value": "yes"}]),
        "pools[1].taints[0].key",
        "a domain of your own",
    ),
    "a taint of a node's state, lower down": (
        with_pool(taints=[{"key": "a.k8s.io/vision", "value": "yes"}]),
        "pools[1].taints[0].key",
        "a domain of your own",
    ),
    "a quota in a namespace of the platform": (
        good(scheduling={"profiles": [{"namespace": "kubeflow", "gpus": 1}]}),
        "scheduling.profiles[0].namespace",
        "guard.pipelineNamespaces",
    ),
    "a quota in a further namespace of the platform": (
        good(
            scheduling={
                "guard": {"additionalPlatformNamespaces": ["monitoring"]},
                "profiles": [{"namespace": "monitoring", "gpus": 1}],
            }
        ),
        "scheduling.profiles[0].namespace",
        "guard.pipelineNamespaces",
    ),
    "spot pools alone": (good(pools=GOOD["pools"][1:]), "pools", "add an on-demand pool"),
    "a tag with the name of a secret": (
        good(cluster={"name": "ml-test", "tags": {"registry-password": "hunter2"}}),
        'cluster.tags["registry-password"]',
        "remove it",
    ),
}

TAKEN = {
    "steps of pipelines with a quota in a further namespace of the platform": good(
        scheduling={
            "guard": {"additionalPlatformNamespaces": ["ml"], "pipelineNamespaces": ["ml"]},
            "profiles": [{"namespace": "ml", "gpus": 1}],
        }
    ),
    "spot pools beside those of the owner": {
        "release": "r2026-11",
        "cloud": {"provider": "azure", "existingCluster": {"resourceGroup": "platform", "name": "shared"}},
        "pools": GOOD["pools"][1:],
        "growth": GOOD["growth"],
    },
    "labels and tags that only look like secrets": {
        **with_pool(labels={"token-free": "yes", "example.com/goog-images": "a"}),
        "cluster": {"name": "ml-test", "tags": {"password": "", "goog-like": "on AKS"}},
    },
    "a subnet for gateways in which there is no pool": good(
        cloud={**GOOD["cloud"], "network": {"policy": "calico", "subnets": {"GatewaySubnet": "10.8.16.0/24"}}}
    ),
    "a taint of another project's": with_pool(taints=[{"key": "node.cilium.io/agent-not-ready", "value": "true"}]),
}


@pytest.mark.parametrize(("raw", "path", "remedy"), WARNED.values(), ids=WARNED)
def test_an_unsafe_setting_is_taken_with_a_warning(raw: dict[str, Any], path: str, remedy: str) -> None:
    spec, problems = loader.read(raw)
    assert spec is not None, problems
    (problem,) = [problem for problem in problems if problem.path == path]
    assert problem.warning
    assert remedy in problem.remedy


@pytest.mark.parametrize("raw", TAKEN.values(), ids=TAKEN)
def test_what_only_looks_alike_is_taken_in_silence(raw: dict[str, Any]) -> None:
    spec, problems = loader.read(raw)
    assert spec is not None
    assert problems == []
