"""The provider of Kubernetes and its objects, declared by name: what the SDK's classes would declare."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pulumi
import pulumi_kubernetes
import pytest

from components.layer import provider
from tests.components import azure
from tests.components.program import declare
from tests.components.test_declared_by_name import requests_of

pytestmark = [pytest.mark.program, pytest.mark.filterwarnings("ignore:gcp.compute:DeprecationWarning")]


PULL_SECRET = {"name": "acr", "server": "example.azurecr.io", "username": "puller", "password": "correct horse"}


def of_kubernetes(
    monkeypatch: pytest.MonkeyPatch, *names: str
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Requests of the program, and those of the SDK's classes for the same, by the last part of the type."""
    settings = {**azure.PRIVATE, "kubeflow-spot:imagePullSecrets": [PULL_SECRET]}
    resources = {r.type.rpartition(":")[2]: r for r in declare(settings, monkeypatch).resources}

    def declare_with_sdk() -> None:
        pulumi_kubernetes.Provider(
            resources["kubernetes"].name,
            kubeconfig="kubeconfig",
            cluster_identifier="lab",
            enable_config_map_mutable=True,
            enable_secret_mutable=True,
        )
        inputs = resources["Secret"].inputs
        pulumi_kubernetes.core.v1.Secret(
            resources["Secret"].name,
            metadata=inputs["metadata"],
            type=inputs["type"],
            data=inputs["data"]["value"],
        )

    requests = {
        type.rpartition(":")[2]: request for (type, _), request in requests_of(declare_with_sdk, monkeypatch).items()
    }
    return {name: resources[name].options for name in names}, {name: requests[name] for name in names}


@pytest.mark.parametrize("kind", ["kubernetes", "Secret"])
def test_the_provider_of_kubernetes_and_its_secrets_are_declared_like_the_sdks(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_program, of_sdk = of_kubernetes(monkeypatch, kind)
    of_program[kind]["object"].pop("kubeconfig", None)
    of_sdk[kind]["object"].pop("kubeconfig", None)
    for option in ("object", "type", "name", "version", "pluginDownloadURL", "additionalSecretOutputs", "aliases"):
        assert of_program[kind].get(option) == of_sdk[kind].get(option), option


@pytest.mark.parametrize("word", ["true", "1", "F", "perhaps"])
@pytest.mark.parametrize(
    "switch",
    [
        "DELETE_UNREACHABLE",
        "ENABLE_CONFIGMAP_MUTABLE",
        "ENABLE_PATCH_FORCE",
        "ENABLE_SECRET_MUTABLE",
        "ENABLE_SERVER_SIDE_APPLY",
        "SKIP_UPDATE_UNREACHABLE",
        "SUPPRESS_DEPRECATION_WARNINGS",
        "SUPPRESS_HELM_HOOK_WARNINGS",
        "UPSERT_EXISTING_OBJECTS",
    ],
)
def test_the_provider_reads_the_environment_as_the_class_does(
    switch: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kubeconfig_options = {"kubeconfig": "k", "cluster_identifier": "lab"}
    monkeypatch.setenv(f"PULUMI_K8S_{switch}", word)

    def both() -> None:
        pulumi_kubernetes.Provider("theirs", **kubeconfig_options)
        provider.Provider("ours", **kubeconfig_options, opts=pulumi.ResourceOptions())

    inputs = {name: request["object"] for (_, name), request in requests_of(both, monkeypatch).items()}
    assert inputs["ours"] == inputs["theirs"]


def test_every_switch_of_the_class_is_one_of_those() -> None:
    source = inspect.getsource(pulumi_kubernetes.provider)
    assert set(re.findall(r"'(PULUMI_K8S_\w+)'", source)) == set(provider.ENVIRONMENT.values())
