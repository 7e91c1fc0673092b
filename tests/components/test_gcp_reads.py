"""Reads of Google Cloud: the provider that each read uses, and the meaning of an error."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pulumi
import pytest

from tests.components.google import KEY, L4, SHARED_VPC, stack
from tests.components.program import Cloud, CloudRefused, declare
from tests.components.reads import OF_THE_STACK, read_calls

pytestmark = pytest.mark.program


@pytest.mark.parametrize(
    "opts",
    [
        "provider=own",
        "providers=[other, own]",
        'providers={"gcp": own}',
        "parent=parent",
        "provider=other, parent=parent",
    ],
)
def test_every_read_goes_to_the_provider_of_the_cluster(
    opts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = copy.deepcopy(SHARED_VPC)
    settings["kubeflow-spot:cloud"]["encryption"] = {"secretsKey": KEY}
    calls = read_calls(settings, opts, tmp_path, monkeypatch)
    assert {name for name, _ in calls} == {"getCluster", "getSubnetwork", "getProject"}
    assert [name for name, provider in calls if "::own::" not in provider] == []


def test_the_read_of_an_existing_cluster_goes_to_the_same_provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = stack(L4, cloud={"existingCluster": {"location": "europe-west4", "name": "theirs"}})
    del (
        settings["kubeflow-spot:cloud"]["location"],
        settings["kubeflow-spot:systemPool"],
        settings["kubeflow-spot:cluster"],
    )
    calls = read_calls(settings, "provider=own", tmp_path, monkeypatch)
    assert [name for name, _ in calls] == ["getCluster"]
    assert "::own::" in calls[0][1]


@pytest.mark.parametrize(
    "refusal",
    [
        'googleapi: Error 403: Required "container.clusters.get" permission(s) for "projects/example-lab".',
        "googleapi: Error 403: Kubernetes Engine API has not been used in project example-lab before or it is disabled.",
        "projects/another/locations/europe-west4/clusters/lab not found",
        "projects/example-lab/locations/us-east1/clusters/lab not found",
        "googleapi: Error 404: Not found: projects/example-lab.",
    ],
)
def test_only_the_missing_cluster_itself_means_no_cluster_yet(refusal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing(Cloud):
        def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
            if args.token.endswith(OF_THE_STACK):
                return super().call(args)
            raise CloudRefused(f"invoking {args.token}: 1 error occurred:\n\t* {refusal}\n\n")

    with pytest.raises(
        pulumi.RunError, match="cluster 'lab' in europe-west4 of project example-lab cannot be read"
    ) as error:
        declare(stack(L4), monkeypatch, cloud=Refusing(None))
    assert refusal[:40] in str(error.value)
