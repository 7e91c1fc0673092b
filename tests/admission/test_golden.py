"""Golden pods on a real API server and scheduler, with the objects of the program in force."""

import pytest

from sandbox.tests.subjects import DEV
from tests.admission.additions import Added, added, plain
from tests.admission.bed import Bed
from tests.admission.corpus import STATES, Golden, Outcome, corpus
from tests.admission.observation import observe
from tests.admission.webhook import COLLECTOR, LABEL, VARIABLE, katib

pytestmark = pytest.mark.engine

GOLDENS = corpus()
ADMITTED = [name for name, golden in GOLDENS.items() if not golden.expect.refused]
REFUSED = [name for name, golden in GOLDENS.items() if golden.expect.refused]
IN_PROFILES = [name for name in ADMITTED if GOLDENS[name].in_profile]
TRIALS = {name: golden.trial for name, golden in GOLDENS.items() if golden.trial}
KINDS = {"pipelineStep", "trainingWorker", "jobSetNode", "job", "other"}


@pytest.fixture(scope="module")
def outcomes(bed: Bed, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    with katib(bed.api, frozenset(TRIALS.values()), tmp_path_factory.mktemp("webhook")) as requested:
        outcomes = observe(bed, GOLDENS.values())
    assert requested
    return outcomes


def expected(golden: Golden, bed: Bed) -> Added:
    tolerations = {DEV.toleration["key"]: DEV.toleration}
    expect = golden.expect
    grace = expect.grace and bed.subject.grace
    return Added([tolerations[key] for key in expect.tolerations], expect.affinity, grace)


@pytest.mark.parametrize("name", ADMITTED)
def test_only_the_expected_additions_are_made(name: str, outcomes: dict[str, Outcome], bed: Bed) -> None:
    outcome = outcomes[name]
    assert added(plain(outcome.untouched["spec"]), plain(outcome.pod["spec"])) == expected(GOLDENS[name], bed)


@pytest.mark.parametrize("name", ADMITTED)
def test_a_second_pass_adds_nothing(name: str, outcomes: dict[str, Outcome]) -> None:
    assert plain(outcomes[name].again) == plain(outcomes[name].pod["spec"])


@pytest.mark.parametrize("name", ADMITTED)
def test_the_scheduler_chooses_the_expected_pool(name: str, outcomes: dict[str, Outcome]) -> None:
    assert outcomes[name].landed == dict(zip(STATES, GOLDENS[name].expect.lands, strict=True))


@pytest.mark.parametrize("name", IN_PROFILES)
def test_the_kind_is_recognised_and_only_kinds_follow_the_profile(name: str, outcomes: dict[str, Outcome]) -> None:
    """In a profile whose label asks for spot, pods of a movable kind move, and all others stay."""
    outcome = outcomes[name]
    kind = GOLDENS[name].expect.kind if GOLDENS[name].expect.kind in KINDS else None
    assert outcome.kind == kind
    moved = added(plain(outcome.untouched["spec"]), plain(outcome.asked_by_namespace))
    assert moved.affinity == ("preferred" if kind else "none")
    assert kind or moved == Added()


@pytest.mark.parametrize("name", REFUSED)
def test_the_guard_names_rule_and_pod(name: str, outcomes: dict[str, Outcome]) -> None:
    golden = GOLDENS[name]
    assert f"rule {golden.expect.refused}: " in outcomes[name].refused
    assert f"{golden.namespace}/{golden.object['metadata']['name']}" in outcomes[name].refused


@pytest.mark.parametrize("name", [name for name in TRIALS if name.endswith("-late")])
def test_a_trial_is_labelled_after_the_policy_has_judged_it(name: str, outcomes: dict[str, Outcome]) -> None:
    late, early = outcomes[name].pod, outcomes[name.removesuffix("-late")].pod
    assert late["metadata"]["labels"][LABEL] == GOLDENS[name].trial
    assert LABEL not in early["metadata"]["labels"]
    variables = {item["name"] for item in late["spec"]["containers"][0].get("env", ())}
    assert VARIABLE in variables
    collects = COLLECTOR in {item["name"] for item in late["spec"]["containers"]}
    assert collects == ("pytorchjob" not in name)
    for key in ("tolerations", "affinity", "terminationGracePeriodSeconds"):
        assert late["spec"][key] == early["spec"][key]
