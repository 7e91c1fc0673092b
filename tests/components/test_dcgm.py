"""The DCGM exporter: the pools that get it, and its Service."""

from __future__ import annotations

from typing import Any

import pytest

from components.layer import names
from components.layer.gpu import dcgm
from components.resources import wire
from config.model.spec import ClusterSpec
from config.placement.node_pools import NodePool
from tests.components.gpu_agents import exporter, main_container, with_


def policy(**content: Any) -> dict[str, Any]:
    everywhere = {"tolerations": [{"operator": "Exists"}]}
    return {"metadata": {"name": "cluster-policy"}, "spec": {"daemonsets": everywhere, **content}}


def daemon_set(image: str, labels: dict[str, str] | None = None) -> dict[str, Any]:
    spec = {"containers": [{"image": image}], "tolerations": [{"operator": "Exists"}]}
    return {"metadata": {"namespace": "gpu", "name": "theirs", "labels": labels}, "spec": {"template": {"spec": spec}}}


@pytest.mark.parametrize(
    ("daemon_sets", "policies", "declared"),
    [
        ([], [], True),
        ([], [policy()], False),
        ([], [policy(dcgmExporter={"enabled": False})], True),
        ([], [policy(devicePlugin={"enabled": False})], False),
        ([daemon_set("nvcr.io/nvidia/k8s/dcgm-exporter:4.5.3-4.8.2-distroless")], [], False),
        ([daemon_set("nvcr.io/nvidia/k8s/dcgm-exporter@sha256:00", names.labels("dev"))], [], True),
        ([daemon_set("nvcr.io/nvidia/k8s-device-plugin:v0.20.0")], [], True),
    ],
)
def test_the_exporter_leaves_pools_to_one_that_reaches_them(
    daemon_sets: list[Any], policies: list[Any], declared: bool, spec: ClusterSpec, pools: dict[str, NodePool]
) -> None:
    exporter_plan = dcgm.plan(spec, list(pools.values()), dcgm.exporters(daemon_sets, policies, "dev"))
    assert [pool.name for pool in exporter_plan.pools] == (list(pools) if declared else [])
    assert bool(exporter_plan.warnings) is not declared


def test_the_exporter_is_for_pools_with_the_clouds_driver_and_only_when_asked(spec: ClusterSpec) -> None:
    bare = with_(spec, "train", install_driver=False)
    exporter_plan = dcgm.plan(spec, list(bare.values()))
    assert "train" not in {pool.name for pool in exporter_plan.pools}
    assert exporter_plan.warnings == ("train: no DCGM exporter without the cloud's driver (installDriver: false)",)
    (nothing,) = dcgm.plan(spec, []).warnings
    assert nothing.startswith("dcgmExporter.enabled: ")
    off = spec.model_copy(update={"dcgm_exporter": spec.dcgm_exporter.model_copy(update={"enabled": False})})
    assert dcgm.plan(off, list(bare.values())) == dcgm.ExporterPlan()


def test_the_service_selects_the_exporters_pods_and_their_port(pools: dict[str, NodePool]) -> None:
    service = wire(dcgm.service_spec("dev"))
    assert service["selector"].items() <= exporter(pools)["template"]["metadata"]["labels"].items()
    assert service["clusterIP"] == "None"
    (port,), (container_port,) = service["ports"], main_container(exporter(pools))["ports"]
    assert (port["port"], container_port["containerPort"]) == (9400, 9400)
    assert port["targetPort"] == container_port["name"]
