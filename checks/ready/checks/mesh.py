"""The mesh: Istio, its CNI agent, and Cilium beside it."""

from __future__ import annotations

from collections.abc import Iterator

from checks.check import Check, Remark, note, ok, wrong
from checks.ready.cluster import Cluster
from checks.ready.snapshot import Object

_DEFAULT_FOLDER = "/opt/cni/bin"


def _named(cluster: Cluster, *names: str) -> Object | None:
    return next(
        (item for item in cluster.objects("daemonSets") if item["metadata"]["name"] in names), None
    )


def _istio(cluster: Cluster) -> Iterator[Remark]:
    agent = _named(cluster, "istio-cni-node")
    if agent is None:
        yield note("Istio's CNI agent is not installed; Kubeflow 26.03 brings it")
        return
    folders = {
        (volume.get("hostPath") or {}).get("path")
        for volume in agent["spec"]["template"]["spec"].get("volumes") or ()
        if "cni-bin" in str(volume.get("name"))
    }
    cloud = cluster.cloud
    wanted = (cloud.cni_folder if cloud else "") or _DEFAULT_FOLDER
    where = f"{agent['metadata']['namespace']}/{agent['metadata']['name']}"
    shown = ", ".join(map(str, folders))
    if folders and wanted not in folders and cloud is None:
        yield note(
            f"Istio's CNI agent {where} writes to {shown}; which folder this cluster's nodes read"
            " is not known here",
            "compare it with the folder of the container runtime's CNI plugins (its bin_dir)",
        )
    elif cloud and folders and wanted not in folders:
        yield wrong(
            f"Istio's CNI agent {where} writes to {shown}; this cloud's nodes read {wanted}",
            cloud.istio,
        )
    else:
        yield ok(f"Istio's CNI agent {where} writes to {wanted}")


def _cilium(cluster: Cluster) -> Iterator[Remark]:
    if _named(cluster, "cilium", cluster.cloud.cilium_agent if cluster.cloud else "") is None:
        yield ok("no Cilium, so Istio needs no settings of it")
        return
    data = (cluster.part("cilium") or {}).get("data") or {}
    remedy = (
        cluster.cloud.cilium
        if cluster.cloud
        else "set socketLB.hostNamespaceOnly=true and cni.exclusive=false in Cilium's chart"
    )
    if not data:
        yield note("Cilium runs, and its settings are not in kube-system/cilium-config", remedy)
        return
    faults = False
    in_pods = data.get("bpf-lb-sock") == "true" or data.get("kube-proxy-replacement") in (
        "true",
        "strict",
    )
    only_host = data.get("bpf-lb-sock-hostns-only")
    if in_pods and only_host is None and cluster.cloud:
        yield note(
            "Cilium does not say whether it balances inside pods (bpf-lb-sock-hostns-only); the"
            " cloud owns its settings",
            remedy,
        )
        faults = True
    elif in_pods and only_host != "true":
        faults = True
        yield wrong(
            "Cilium balances inside pods, past Istio (bpf-lb-sock-hostns-only): Kubeflow's"
            " dashboard answers"
            " 'RBAC: access denied'",
            remedy,
        )
    if data.get("cni-exclusive") == "true":
        faults = True
        yield wrong("Cilium removes other CNI plugins, Istio's too (cni-exclusive)", remedy)
    if not faults:
        yield ok("Cilium leaves Istio its traffic")


CHECKS = (
    Check(
        "istio",
        _istio,
        "kubeflow/manifests 26.03, README (FAQ); istio.io/latest/docs/setup/additional-setup/cni",
    ),
    Check(
        "cilium",
        _cilium,
        "docs.cilium.io/en/stable/network/servicemesh/istio; kubeflow/manifests README",
    ),
)
