"""Versions of Kubernetes: a running cluster may have one that no new cluster can have, and a cloud has newer ones every few months.

Those that no cluster has have error rows in tests/configs/errors.
"""

from __future__ import annotations

from typing import Any

import pytest
from config.clouds.azure.rules import azure_version_rules as azure_versions
from config.clouds.gcp.rules import gcp_cluster_rules as gcp_cluster
from config.clouds.versions import Versions
from config.stack_file import loader

from tests.config.stack import good, on_gke


def versioned(raw: dict[str, Any], version: str, **cloud: Any) -> dict[str, Any]:
    raw["cluster"] |= {"kubernetesVersion": version, "reason": "our Istio is tested with it"}
    raw["cloud"] |= cloud
    return raw


WARNED = {
    "a newer version": (
        versioned(good(), "1.38"),
        "cluster.kubernetesVersion",
        "az aks get-versions --location westeurope",
    ),
    "a newer version on GKE": (
        versioned(on_gke(), "1.38"),
        "cluster.kubernetesVersion",
        "gcloud container get-server-config",
    ),
    "a version that AKS dropped": (versioned(good(), "1.30"), "cluster.kubernetesVersion", "for a new cluster a later"),
    "a version that AKS dropped years ago": (
        versioned(good(), "1.22", tier="Premium", longTermSupport=True, upgrades={"channel": "patch"}),
        "cluster.kubernetesVersion",
        "for a new cluster a later version",
    ),
    "a version with long-term support only": (
        versioned(good(), "1.33"),
        "cluster.kubernetesVersion",
        'for a new cluster "1.34" or later',
    ),
    "an override with a version that AKS dropped": (
        good(overrides=[{"pin": "kubernetesVersion", "value": "1.33", "reason": "our Istio is tested with it"}]),
        "overrides[0].value",
        "`tier: Premium` and `longTermSupport: true`",
    ),
    "a version that GKE dropped": (
        versioned(on_gke(), "1.30"),
        "cluster.kubernetesVersion",
        "for a new cluster a later version",
    ),
    "a version that left a channel": (
        versioned(on_gke(), "1.33"),
        "cloud.releaseChannel",
        "one of: EXTENDED",
    ),
    "a version that a channel does not have yet": (
        versioned(on_gke(), "1.36", releaseChannel="STABLE"),
        "cloud.releaseChannel",
        "one of: RAPID, REGULAR, EXTENDED",
    ),
}


@pytest.mark.parametrize("words", WARNED)
def test_a_version_that_a_cluster_may_have_is_taken_with_a_warning(words: str) -> None:
    raw, path, remedy = WARNED[words]
    spec, problems = loader.read(raw)
    assert spec is not None, problems
    (problem,) = (problem for problem in problems if problem.path == path)
    assert problem.warning
    assert ("an existing one may keep it" in problem.what) == any(gone in words for gone in ("dropped", "left", "only"))
    assert remedy in problem.remedy


@pytest.mark.parametrize("raw", [good(), on_gke()], ids=["azure", "gcp"])
def test_a_version_of_more_than_three_years_ago_is_refused(raw: dict[str, Any]) -> None:
    spec, problems = loader.read(versioned(raw, "1.21"))
    errors = [problem.path for problem in problems if not problem.warning]
    assert (spec, errors) == (None, ["cluster.kubernetesVersion"])


TAKEN = {
    "the oldest version": versioned(good(), "1.34"),
    "the oldest version with long-term support": versioned(
        good(), "1.31", tier="Premium", longTermSupport=True, upgrades={"channel": "patch"}
    ),
    "the oldest version of a channel": versioned(on_gke(), "1.31", releaseChannel="EXTENDED"),
}


@pytest.mark.parametrize("raw", TAKEN.values(), ids=TAKEN)
def test_a_version_of_the_list_is_taken_in_silence(raw: dict[str, Any]) -> None:
    assert loader.read(raw)[1] == []


@pytest.mark.parametrize("first", ["1.36", "1.40"])
def test_no_list_of_a_later_year_refuses_a_release(first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack stays on a released pin for as long as its owners like."""
    later = Versions(first, "1.44", "May 2029")
    channels = dict.fromkeys(("RAPID", "REGULAR", "STABLE", "EXTENDED"), later)
    monkeypatch.setattr(gcp_cluster, "channels", lambda: channels)
    monkeypatch.setattr(gcp_cluster, "all_channels", lambda: later)
    monkeypatch.setattr(
        azure_versions, "versions", lambda: dict.fromkeys(("KubernetesOfficial", "AKSLongTermSupport"), later)
    )
    for raw, paths in ((good(release="r2026-09"), []), (on_gke() | {"release": "r2026-09"}, ["cloud.releaseChannel"])):
        spec, problems = loader.read(raw)
        assert spec is not None
        assert [problem.path for problem in problems if problem.path in ("cloud.releaseChannel", "release")] == paths
