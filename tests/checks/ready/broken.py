"""Clusters with one defect each: how the recorded cluster is broken, and the one check that names it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import yaml

Parts = dict[str, Any]
Break = Callable[[Parts], Any]
BOTH = ("dev", "staging")


@dataclass(frozen=True)
class Row:
    """One defect."""

    name: str
    spoil: Break
    check: str
    says: str
    """A regular expression that the finding's text holds."""
    stacks: tuple[str, ...] = BOTH


def gpu_node(parts: Parts) -> Any:
    """The node of the spot pool."""
    return next(n for n in parts["nodes"] if n["metadata"]["labels"].get("kubeflow-spot.dev/capacity") == "spot")


def plain_nodes(parts: Parts) -> list[Any]:
    """The nodes without GPUs."""
    return [n for n in parts["nodes"] if "kubeflow-spot.dev/accelerator" not in n["metadata"]["labels"]]


def _each(parts: Parts, name: str, change: Callable[[Any], Any]) -> None:
    for item in parts[name]:
        change(item)


def _without(parts: Parts, name: str, ending: str) -> None:
    kept = [item for item in parts[name] if not item["metadata"]["name"].endswith(ending)]
    assert len(kept) < len(parts[name])
    parts[name] = kept


def _served(parts: Parts, gone: str) -> None:
    parts["admission"]["resources"] = [r for r in parts["admission"]["resources"] if not r["name"].startswith(gone)]


def small(parts: Parts) -> None:
    for node in plain_nodes(parts):
        node["status"]["allocatable"]["cpu"] = "900m"
    set_status(parts, lambda groups: [group["health"].update(maxSize=1) for group in groups])


def set_status(parts: Parts, change: Callable[[list[Any]], Any]) -> None:
    """Change the groups of the autoscaler's status, where there is one."""
    if parts["autoscaler"]:
        content = yaml.safe_load(parts["autoscaler"]["data"]["status"])
        change(content["nodeGroups"])
        parts["autoscaler"]["data"]["status"] = yaml.safe_dump(content)


def _without_spot_taint(parts: Parts) -> None:
    node = gpu_node(parts)
    node["spec"]["taints"] = [
        t for t in node["spec"]["taints"] if "spot" not in t["key"] and "scaleset" not in t["key"]
    ]


def _plugin_without_tolerations(parts: Parts) -> None:
    for item in parts["daemonSets"]:
        if "device-plugin" in item["metadata"]["name"]:
            item["spec"]["template"]["spec"]["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists"}]


def _second_plugin(parts: Parts) -> None:
    image = {"name": "plugin", "image": "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"}
    spec = {"containers": [image], "tolerations": [{"operator": "Exists"}]}
    parts["daemonSets"].append(
        {
            "metadata": {"namespace": "gpu", "name": "nvidia-device-plugin-daemonset"},
            "spec": {"template": {"spec": spec}},
        }
    )


def istio(folder: str) -> Any:
    volumes = [{"name": "cni-bin-dir", "hostPath": {"path": folder}}]
    spec = {"template": {"spec": {"containers": [], "volumes": volumes}}}
    return {"metadata": {"namespace": "istio-system", "name": "istio-cni-node"}, "spec": spec}


def _cilium(parts: Parts, **settings: str) -> None:
    agent = {
        "metadata": {"namespace": "kube-system", "name": "cilium"},
        "spec": {"template": {"spec": {"containers": []}}},
    }
    parts["daemonSets"].append(agent)
    good = {"kube-proxy-replacement": "true", "bpf-lb-sock-hostns-only": "true", "cni-exclusive": "false"}
    data = good | {key.replace("_", "-"): value for key, value in settings.items()}
    parts["cilium"] = {"metadata": {"name": "cilium-config"}, "data": data}


def _priorities(parts: Parts, change: Callable[[str], str]) -> None:
    data = parts["expander"]["data"]
    before = data["priorities"]
    data["priorities"] = change(before)
    assert data["priorities"] != before


def _level(text: str) -> str:
    """The spot pool and its twin on one line."""
    tiers = yaml.safe_load(text)
    tiers[20] += tiers.pop(10)
    return str(yaml.safe_dump(tiers))


def _class(parts: Parts) -> Any:
    return parts["computeClasses"][0]["spec"]["priorities"]


def _pools(parts: Parts, change: Callable[[list[Any]], Any]) -> None:
    data = parts["contracts"][0]["data"]
    pools = json.loads(data["pools.json"])
    change(pools)
    data["pools.json"] = json.dumps(pools)


def _guard(parts: Parts) -> Any:
    """The guard's policy for profiles."""
    return next(item for item in parts["validatingPolicies"] if item["metadata"]["name"].endswith("guard-profiles"))


def _forgotten(parts: Parts, name: str) -> None:
    """The guard as of a time before the spot pools."""
    variable = next(item for item in _guard(parts)["spec"]["variables"] if item["name"] == name)
    variable["expression"] = "[]"


def _warned(parts: Parts) -> None:
    warning = {"fieldRef": "spec.validations[0].expression", "warning": "undefined field 'x'"}
    _guard(parts).setdefault("status", {})["typeChecking"] = {"expressionWarnings": [warning]}


def _renamed(parts: Parts) -> None:
    node = gpu_node(parts)
    node["metadata"]["name"] = node["metadata"]["name"].replace("aks-t4-", "aks-t5-")


def not_ready(node: Any) -> None:
    for condition in node["status"]["conditions"]:
        if condition["type"] == "Ready":
            condition["status"] = "False"


def _old(parts: Parts) -> None:
    """An old cluster serves no mutating policies, and its kubelets are as old."""
    parts["version"].update(gitVersion="v1.33.4", emulationMajor="1", emulationMinor="33")
    _each(parts, "nodes", lambda node: node["status"]["nodeInfo"].update(kubeletVersion="v1.33.4"))
    _served(parts, "mutating")


def _quota(parts: Parts) -> None:
    metadata = {"namespace": "kubeflow", "name": "small"}
    parts["quotas"].append({"metadata": metadata, "spec": {"hard": {"requests.storage": "20Gi"}}})


def budget(namespace: str = "team-a", allowed: int = 0, healthy: int = 2, **spec: Any) -> Any:
    """Return a PodDisruptionBudget of two pods as the API server shows it."""
    status = {"expectedPods": 2, "currentHealthy": healthy, "desiredHealthy": 2, "disruptionsAllowed": allowed}
    selector = {"selector": {"matchLabels": {"app": "web"}}}
    return {"metadata": {"namespace": namespace, "name": "web"}, "spec": selector | spec, "status": status}


def pod(**metadata: Any) -> Any:
    """Return a pod of those budgets on a plain node."""
    metadata = {"namespace": "team-a", "name": "web-0", "labels": {"app": "web"}, **metadata}
    return {"metadata": metadata, "spec": {"nodeName": "n", "containers": []}, "status": {"phase": "Running"}}


def covered_twice(parts: Parts, **second: Any) -> None:
    """Return a pod, and two budgets that allow evictions: one by its label, and one with another selector."""
    parts["pods"].append(pod())
    parts["budgets"] += [budget(allowed=1, minAvailable=1), budget(allowed=1, minAvailable=1, selector=second)]
    parts["budgets"][-1]["metadata"]["name"] = "all"


def _term(operator: str, *values: str, key: str = "app") -> Any:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


_SELECTING = ({}, _term("Exists"), _term("In", "web", "db"), _term("NotIn", "db"), _term("DoesNotExist", key="no"))

DEFAULT = "storageclass.kubernetes.io/is-default-class"
ROWS = (
    Row("old-kubernetes", _old, "version", r"Kubernetes is 1\.33; Kubeflow 26\.03 names 1\.34"),
    Row(
        "kubelet-too-old",
        lambda p: p["nodes"][0]["status"]["nodeInfo"].update(kubeletVersion="v1.32.1"),
        "version",
        "kubelet 1.32",
    ),
    Row(
        "no-mutating-policies",
        lambda p: _served(p, "mutating"),
        "policies-served",
        "does not serve MutatingAdmissionPolicy",
    ),
    Row("node-not-ready", lambda p: not_ready(plain_nodes(p)[-1]), "nodes", "not Ready"),
    Row(
        "no-default-class",
        lambda p: _each(p, "storageClasses", lambda c: c["metadata"].pop("annotations", 0)),
        "volumes",
        "no StorageClass is the default",
    ),
    Row(
        "no-provisioner",
        lambda p: _each(p, "storageClasses", lambda c: c.update(provisioner="kubernetes.io/no-provisioner")),
        "volumes",
        "makes no volumes",
    ),
    Row("small-storage-quota", _quota, "volumes", "kubeflow/small allows 20Gi"),
    Row("too-small", small, "room", "7.4 CPUs and 14 GiB", ("dev",)),
    Row("no-contract", lambda p: p.update(contracts=[]), "contract", "is missing: tools do not know"),
    Row(
        "broken-contract",
        lambda p: p["contracts"][0]["data"].update({"pools.json": "["}),
        "contract",
        "cannot be read: its JSON",
    ),
    Row(
        "contract-unreadable-for-pods",
        lambda p: p.update(publicBindings=[]),
        "contract",
        "service accounts cannot read",
    ),
    Row(
        "guard-deleted",
        lambda p: _without(p, "validatingPolicies", "guard-profiles"),
        "policies",
        "guard-profiles is missing",
    ),
    Row("guard-unbound", lambda p: _without(p, "validatingBindings", "guard-platform"), "policies", "bound to nothing"),
    Row("defaults-deleted", lambda p: _without(p, "mutatingPolicies", "-defaults"), "policies", "-defaults is missing"),
    Row("guard-forgets-spot", lambda p: _forgotten(p, "taints"), "policies", "does not know the taints of spot pool"),
    Row("guard-forgets-pool", lambda p: _forgotten(p, "spot"), "policies", "does not know the spot pool"),
    Row("guard-warned", _warned, "policies", r"guard-profiles: the API server warns of spec.validations\[0\]"),
    Row("spot-taint-missing", _without_spot_taint, "pools", "lacks the taint"),
    Row(
        "label-missing",
        lambda p: gpu_node(p)["metadata"]["labels"].pop("kubeflow-spot.dev/accelerator"),
        "pools",
        "lacks the label kubeflow-spot.dev/accelerator",
    ),
    Row(
        "plugin-without-toleration",
        _plugin_without_tolerations,
        "device-plugin",
        "no device plugin runs on pool .* does not tolerate its taints",
    ),
    Row("no-plugin", lambda p: p.update(daemonSets=[]), "device-plugin", "no device plugin runs on pool", ("dev",)),
    Row("two-plugins", _second_plugin, "device-plugin", "two device plugins run on pool"),
    Row(
        "no-gpu-reported",
        lambda p: gpu_node(p)["status"]["allocatable"].update({"nvidia.com/gpu": "0"}),
        "gpus",
        "reports 0 GPUs, and its machine has 1",
    ),
    Row(
        "expander-lacks-a-pool",
        lambda p: _priorities(p, lambda t: re.sub(r"\^aks-t4-", "^aks-t5-", t)),
        "order",
        "no line for pool t4",
        ("dev",),
    ),
    Row(
        "expander-is-no-yaml", lambda p: _priorities(p, lambda t: f"{{{t}"), "order", "refuses the ConfigMap", ("dev",)
    ),
    Row(
        "equal-priorities",
        lambda p: _priorities(p, _level),
        "order",
        "gives t4 and t4od the same priority 20: the choice is random",
        ("dev",),
    ),
    Row("no-compute-class", lambda p: p.update(computeClasses=[]), "order", "ComputeClass .* is missing", ("staging",)),
    Row("class-lacks-a-pool", lambda p: _class(p).pop(0), "order", "does not list l4, so", ("staging",)),
    Row(
        "class-of-other-pools",
        lambda p: _class(p)[0].update(nodepools=["l4", "gone"]),
        "order",
        "lists gone",
        ("staging",),
    ),
    Row("group-of-another-name", _renamed, "order", r"node group aks-t5-\d+-vmss has the label of pool t4", ("dev",)),
    Row("no-autoscaler", lambda p: p.update(autoscaler=None), "autoscaler", "writes no status", ("dev",)),
    Row(
        "autoscaler-stopped",
        lambda p: p["autoscaler"]["data"].update(status="autoscalerStatus: Stopped"),
        "autoscaler",
        "says Stopped",
        ("dev",),
    ),
    Row(
        "group-in-backoff",
        lambda p: set_status(
            p, lambda g: g[-1].update(scaleUp={"status": "Backoff", "backoffInfo": {"errorCode": "QUOTA"}})
        ),
        "autoscaler",
        "after a failure: QUOTA",
        ("dev",),
    ),
    Row(
        "group-not-autoscaled",
        lambda p: set_status(p, lambda g: g.remove(next(i for i in g if "aks-t4-" in i["name"]))),
        "autoscaler",
        "does not know pool t4",
        ("dev",),
    ),
    Row(
        "group-unhealthy",
        lambda p: set_status(p, lambda g: g[0]["health"].update(status="Unhealthy")),
        "autoscaler",
        "is Unhealthy: it does not grow",
        ("dev",),
    ),
    Row(
        "no-validating-policies",
        lambda p: _served(p, "validating"),
        "policies-served",
        "does not serve ValidatingAdmission",
    ),
    Row(
        "istio-in-a-read-only-folder",
        lambda p: p["daemonSets"].append(istio("/opt/cni/bin")),
        "istio",
        "writes to /opt/cni/bin",
        ("staging",),
    ),
    Row(
        "istio-of-another-cloud",
        lambda p: p["daemonSets"].append(istio("/home/kubernetes/bin")),
        "istio",
        "nodes read /opt/cni/bin",
        ("dev",),
    ),
    Row(
        "cilium-past-istio", lambda p: _cilium(p, bpf_lb_sock_hostns_only="false"), "cilium", "bpf-lb-sock-hostns-only"
    ),
    *(
        Row(
            f"no-eviction-{field}-{value}",
            lambda p, field=field, value=value: p["budgets"].append(budget(**{field: value})),
            "budgets",
            rf"team-a/web \({field}: {value}\) allows no eviction of its 2 pods: no drain",
        )
        for field, value in (
            ("maxUnavailable", 0),
            ("maxUnavailable", "0%"),
            ("minAvailable", "100%"),
            ("minAvailable", 2),
        )
    ),
    Row(
        "no-eviction-in-the-platform",
        lambda p: p["budgets"].append(budget("istio-system", maxUnavailable=0)),
        "budgets",
        "istio-system/web .* no drain",
    ),
    *(
        Row(
            f"two-budgets-{number}",
            lambda p, s=second: covered_twice(p, **s),
            "budgets",
            r"web-0: .*\(team-a/all, team-a/web\)",
        )
        for number, second in enumerate(_SELECTING)
    ),
    Row("cilium-alone", lambda p: _cilium(p, cni_exclusive="true"), "cilium", "cni-exclusive"),
)

BROKEN = [(stack, row) for row in ROWS for stack in row.stacks]
