"""The package that puts pods where the contract says: what it reads, what it writes, what it refuses."""

import copy
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from kubeflow_spot import Contract, ContractError, Lines, manifests, models, pipelines
from kubeflow_spot.quantities import amount
from kubernetes.client import ApiClient, V1PodSpec, V1PodTemplateSpec
from kubernetes.utils.quantity import parse_quantity

from components.layer.gpu.matching import may_run
from components.layer.scheduling import contract as published
from tests.components.test_contract import node_pools, pool_lists
from tests.examples.contracts import config_map, written
from tests.examples.environment import EXAMPLES

DEV = Contract.from_config_map(config_map("dev"))
SPOT = {"key": "kubernetes.azure.com/scalesetpriority", "operator": "Equal", "value": "spot", "effect": "NoSchedule"}
ON_SPOT = {"key": "kubeflow-spot.dev/capacity", "operator": "In", "values": ["spot"]}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@settings(max_examples=25)
@given(pool_lists())
def test_the_lines_are_the_contracts_and_let_a_pod_on_the_pools_they_are_for(pools: list[dict[str, Any]]) -> None:
    described = node_pools(pools)
    data = published.data("r2026-11", described)
    contract = Contract.from_config_map({"data": data})
    assert contract == Contract.from_output(published.as_output("kubeflow-spot", described))
    for name, lines in contract.snippets.items():
        written_lines = json.loads(data[f"{name}.json"])
        assert manifests.place({}, lines) == {key: part for key, part in written_lines.items() if part}
    for pool in described:
        lines = contract.pool_lines(pool.label).as_spec()
        assert [other.label for other in described if may_run(lines, other.labels, other.taints)] == [pool.label]


def test_a_file_holds_the_config_map_or_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path)
    assert Contract.load(path) == DEV
    monkeypatch.setenv("KUBEFLOW_SPOT_CONTRACT", str(path))
    assert Contract.find() == DEV
    assert {pool.label: (pool.capacity, pool.gpus) for pool in DEV.pools} == {
        "general": ("on-demand", 0),
        "t4": ("spot", 1),
        "t4od": ("on-demand", 1),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "holds no JSON object, but list"),
        ("{}", r"no contract .*placementLabel, placements, pools, snippets missing"),
        ('{"data": {"pools.json": "x"}}', "is no contract of kubeflow-spot"),
        ('{"data": null}', "no contract of kubeflow-spot"),
    ],
)
def test_a_file_that_is_no_contract_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ContractError, match=message):
        Contract.load(tmp_path / "x.json")


def test_what_the_cluster_has_no_pool_for_is_refused() -> None:
    with pytest.raises(
        ContractError, match=r"no pool of this cluster is for cpu-require-spot; there is: gpu-on-demand, gpu-"
    ):
        DEV.lines("require-spot", gpu=False)
    with pytest.raises(ContractError, match="for pool-a100"):
        DEV.pool_lines("a100")
    assert DEV.lines("on-demand", gpu=False) == Lines()
    with pytest.raises(ContractError, match=r"does not heed .*=spot; it heeds: prefer-spot, require-spot, on-demand"):
        DEV.labels("spot")


def test_below_kubernetes_1_36_a_label_that_nobody_heeds_is_refused() -> None:
    data = published.data("r2026-09", node_pools([]), placements=())
    older = Contract.from_config_map({"data": {**data, "pools.json": config_map("dev")["data"]["pools.json"]}})
    with pytest.raises(ContractError, match=r"it heeds: none \(Kubernetes 1.36 is the first"):
        older.labels("prefer-spot")


@pytest.mark.parametrize(
    ("requests", "pools"),
    [
        ({"cpu": "3", "memory": "16Gi", "nvidia.com/gpu": "1"}, ["t4", "t4od"]),
        # The machine has 4 CPUs; a node less.
        ({"cpu": "3900m", "nvidia.com/gpu": "1"}, []),
        ({"nvidia.com/gpu": "2"}, []),
        ({"memory": "48G"}, []),
        ({"cpu": "1"}, ["general", "t4", "t4od"]),
    ],
)
def test_a_request_that_fits_no_empty_node_is_seen_before_it_costs_money(
    requests: dict[str, str], pools: list[str]
) -> None:
    assert sorted(pool.label for pool in DEV.pools_for(requests)) == pools


@given(
    st.decimals(0, 10**6, places=3), st.sampled_from(["", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "n", "u"])
)
def test_quantities_are_read_as_the_official_client_reads_them(number: Decimal, unit: str) -> None:
    assert amount(f"{number:f}{unit}") == parse_quantity(f"{number:f}{unit}")


@pytest.mark.parametrize("text", ["", "2 Gi", "1x", "Gi", "--1", "1mi"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no quantity"):
        amount(text)


def test_a_pods_own_lines_stay() -> None:
    lines = DEV.lines("require-spot")
    own = {
        "tolerations": [{"key": SPOT["key"], "operator": "Exists"}],
        "nodeSelector": {"disk": "ssd"},
        "affinity": {
            "podAffinity": {"x": 1},
            "nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": ["a"]}, {"matchFields": ["b"]}]}},
        },
    }
    before = copy.deepcopy(own)
    placed = manifests.place(own, lines)
    assert own == before
    assert [toleration["key"] for toleration in placed["tolerations"]] == [SPOT["key"], "nvidia.com/gpu"]
    assert placed["tolerations"][0] == {"key": SPOT["key"], "operator": "Exists"}
    assert placed["affinity"]["podAffinity"] == {"x": 1}
    # Kubernetes takes a node that meets one term: each must ask for spot.
    assert placed["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"] == [
        {"matchFields": ["a"], "matchExpressions": [ON_SPOT]},
        {"matchFields": ["b"], "matchExpressions": [ON_SPOT]},
    ]
    assert manifests.place(placed, lines) == placed


def test_a_pod_that_asks_for_other_nodes_is_refused() -> None:
    with pytest.raises(ContractError, match=r"asks for nodes with kubeflow-spot.dev/pool=general already, not t4"):
        manifests.place({"nodeSelector": {"kubeflow-spot.dev/pool": "general"}}, DEV.pool_lines("t4"))


MOVED = {
    "train-job.yaml": {"spec.template"},
    "tfjob.yaml": {"spec.tfReplicaSpecs.Worker.template"},
    "pytorchjob.yaml": {"spec.pytorchReplicaSpecs.Worker.template"},
    "katib-job.yaml": {"spec.trialTemplate.trialSpec.spec.template"},
    "katib-pytorchjob.yaml": {"spec.trialTemplate.trialSpec.spec.pytorchReplicaSpecs.Worker.template"},
    "trainjob.yaml": {"spec.template.spec.replicatedJobs.0.template.spec.template"},
    "rayjob.yaml": {"spec.rayClusterSpec.workerGroupSpecs.0.template"},
    "spark.yaml": {"spec.executor"},
}
"""The pods that may move, by the first document of each example."""


def differences(before: Any, after: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    if isinstance(before, dict) and isinstance(after, dict):
        keys = {*before, *after}
        return {d for key in keys for d in differences(before.get(key), after.get(key), (*path, key))}
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return {d for index, (a, b) in pairs for d in differences(a, b, (*path, str(index)))}
    return set() if before == after else {path}


@pytest.mark.parametrize("file", MOVED)
def test_only_pods_that_may_lose_their_node_are_moved(file: str) -> None:
    manifest = next(yaml.safe_load_all((EXAMPLES / "jobs" / file).read_text()))
    before = copy.deepcopy(manifest)
    for changed in (
        manifests.placed(manifest, DEV.lines("require-spot")),
        manifests.labelled(manifest, DEV, "on-demand"),
    ):
        assert manifest == before
        paths = {".".join(path) for path in differences(before, changed)}
        assert paths
        assert {path for path in paths if not any(path.startswith(f"{moved}.") for moved in MOVED[file])} == set()
    labels = changed
    for key in next(iter(MOVED[file])).split("."):
        labels = labels[int(key)] if key.isdigit() else labels[key]
    labels = labels if file == "spark.yaml" else labels["metadata"]
    assert labels["labels"]["kubeflow-spot.dev/placement"] == "on-demand"


def test_manifests_that_are_not_known_are_refused() -> None:
    for kind, message in {
        "Notebook": r"Notebook etl: the pods of this kind are not known here. Use place\(\) on each spec of a pod",
        "TrainJob": r"TrainJob etl: .*spec.runtimePatches = manifests.train_job_patches\(lines, MANAGER\)",
        "MiniCluster": r"MiniCluster etl: .*lines.as_spec\(\) into spec.pod",
    }.items():
        with pytest.raises(ContractError, match=message):
            manifests.placed({"kind": kind, "metadata": {"name": "etl"}, "spec": {}}, DEV.lines("require-spot"))
    for whole in ({"kind": "Job"}, V1PodTemplateSpec(spec=V1PodSpec(containers=[]))):
        with pytest.raises(ContractError, match=r"place\(\) takes the spec of a pod; use placed\(\)"):
            manifests.place(whole, DEV.lines("require-spot"))
    with pytest.raises(ContractError, match="str: this is no manifest; give a dict"):
        manifests.placed("job.yaml", DEV.lines("require-spot"))
    job = yaml.safe_load((EXAMPLES / "jobs" / "tfjob.yaml").read_text())
    with pytest.raises(ContractError, match="TFJob mnist has no pods of such roles; its roles: chief, ps, worker"):
        manifests.placed(job, DEV.lines("require-spot"), roles=["evaluator"])


def test_the_lines_of_a_train_job_are_those_of_its_version() -> None:
    lines = DEV.lines("prefer-spot")
    (older,) = manifests.train_job_overrides(lines)
    (newer,) = manifests.train_job_patches(lines, "team-a.example.com/notebook")
    assert older == {"targetJobs": [{"name": "node"}], "spec": lines.as_spec()}
    (job,) = newer["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    assert job == {"name": "node", "template": {"spec": {"template": {"spec": lines.as_spec()}}}}


@pytest.mark.parametrize("placement", ["prefer-spot", "require-spot", "on-demand"])
def test_the_official_clients_objects_say_the_same(placement: str) -> None:
    lines = DEV.lines(placement)
    objects = {"tolerations": models.tolerations(lines), "affinity": models.affinity(lines)}
    assert ApiClient().sanitize_for_serialization(objects) == lines.as_spec()
    assert models.affinity(Lines()) is None
    assert models.node_selector(Lines(node_selector={"a": "b"})) == {"a": "b"}


@pytest.mark.process
def test_the_package_needs_nothing_else() -> None:
    package = EXAMPLES.parent / "kubeflow" / "python"
    code = "import sys; sys.path.insert(0, sys.argv[1]); from kubeflow_spot import manifests, models, pipelines"
    subprocess.run([sys.executable, "-I", "-S", "-c", code, str(package)], check=True)


class Task:
    """A task of a pipeline, as kfp-kubernetes sees it."""

    name = "train"

    def __init__(self, **kubernetes: Any) -> None:
        self.platform_config = {"kubernetes": kubernetes} if kubernetes else {}


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls of kfp-kubernetes, in place of the package."""
    calls: list[tuple[str, dict[str, Any]]] = []
    names = ("add_toleration", "add_node_affinity", "add_node_selector", "add_pod_label")
    functions = {name: lambda task, *args, _name=name, **kwargs: calls.append((_name, kwargs)) for name in names}
    module = SimpleNamespace(kubernetes=SimpleNamespace(**functions))
    monkeypatch.setitem(sys.modules, "kfp", module)
    return calls


def test_a_task_keeps_its_toleration_and_cannot_require_two_kinds_of_nodes(called: list[Any]) -> None:
    lines = DEV.lines("require-spot")
    pipelines.place(Task(tolerations=[{"key": SPOT["key"]}], nodeAffinity=[{"weight": 1}]), lines)
    assert [(name, arguments.get("key")) for name, arguments in called] == [
        ("add_toleration", "nvidia.com/gpu"),
        ("add_node_affinity", None),
    ]
    # Each call is a term of its own, and of required terms Kubernetes takes a node that meets one.
    with pytest.raises(ContractError, match="task train requires nodes already"):
        pipelines.place(Task(nodeAffinity=[{"matchExpressions": []}]), lines)
    pipelines.place(Task(nodeAffinity=[{"matchExpressions": []}]), DEV.lines("prefer-spot"))
    assert called[-1] == ("add_node_affinity", {"match_expressions": [ON_SPOT], "weight": 100})


def test_a_task_goes_to_one_pool_or_follows_a_label_that_the_cluster_heeds(called: list[Any]) -> None:
    pipelines.place(Task(), DEV.pool_lines("t4"))
    assert called[-1] == ("add_node_selector", {"label_key": "kubeflow-spot.dev/pool", "label_value": "t4"})
    pipelines.label(Task(), DEV, "on-demand")
    assert called[-1] == ("add_pod_label", {})
    with pytest.raises(ContractError, match="does not heed"):
        pipelines.label(Task(), DEV, "spot")
