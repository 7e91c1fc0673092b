"""The corpus and its table, and the comparison of specs for golden pods."""

from typing import Any

import pytest

from sandbox.tests.subjects import DEV
from tests.admission import table
from tests.admission.additions import ON_SPOT, PREFERENCE, PREFERRED, Added, Overwritten, Spec, added, plain, requiring
from tests.admission.bed import NAMESPACES
from tests.admission.corpus import STATES, corpus

KINDS = {"pipelineStep", "trainingWorker", "jobSetNode", "job", "other", "labelled", None}
SPOT = DEV.toleration
ZONE = {"key": "zone", "operator": "Exists"}
OWN = {"weight": 1, "preference": {"matchExpressions": [ZONE]}}


def preferring(*terms: Spec) -> Spec:
    return {"affinity": {"nodeAffinity": {PREFERRED: list(terms)}}}


def test_the_table_of_the_page_is_up_to_date() -> None:
    assert table.written(table.PAGE.read_text()) == table.ways(through=True), f"run `{table.COMMAND}`"


def test_a_page_keeps_the_text_around_its_table() -> None:
    page = table.PAGE.read_text()
    stale = page.replace("| let through: ", "| stopped: ")
    assert stale != page
    assert table.rewritten(stale, table.ways(through=True)) == page
    with pytest.raises(ValueError, match="no lines"):
        table.rewritten("# Placement\n", "")


def test_where_pods_and_manifests_land_is_printed_once_for_each() -> None:
    pods, manifests = table.table(corpus().values()), table.projects(table.manifests().values())
    assert [name for name in corpus() if name.removeprefix("refused-") not in pods] == []
    named = [each for each in table.manifests().values() if {*map(str, each.expect.values())} != {"cpu"}]
    assert [each.name for each in named if each.name not in manifests] == []


def test_every_golden_pod_is_unique_and_has_its_source() -> None:
    assert len(corpus()) >= 40
    seen = set()
    for golden in corpus().values():
        metadata = golden.object["metadata"]
        # Some exist twice, with Katib's webhook and without; the suffix keeps the two apart.
        key = (golden.object["kind"], metadata["name"], golden.name.endswith("-late"))
        assert golden.expect.refused or key not in seen, golden.name
        seen.add(key)
        assert "/" in golden.source, golden.name
        assert metadata["namespace"] in {*NAMESPACES, "kube-system"}
        assert golden.expect.kind in KINDS
        assert len(golden.expect.lands) == len(STATES)
        # A refused pod lands nowhere, and a pod with additions has a kind.
        assert bool(golden.expect.refused) == (set(golden.expect.lands) == {"-"}), golden.name
        assert golden.expect.kind or (golden.expect.tolerations, golden.expect.affinity) == ((), "none"), golden.name


@pytest.mark.parametrize(
    ("before", "after", "additions"),
    [
        ({}, {}, Added()),
        ({}, {"tolerations": [SPOT]}, Added([SPOT])),
        ({}, preferring(PREFERENCE), Added(affinity="preferred")),
        (preferring(OWN), preferring(OWN, PREFERENCE), Added(affinity="preferred")),
        (requiring(ZONE), requiring(ZONE, ON_SPOT), Added(affinity="required")),
        ({"terminationGracePeriodSeconds": 30}, {"terminationGracePeriodSeconds": 25}, Added(grace=25)),
    ],
)
def test_additions_are_recognised(before: dict[str, Any], after: dict[str, Any], additions: Added) -> None:
    assert added(before, after) == additions


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"priority": 0}, {"priority": 1}),
        ({"tolerations": [{"key": "own"}]}, {"tolerations": [SPOT]}),
        (preferring(OWN), preferring(PREFERENCE)),
        ({"affinity": {"podAffinity": {}}}, preferring(PREFERENCE)),
        (requiring(ZONE), requiring(ON_SPOT)),
        ({}, preferring(OWN)),
        ({"terminationGracePeriodSeconds": 60}, {"terminationGracePeriodSeconds": 25}),
    ],
)
def test_a_change_beyond_additions_is_an_error(before: dict[str, Any], after: dict[str, Any]) -> None:
    with pytest.raises(Overwritten):
        added(before, after)


def test_a_spec_is_compared_without_its_node_and_the_name_of_its_token() -> None:
    def spec(token: str, node: str) -> dict[str, Any]:
        mount = {"name": f"kube-api-access-{token}", "mountPath": "/var/run/secrets"}
        return {
            "nodeName": node,
            "volumes": [{"name": mount["name"]}],
            "containers": [{"name": "main", "volumeMounts": [mount]}],
        }

    assert plain(spec("x8k2p", "a")) == plain(spec("q4w2z", "b"))
    assert plain({"containers": [{"name": "a"}]}) != plain({"containers": [{"name": "b"}]})
