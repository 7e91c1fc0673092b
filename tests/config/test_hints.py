"""Remedies for keys that stand at the wrong place, or have another tool's name."""

from typing import Any

import pytest

from config.base.problems import MOST
from config.clouds import registry
from config.clouds.tables import rows
from config.model.fields import Model
from config.model.wording import by_key, models
from config.stack_file import loader, top_keys
from config.stack_file.mending import Mended
from tests.config.stack import L4, azure, gke_pool, good, on_gke, system, with_pool


def remedy(raw: dict[str, Any], path: str) -> str:
    """Return what is to be done about the problem at a path."""
    (found,) = [problem.remedy for problem in loader.read_stack(raw)[1] if problem.path == path]
    return found


# ruff: noqa: E501  (one key a line)
HINTS = [
    # Of another level.
    (with_pool(maxPrice=1), "pools[1].maxPrice", "`spot.maxPrice`"),
    (with_pool(evictionPolicy="Delete"), "pools[1].evictionPolicy", "`spot.evictionPolicy`"),
    (azure(authorizedRanges=[]), "cloud.authorizedRanges", "`access.authorizedRanges`"),
    (good(location="westeurope"), "location", "`cloud.location`"),
    (azure(maxNodes=3), "cloud.maxNodes", "`systemPool.maxNodes` or `pools[].maxNodes`"),
    (good(guard={"mode": "warn"}), "guard", "`scheduling.guard`"),
    # Of Terraform, the clouds' APIs and their command lines.
    (with_pool(scaleSetPriority="Spot"), "pools[1].scaleSetPriority", "`capacity`"),
    (with_pool(scaleSetEvictionPolicy="Delete"), "pools[1].scaleSetEvictionPolicy", "`spot.evictionPolicy`"),
    (with_pool(spot_max_price=1), "pools[1].spot_max_price", "`spot.maxPrice`"),
    (with_pool(os_disk_size_gb=100), "pools[1].os_disk_size_gb", "`osDisk.sizeGb`"),
    (gke_pool(L4, disk_type="pd-ssd"), "pools[0].disk_type", "`gcp.diskType`"),
    (gke_pool(L4, guest_accelerator=[]), "pools[0].guest_accelerator", "`gpus`"),
    # Of each zone, as the API and Terraform count; and labels of the bill, not of Kubernetes.
    (gke_pool(L4, minNodeCount=1), "pools[0].minNodeCount", "did you mean `gcp.minNodesPerZone`?"),
    (gke_pool(L4, min_node_count=1), "pools[0].min_node_count", "did you mean `gcp.minNodesPerZone`?"),
    (gke_pool(L4, maxNodeCount=3), "pools[0].maxNodeCount", "did you mean `gcp.maxNodesPerZone`?"),
    (gke_pool(L4, max_node_count=3), "pools[0].max_node_count", "did you mean `gcp.maxNodesPerZone`?"),
    (gke_pool(L4, total_max_node_count=3), "pools[0].total_max_node_count", "did you mean `maxNodes`?"),
    (gke_pool(L4, resourceLabels={"team": "vision"}), "pools[0].resourceLabels", "did you mean `cluster.tags`?"),
    (gke_pool(L4, resource_labels={"team": "vision"}), "pools[0].resource_labels", "did you mean `cluster.tags`?"),
    (good(agentPoolProfiles=[]), "agentPoolProfiles", "`pools`? write `kubeflow-spot:pools`"),
    # What the other tool switches off is switched on here: never the same value.
    (azure(disableLocalAccounts=True), "cloud.disableLocalAccounts", "write `access.localAccounts: false` for `disableLocalAccounts: true`"),
    (azure(local_account_disabled=True), "cloud.local_account_disabled", "write `access.localAccounts: false` for `local_account_disabled: true`"),
    (azure(access={"disableRunCommand": True}), "cloud.access.disableRunCommand", "write `runCommand: false` for `disableRunCommand: true`"),
    (azure(access={"localAccountsDisabled": True}), "cloud.access.localAccountsDisabled", "write `localAccounts: false` for `localAccountsDisabled: true`"),
    (good(dcgmExporter={"disabled": True}), "dcgmExporter.disabled", "write `enabled: false` for `disabled: true`"),
    # Of the cloud, without a key of their own.
    (with_pool(enableFIPS=True), "pools[1].enableFIPS", "did you mean `azure.properties.enableFIPS`?"),
    (with_pool(azure={"kubelet_config": {}}), "pools[1].azure.kubelet_config", "did you mean `properties.kubeletConfig`?"),
    (azure(storageProfile={}), "cloud.storageProfile", "did you mean `properties.storageProfile`?"),
    (gke_pool(L4, gcp={"gvnic": {}}), "pools[0].gcp.gvnic", "did you mean `properties.nodeConfig.gvnic`?"),
    # Of a pool that the system pool is not.
    (system(capacity="spot"), "systemPool.capacity", "always bought on demand"),
    (system(scaleSetPriority="Spot"), "systemPool.scaleSetPriority", "always bought on demand"),
    (system(taints=[]), "systemPool.taints", "criticalAddonsOnly"),
    # A value in another form.
    (with_pool(taints=["nvidia.com/x=true:NoExecute"]), "pools[1].taints[0]", '`{key: nvidia.com/x, value: "true", effect: NoExecute}`'),
    (good(scheduling={"guard": "warn"}), "scheduling.guard", "`{mode: warn}`"),
    (azure(autoscaler={"scanInterval": 60}), "cloud.autoscaler.scanInterval", "whole seconds"),
    (azure(upgrades={"clusterWindow": {"day": "Sunday", "startTime": "02:00", "utcOffset": 1}}), "cloud.upgrades.clusterWindow.utcOffset", 'such as "+02:00"'),
    # Quotes alone would not do.
    ({**on_gke([]), "cloud": {"provider": "gcp", "location": "europe-west4", "project": 123456789012}}, "cloud.project", "not its number"),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "path", "words"), HINTS, ids=[f"{hint[1]}-{i}" for i, hint in enumerate(HINTS)])
def test_a_wrong_key_names_the_right_one(raw: dict[str, Any], path: str, words: str) -> None:
    found = remedy(raw, path)
    assert words in found
    assert "must match" not in found
    assert "did you mean" not in found or "the other way round" not in found
    assert "put it in quotes" not in found


def test_no_hint_is_sought_for_a_problem_that_no_report_shows() -> None:
    """A hint compares a key with every key of a stack file."""
    asked: list[str] = []

    def hint(key: str, model: type[Model], path: str) -> tuple[str, str | None]:
        asked.append(key)
        return "", None

    mended = Mended(hint=hint)
    pools = [{f"strange{pool}x{key}": 1 for key in range(30)} for pool in range(300)]
    mended.value(pools, top_keys.top_key_types(None)["pools"], "pools")
    assert len(asked) == MOST
    assert len(mended.problems) == 9000
    assert mended.problems[-1].remedy.startswith("keys here: name, machine")


def test_the_keys_of_a_stack_file_are_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[str] = []
    places = top_keys._places
    monkeypatch.setattr(top_keys, "_places", lambda model, path: listed.append(path) or places(model, path))
    found = top_keys.Hints(top_keys.top_key_types(None))
    assert found.of_the_file("strange", "") != found.of_the_file("maxNodez", "")
    once = len(listed)
    assert once > 0
    assert "systemPool.maxNodes" in found.of_the_file("max_nodez", "")[0]
    assert len(listed) == once


def test_every_name_of_another_tool_leads_to_a_key_that_is_there() -> None:
    for cloud in registry.registrations():
        top_types = {**top_keys.top_key_types(cloud), "pool": registry.pool_model()}
        for (place, name), (path, _) in cloud.foreign_keys().items():
            annotation: Any = None
            for key in (
                [*place.split("."), *path.split(".")]
                if place and path.split(".")[0] not in top_types
                else path.split(".")
            ):
                fields = by_key(next(models(annotation))) if annotation else None
                assert key in (fields or top_types), (place, name, path)
                annotation = fields[key].annotation if fields else top_types[key]
            assert name not in by_key(registry.pool_model())


@pytest.mark.parametrize("cloud", ["azure", "gcp"])
def test_every_such_name_says_where_it_is_from(cloud: str) -> None:
    registration = registry.registration(cloud)
    assert registration is not None
    table = rows(__import__(f"config.clouds.{cloud}", fromlist=["x"]).__file__, "foreign_keys")
    assert {row["source"] for row in table} <= {"azurerm", "ARM", "google", "API", "gcloud"}
    assert len({(row["object"], row["name"]) for row in table}) == len(table)
