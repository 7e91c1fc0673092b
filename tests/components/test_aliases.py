"""Aliases the program's resources are declared with."""

from __future__ import annotations

import re

import pytest

from tests.components.program import PROJECT, declare, stack_config

pytestmark = pytest.mark.program


def test_no_azure_resource_has_an_alias_of_an_api_version_and_renamed_types_keep_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = stack_config(PROJECT / "Pulumi.dev.yaml")
    settings["kubeflow-spot:cloud"]["monitoring"] = {"metrics": {}}
    declared = declare(settings, monkeypatch).resources
    azure = [resource for resource in declared if resource.type.startswith("azure-native:")]
    aliases = [alias["spec"]["type"] for resource in azure for alias in resource.options.get("aliases", ())]
    assert "azure-native:insights:DataCollectionRule" in aliases
    assert [alias for alias in aliases if re.search(r"/v\d", alias)] == []
