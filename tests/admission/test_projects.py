"""Manifests of public projects land where the promise of docs/placement.md says, on both clouds."""

import json
from collections.abc import Iterator

import pytest

from sandbox.tests.api import Object
from tests.admission.bed import Bed
from tests.admission.growing import STATES, Outcome, Outcomes, definitions, observe
from tests.admission.projects import LANDS, REFUSED, corpus, stem
from tests.examples import crds

pytestmark = pytest.mark.restless

MANIFESTS = corpus()
SPOT_KEYS = {"kubernetes.azure.com/scalesetpriority", "cloud.google.com/gke-spot"}


@pytest.fixture(scope="module")
def outcomes(bed: Bed) -> Iterator[Outcomes]:
    """Return the outcomes of every manifest, by manifest and role."""
    wanted = definitions(list(MANIFESTS.values()))
    crds.install(bed.api, wanted)
    try:
        yield observe(bed, MANIFESTS)
    finally:
        crds.remove(bed.api, wanted)


def by_role(outcomes: Outcomes, name: str) -> dict[str, Outcome]:
    """Return the outcomes of a manifest by role."""
    return {role: outcome for (manifest, role), outcome in outcomes.items() if manifest == name}


def tolerated(pod: Object) -> set[str]:
    return {toleration.get("key", "") for toleration in pod["spec"]["tolerations"]}


@pytest.mark.engine
@pytest.mark.parametrize("name", MANIFESTS)
def test_each_role_lands_where_the_promise_says(name: str, outcomes: Outcomes, bed: Bed) -> None:
    manifest, found = MANIFESTS[name], by_role(outcomes, name)
    for role, outcome in found.items():
        word = manifest.lands(role, bed.subject.name)
        if word.startswith(REFUSED):
            assert f"rule {word.removeprefix(REFUSED)}: " in outcome.refused, role
        else:
            assert not outcome.refused, role
            places = tuple(outcome.landed[state] for state in STATES)
            assert places == LANDS[word], role
    assert {stem(role) for role in found} == {stem(role) for role in manifest.expect}


@pytest.mark.engine
@pytest.mark.parametrize("name", MANIFESTS)
def test_only_what_belongs_on_spot_may_run_there(name: str, outcomes: Outcomes, bed: Bed) -> None:
    for role, outcome in by_role(outcomes, name).items():
        if MANIFESTS[name].lands(role, bed.subject.name) in ("cpu", "on-demand"):
            assert not [p for p in outcome.pods if tolerated(p) & SPOT_KEYS], role


@pytest.mark.engine
@pytest.mark.parametrize("name", MANIFESTS)
def test_a_gang_lands_as_a_whole_or_not_at_all(name: str, outcomes: Outcomes) -> None:
    gang = {role: outcome for role, outcome in by_role(outcomes, name).items() if outcome.gpu}
    for role, outcome in gang.items():
        # Pods of one role differ in nothing that decides about their nodes.
        assert len(outcome.forms) == 1, (role, outcome.forms)
    for state in STATES:
        assert len({outcome.landed[state] == "pending" for outcome in gang.values()}) <= 1, state


@pytest.mark.engine
def test_none_pends_that_does_not_ask_for_other_nodes(outcomes: Outcomes) -> None:
    """Every state has a free GPU node and free CPU nodes: only a selector of their own keeps pods off."""
    pending = [key for key, outcome in outcomes.items() if "pending" in outcome.landed.values()]
    for key in pending:
        for form in outcomes[key].forms:
            assert json.loads(form).get("nodeSelector"), key


def test_the_corpus_has_sixty_manifests_each_with_its_source_and_a_reason() -> None:
    assert len(MANIFESTS) >= 60
    assert len({manifest.project for manifest in MANIFESTS.values()}) >= 20
    for name, manifest in MANIFESTS.items():
        path, _, commit = manifest.source.partition(" ")
        assert "/" in path, name
        assert commit, name
        for role, word in manifest.expect.items():
            words = set(word.values()) if isinstance(word, dict) else {word}
            assert {w for w in words if not w.startswith(REFUSED)} <= LANDS.keys(), name
            # Whatever does not simply prefer spot has a reason, and nothing else has.
            assert bool(manifest.reason(role)) == (words != {"spot"}), (name, role)
