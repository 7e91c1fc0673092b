"""What one round tells: a fault hides no second one, and a remedy is what the author can want."""

import re
from typing import Any

import pytest

from config.clouds import registry
from config.model.structure import by_key, models
from config.stack_file import loader, top_keys
from tests.config.stack import (
    GOOD,
    L4,
    azure,
    errors,
    extra_pool,
    gke_cluster,
    gke_pool,
    good,
    on_gke,
    system,
    with_pool,
)
from tests.config.stack_files import ERRORS, ErrorRow, edited, place_of, replaced

NOTHING: Any = [[]]
"""A value that no field takes, not even in part."""

OF_THE_VALUE = re.compile(
    r".*\.(labels|taints|fallback|diskType|devicePlugin|computeClass|secureBoot|installDriver|order|takeOwnership|properties)\b"
    r"|scheduling\.guard|cluster\.removedPools|(systemPool|workloads)\b|alerts\.labels.*|cluster\.tags.*"
)
"""Keys that are refused for what they hold, or whose object the file then lacks."""


def told(raw: dict[str, Any], path: str) -> list[str]:
    """Return the messages about a path."""
    return [f"{each.what} -> {each.remedy}" for each in loader.read_stack(raw)[1] if each.path == path]


REFUSED = [
    row
    for row in ERRORS
    if len(row.problems) == 1 and row.base != "nothing" and not OF_THE_VALUE.match(row.problems[0][0])
    and any(p.remedy.startswith("remove it") and "not a key" not in p.what for p in errors(row.settings()))
]  # fmt: skip


@pytest.mark.parametrize("row", REFUSED, ids=str)
def test_a_key_that_is_not_allowed_is_refused_whatever_it_holds(row: ErrorRow) -> None:
    (before,) = errors(row.settings())
    after = errors(replaced(row.settings(), place_of(before.path), NOTHING))
    assert (before.path, before.remedy) in [(each.path, each.remedy) for each in after]
    inside = (f"{before.path}.", f"{before.path}[")
    assert [each for each in after if each.path.startswith(inside)] == [] or ", or" in before.remedy


def test_many_rows_refuse_a_key() -> None:
    assert len(REFUSED) > 20


A10 = {"name": "a10", "machine": "g5.xlarge", "capacity": "spot", "maxNodes": 2}
T4 = {"name": "t4", "machine": "n2-standard-8", "gpus": 1, "gpuModel": "T4", "capacity": "spot", "maxNodes": 4}
N1_OF_L4 = {"name": "n1", "machine": "n1-standard-8", "gpuModel": "nvidia-l4", "maxNodes": 2}
ENTRA = {"localAccounts": "no", "tenantId": "2b0f5c1e-8f0e-4d3a-9c57-1f6f1f0a7c12"}
KEY = "projects/corp-keys/locations/global/keyRings/ml/cryptoKeys/etcd"
WINDOW = {"day": "Sunday", "startTime": "02:00"}


def closed(start: str, end: str) -> dict[str, Any]:
    """Return a stack file of AKS whose window for upgrades is shut from one day to another."""
    window = {**WINDOW, "exclusions": [{"start": start, "end": end}]}
    return azure(upgrades={"channel": "patch", "clusterWindow": window})


def closed_on_gke(start: str, end: str) -> dict[str, Any]:
    return on_gke(maintenance={"exclusions": [{"name": "year", "start": start, "end": end}]})


AKS_END, GKE_END = "cloud.upgrades.clusterWindow.exclusions[0].end", "cloud.maintenance.exclusions[0].end"

# ruff: noqa: E501  (one row a line)
TOLD = [
    # A second fault does not need the unreadable key beside it.
    (extra_pool(machine="Standard_D8s_v5", osDisk={"type": "Ephemeral", "sizeGb": "1T"}), "pools[3].osDisk.type", "has no local disk"),
    (with_pool(osDisk={"type": "Ephemeral", "sizeGb": 1024}), "pools[1].osDisk.sizeGb", "is 1024, but Standard_NC4as_T4_v3 has 176 locally -> at most 176"),
    (with_pool(capacity="spott", spot={"maxPrice": 2500}), "pools[1].spot.maxPrice", "more than any machine costs"),
    (with_pool(capacity="spott", fallback=[{"pool": "none"}]), "pools[1].fallback[0].pool", "there is no pool 'none'"),
    (with_pool(capacity="spott", labels={"agentpool": "x"}), 'pools[1].labels["agentpool"]', "AKS keeps this key"),
    (good(scheduling={"enabled": "maybe", "contract": {"readers": ["system:authenticated"]}}), "scheduling.contract.readers[0]", "everybody who can log in"),
    (azure(access=ENTRA), "cloud.access.tenantId", "has no use without Entra"),
    (edited(closed("2026-12-18", "2026-12-01"), {"cloud.upgrades.nodeOsWindow": NOTHING}), AKS_END, "is before `start`"),
    (gke_pool(N1_OF_L4, gpus="one"), "pools[0].gpuModel", "cannot be attached to n1-standard-8"),
    (gke_pool(T4, gpuModel="T 4"), "pools[0].gpus", "is 1, but n2-standard-8 has 0"),
    (gke_pool({key: L4[key] for key in ("name", "machine")}, gcp={"minNodesPerZone": "x", "maxNodesPerZone": 1001}), "pools[0].gcp.maxNodesPerZone", "is 1001"),
    (on_gke(access={"ipEndpoint": 1, "authorizedRanges": ["20.61.10.0/28", "20.61.10.1/28"]}), "cloud.access.authorizedRanges[1]", "is not a range"),
    # A value of a wrong form with one meaning is judged as it was meant.
    (good(cluster={"name": "ml", "kubernetesVersion": 1.35, "reason": "our Istio needs it"}), "cluster.kubernetesVersion", 'drops a last 0 -> write "1.35", with quotes'),
    (extra_pool(minNodes="9"), "pools[3].minNodes", "is '9', in quotes, and is 9, more than maxNodes, which is 3 -> raise maxNodes to 9, write 3 or less, or exchange the two: `minNodes: 3`, `maxNodes: 9`"),
    (extra_pool(zones=[1, 1]), "pools[3].zones", "names a zone twice"),
    (with_pool(capacity="Spot", generation="b", fallback=[]), "pools[1].generation", "is set on a spot pool without a twin"),
    (closed("20.12.2026", "03.12.2026"), AKS_END, 'is before `start` -> exchange the two'),
    # Doubts.
    (with_pool(minNodes=1), "pools[1].minNodes", "is not guaranteed on spot: the cloud may take all machines back -> leave it out if none must be warm; for one node that is always there write an on-demand pool with `minNodes: 1`"),
    (gke_pool(L4, maxNodes=None, gcp={"minNodesPerZone": 1, "maxNodesPerZone": 2}), "pools[0].gcp.minNodesPerZone", "is not guaranteed on spot"),
    (gke_pool(L4, upgrade={"maxSurge": "1"}), "pools[0].upgrade", "has no effect on a spot pool: GKE ends its nodes without a surge -> remove it"),
    (on_gke(access={"authorizedRanges": ["20.61.10.0/28", "10.0.0.0/8"]}), "cloud.access.authorizedRanges[1]", "nobody reaches the public address from it, only the private one -> write the public address"),
    (azure(access={"authorizedRanges": ["20.61.10.0/28", "10.0.0.0/8"]}), "cloud.access.authorizedRanges[1]", "is not public: callers of a public API server have public addresses -> write the public address"),
    (on_gke(encryption={"secretsKey": KEY}), "cloud.encryption.secretsKey", "is a key in global, and the cluster is in europe-west4 -> make a key there, and write its id"),
    (good(alerts={"hourlyBudget": 2500}), "alerts.hourlyBudget", "the alert never fires -> leave it out for 6.27, or write less; 2500 a month is 3.42 an hour"),
    (gke_pool(L4) | {"alerts": {"hourlyBudget": 50}}, "alerts.hourlyBudget", "the alert never fires -> leave it out for "),
    # The pair of a bound.
    (system(minNodes=1, maxNodes=1), "systemPool.minNodes", "write `minNodes: 2` and `maxNodes: 2` or more"),
    (edited(on_gke(), {"systemPool.minNodes": 1, "systemPool.maxNodes": 1}), "systemPool.minNodes", "write `minNodes: 2` and `maxNodes: 2` or more"),
    (system(maxNodes=1), "systemPool.minNodes", "is 2, more than maxNodes, which is 1 -> write `maxNodes: 2`, or more"),
    # Dates.
    (closed("2027-01-18", "2026-01-22"), AKS_END, 'did you mean "2027-01-22"?'),
    (closed("2026-12-20", "2026-01-03"), AKS_END, 'did you mean "2027-01-03"?'),
    (closed("2027-01-18", "2026-12-20"), AKS_END, "exchange the two"),
    (closed("2028-01-18", "2026-12-20"), AKS_END, "write a time after 2028-01-18"),
    (closed_on_gke("2026-12-20T00:00:00Z", "2026-01-03T00:00:00Z"), GKE_END, 'did you mean "2027-01-03T00:00:00Z"?'),
    (closed_on_gke("2026-12-20T00:00:00Z", "2027-01-03"), GKE_END, 'write "2027-01-03T00:00:00Z"'),
    (closed("20.12.2026", "2027-01-03"), AKS_END.replace(".end", ".start"), 'write "2026-12-20"'),
    (gke_pool(L4) | {"growth": {"acceptedWait": "1d"}}, "growth.acceptedWait", 'write "24h"'),
    # What a cloud's command prints or makes.
    (azure(access={"adminGroups": ["ml@contoso.com"]}), "cloud.access.adminGroups[0]", "`az ad group list --filter \"mail eq 'ml@contoso.com'\" --query \"[].id\"` prints it"),
    (azure(monitoring={"metrics": {}, "actionGroups": ["ml@contoso.com"]}), "cloud.monitoring.actionGroups[0]", "--action email NAME ml@contoso.com --query id` makes one"),
    (on_gke(project=482913775021), "cloud.project", "`gcloud projects describe 482913775021 --format 'value(projectId)'` prints it"),
    (on_gke(serviceAccount="anna@contoso.com"), "cloud.serviceAccount", "`gcloud iam service-accounts list`"),
    (on_gke(serviceAccount="serviceAccount:nodes@risk-ml.gserviceaccount.com"), "cloud.serviceAccount", 'write "nodes@risk-ml.iam.gserviceaccount.com"'),
    # Other words, and the labels of a selector.
    (good(scheduling={"guard": {"mode": "off"}}), "scheduling.guard.mode", "did you mean audit?"),
    (good(scheduling={"guard": {"mode": False}}), "scheduling.guard.mode", "did you mean audit?"),
    (good(scheduling={"guard": {"mode": "dryRun"}}), "scheduling.guard.mode", "did you mean audit?"),
    (good(scheduling={"guard": {"mode": "block"}}), "scheduling.guard.mode", "did you mean enforce?"),
    (azure(upgrades={"channel": False}), "cloud.upgrades.channel", "did you mean none?"),
    (on_gke(access={"ipEndpoint": "off"}), "cloud.access.ipEndpoint", "did you mean none?"),
    (good(devicePlugin={"install": False}), "devicePlugin.install", "did you mean never?"),
    (azure(monitoring={"logs": {"controlPlane": ["audit"]}}), "cloud.monitoring.logs.controlPlane[0]", "did you mean kube-audit or kube-audit-admin?"),
    (good(scheduling={"defaults": {"job": {"gpu": "spot"}}}), "scheduling.defaults.job.gpu", "did you mean prefer-spot or require-spot?"),
    (good(scheduling={"defaults": {"job": "on-demand"}}), "scheduling.defaults.job", "write `{gpu: on-demand, cpu: on-demand}`"),
    (good(scheduling={"guard": {"exceptions": [{"namespace": "a", "selector": {"matchLabels": {"app": "b"}}, "reason": "it restarts"}]}}), "scheduling.guard.exceptions[0].selector", "write `{app: b}`"),
    # Machines of AWS, a long dash, parts of a card.
    (extra_pool(machine="m5.2xlarge"), "pools[3].machine", "such as Standard_D8ds_v5"),
    (gke_pool({"name": "c", "machine": "m5.xlarge", "maxNodes": 2}), "pools[0].machine", "such as e2-standard-4"),
    (good(pools=[GOOD["pools"][0], A10]), "pools[1].machine", "use Standard_NV36ads_A10_v5, with nvidia-a10"),
    (gke_pool(L4, machine="g2\u2013standard\u20138"), "pools[0].machine", "with a long dash, is not in the catalogue -> write g2-standard-8"),
    (gke_pool(T4), "pools[0].gpus", "write `gpuModel: nvidia-tesla-t4`"),
    (on_gke(registries=["europe-west4-docker.pkg.dev/corp-images/ml-images"]), "cloud.registries[0]", "write `{project: corp-images, location: europe-west4, repository: ml-images}`"),
    (on_gke(registries=["eu.gcr.io/corp-images"]), "cloud.registries[0]", "write `{project: corp-images, location: europe, repository: eu.gcr.io}`"),
    # Another cloud's key: no list of its values.
    (gke_pool(L4, osDisk={"type": "pd-ssd"}), "pools[0].osDisk.type", "GKE has no such setting"),
    (with_pool(gcp={"diskType": "ssd"}), "pools[1].gcp", "AKS has no such setting"),
    (gke_pool(L4, mig="1g.5gb"), "pools[0].mig", "is set, but g2-standard-8 has nvidia-l4, which has no MIG profile -> remove it"),
    # Ranges with room for the pools, and beside the others.
    (on_gke(network={"nodeSubnet": "10.60.0.0/29", "podCidr": "10.60.4.0/22", "serviceCidr": "10.60.8.0/24"}), "cloud.network.podCidr", "such as 10.60.16.0/20, or smaller maxNodes"),
    (azure(network={"nodeSubnet": "10.8.0.0/28"}), "cloud.network.nodeSubnet", "such as 10.8.0.0/27, or smaller maxNodes"),
    # Pods without GPUs have nowhere to run.
    (edited(gke_pool(L4, capacity="spot"), {"systemPool.criticalAddonsOnly": True, "pools[1].capacity": "spot"}), "systemPool.criticalAddonsOnly", "(general is spot) -> set it to false, or add an on-demand pool, such as `{name: cpu, machine: e2-standard-4, maxNodes: 4}`"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "path", "words"), TOLD, ids=[f"{row[1]}-{i}" for i, row in enumerate(TOLD)])
def test_one_round_tells_it(raw: dict[str, Any], path: str, words: str) -> None:
    found = told(raw, path)
    assert [text for text in found if words in text] == found != []


@pytest.mark.parametrize(
    ("raw", "path", "fault", "doubt"),
    [
        (on_gke(encryption={"secretsKey": f"{KEY}/cryptoKeyVersions/3"}), "cloud.encryption.secretsKey",
         f'write "{KEY}", without /cryptoKeyVersions/3', "is a key in global, and the cluster is in europe-west4 -> make a key there"),
        (gke_cluster(kubernetesVersion=1.3, reason="our Istio needs it"), "cluster.kubernetesVersion",
         'drops a last 0 -> write "1.30", with quotes', "is 1.30: GKE had 1.31 to 1.37"),
    ],
)  # fmt: skip
def test_a_doubt_about_a_value_as_it_was_meant_is_told_beside_the_fault(
    raw: dict[str, Any], path: str, fault: str, doubt: str
) -> None:
    faults, doubts = (
        [f"{each.what} -> {each.remedy}" for each in loader.read_stack(raw)[1] if each.path == path and each.warning == kind]
        for kind in (False, True)
    )  # fmt: skip
    assert [fault in text for text in faults] == [True]
    assert [doubt in text for text in doubts] == [True]


def test_the_names_that_derive_from_a_doubled_name_are_no_second_error() -> None:
    for pools in ([*good()["pools"], good()["pools"][1]], [{**L4, "fallback": [{"onDemand": {"maxNodes": 2}}]}] * 2):
        raw = {**(good() if len(pools) > 2 else on_gke()), "pools": pools}
        names = [each.path for each in errors(raw) if "name" in each.path]
        assert names == [f"pools[{len(pools) - 1}].name"]


def switches() -> list[tuple[dict[str, Any], str]]:
    """Return a stack file for each object that may be false in people's eyes, and its path."""
    found: list[tuple[dict[str, Any], str]] = []
    for base in (good(), on_gke([L4])):
        registration = registry.registration(base["cloud"]["provider"])
        for key, annotation in top_keys.top_key_types(registration).items():
            (model, *_) = [*models(annotation), None]
            if model is None or key in ("release", "cluster", "systemPool", "pools", "imagePullSecrets", "overrides"):
                continue
            paths = [key] if key != "cloud" else []
            paths += [
                f"{key}.{name}"
                for name, field in by_key(model).items()
                if [*models(field.annotation)] and "tuple" not in str(field.annotation)
            ]
            found += [(edited({key: {}, **base}, {path: False}), path) for path in paths]
    return found


@pytest.mark.parametrize(("raw", "path"), switches(), ids=[f"{path}-{i}" for i, (_, path) in enumerate(switches())])
def test_false_in_place_of_an_object_is_answered_by_what_switches_it_off(raw: dict[str, Any], path: str) -> None:
    (problem,) = [each for each in errors(raw) if each.path == path]
    assert "true" not in problem.remedy
    assert problem.remedy.startswith(("write `{", "remove it"))


def profile(**spec: Any) -> dict[str, Any]:
    """Return a Profile as kubectl takes it."""
    about = {"apiVersion": "kubeflow.org/v1", "kind": "Profile", "metadata": {"name": "team-nlp"}}
    return {**about, "spec": spec}


OTHER_PLACES: list[tuple[dict[str, Any], str, str]] = [
    # The value of a key at a wrong place is judged where it belongs, at the author's own lines.
    (good(protect="yes"), "protect", "write `protect: true` under `cluster` in its place"),
    (azure(protect="yes"), "cloud.protect", "write `protect: true` under `cluster` in its place"),
    (azure(kubernetesVersion="1.21.14"), "cloud.kubernetesVersion", "and is 1.21.14: AKS had"),
    (with_pool(maxPrice="0.30$"), "pools[1].maxPrice", "write `spot: {maxPrice: 0.30}` in its place"),
    (good(profiles=[{"name": "Team_NLP"}]), "profiles", "its place is `scheduling.profiles`"),
    (good(profiles=[{"name": "Team_NLP"}]), "profiles[0].name", "write `namespace: team-nlp` in its place"),
    (good(profiles=[{"namespace": "a", "prefix": "x"}]), "profiles", "write `workloads.profiles` in its place; its value: add `checkpoints`"),
    (good(profiles=[{}]), "profiles", "`scheduling.profiles` (kubeflow profiles that get quotas or a PodDefault) or `workloads.profiles`"),
    (good(profiles=[profile(resourceQuotaSpec={"hard": {"requests.nvidia.com/gpu": "2"}})]), "profiles[0]", "write `- {namespace: team-nlp, gpus: 2}`"),
    (good(checkpoints={"storageAccount": "ml-ckpt-prod"}), "checkpoints.storageAccount", "write `name: mlckptprod` in its place"),
    (with_pool(imagePullSecrets=[{"name": "ecr"}]), "pools[1].imagePullSecrets[0].server", "is missing"),
    (with_pool(criticalAddonsOnly=False), "pools[1].criticalAddonsOnly", "remove it: only `systemPool` can be kept for add-ons"),
    (azure(monitoring={"workspace": "x", "logs": {}}), "cloud.monitoring.workspace", "write `logs.workspace` in its place; its value: an Azure resource's whole id"),
    (with_pool(gpuSharing={"mig": "1g"}), "pools[1].gpuSharing.mig", "remove it, or use a size with A100"),
    # A wrong key with a wrong value: both at once, and no second number beside the right one.
    (system(minSize=1), "systemPool.minSize", "write `minNodes: 2` in its place"),
    (with_pool(osDiskSizeGB="512GB"), "pools[1].osDiskSizeGB", "write `osDisk: {sizeGb: 512}` in its place"),
    # The same object before another one.
    (with_pool(fallback=[{"onDemand": {"maxSize": 2}}]), "pools[1].fallback[0].onDemand.maxSize", "write `maxNodes: 2` in its place"),
    # Lists and indentation.
    (with_pool(fallback={"pool": "t4big", "onDemand": 2}), "pools[1].fallback", "write `- pool: t4big` and below it `- onDemand: {maxNodes: 2}`"),
    (with_pool(fallback=[{"onDemand": None, "maxNodes": 2}]), "pools[1].fallback[0].maxNodes", "indent it below `onDemand`"),
    (with_pool(labels={"team": "nlp", "fallback": [{"onDemand": {"maxNodes": 0}}]}, fallback=None), "pools[1].labels.fallback", "is a list, not text"),
    (good(systemPool='machine = "Standard_D4ds_v5" maxNodes = 4'), "systemPool", "write `machine: Standard_D4ds_v5` and `maxNodes: 4`"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "path", "words"), OTHER_PLACES, ids=[f"{row[1]}-{i}" for i, row in enumerate(OTHER_PLACES)]
)
def test_what_stands_at_a_wrong_place_is_judged_at_its_right_one(raw: dict[str, Any], path: str, words: str) -> None:
    (only,) = told(raw, path)
    assert words in only


def test_a_key_indented_as_a_label_is_read_in_the_pool() -> None:
    raw = with_pool(labels={"team": "nlp", "fallback": [{"onDemand": {"maxNodes": 0}}]})
    del raw["pools"][1]["fallback"]
    (first,) = told(raw, "pools[1].labels.fallback")
    assert "indent it as `labels`" in first
    (second,) = told(raw, "pools[1].labels.fallback[0].onDemand.maxNodes")
    assert "is 0" in second


def test_what_the_right_place_has_already_is_not_replaced() -> None:
    raw = good(protect=True)
    raw["cluster"] = {**raw["cluster"], "protect": False}
    assert told(raw, "protect") == [
        "is not a setting of this program -> remove it: `cluster.protect: false` stands there already; change that if true is right"
    ]
