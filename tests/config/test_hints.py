"""Remedies for keys that stand at the wrong place, or have another tool's name."""

from collections.abc import Collection
from typing import Any

import pytest

from config.base import near
from config.base.problems import MOST
from config.clouds import registry
from config.clouds.tables import rows
from config.model.fields import Model
from config.model.structure import by_key, models
from config.stack_file import loader, top_keys
from config.stack_file.hints import HERE
from config.stack_file.mending import Mended
from tests.config.stack import L4, azure, extra_pool, gke_pool, good, on_gke, system, with_pool
from tests.config.stack_files import edited


def remedy(raw: dict[str, Any], path: str) -> str:
    """Return what is to be done about the problem at a path."""
    (found,) = [problem.remedy for problem in loader.read_stack(raw)[1] if problem.path == path]
    return found


UNBOUNDED = {key: value for key, value in L4.items() if key != "maxNodes"}

# ruff: noqa: E501  (one key a line)
HINTS = [
    # Of another level.
    (gke_pool({**L4, "machine": "n1-standard-8"}, labels={"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"}), "pools[0].gpus", "write `gpus: 1` and `gpuModel: nvidia-tesla-t4`, without the label"),
    (azure(**{"encryption.atHost": True}), 'cloud["encryption.atHost"]', "write `encryption: {atHost: true}` in its place"),
    (azure(spec={"forProvider": {"tier": "Standard", "region": "westeurope"}}), "cloud.spec", "delete this line; what to do with what it holds, is told with each"),
    (with_pool(nodeTaints=["sku=gpu:NoSchedule"]), "pools[1].nodeTaints", "write `taints: [{key: sku, value: gpu, effect: NoSchedule}]` in its place"),
    (with_pool(fallback=[{"poolRef": {"name": "t4big"}}]), "pools[1].fallback[0].poolRef", "write `pool: t4big` in its place"),
    (good(cluster={"name": "ml-x", "tags": ["team=ml", "env=dev"]}), "cluster.tags", "`{team: \"ml\", env: \"dev\"}`"),
    (with_pool(maxPrice=1), "pools[1].maxPrice", "`spot: {maxPrice: 1}`"),
    (with_pool(evictionPolicy="Delete"), "pools[1].evictionPolicy", "`spot: {evictionPolicy: Delete}`"),
    (azure(authorizedRanges=[]), "cloud.authorizedRanges", "`access.authorizedRanges`"),
    (azure(authorizedRanges=["198.51.100.7/32"]), "cloud.authorizedRanges", "write `access: {authorizedRanges: [\"198.51.100.7/32\"]}`"),
    (good(location="westeurope"), "location", "`cloud.location`"),
    (azure(maxNodes=3), "cloud.maxNodes", "`systemPool.maxNodes` or `pools[].maxNodes`"),
    (good(guard={"mode": "warn"}), "guard", "write `scheduling: {guard: {mode: warn}}` in its place"),
    # Of Terraform, the clouds' APIs and their command lines.
    (with_pool(scaleSetPriority="Spot"), "pools[1].scaleSetPriority", "remove it: `capacity` stands there already"),
    (with_pool(scaleSetEvictionPolicy="Delete"), "pools[1].scaleSetEvictionPolicy", "`spot: {evictionPolicy: Delete}`"),
    (with_pool(spot_max_price=1), "pools[1].spot_max_price", "`spot: {maxPrice: 1}`"),
    (with_pool(os_disk_size_gb=100), "pools[1].os_disk_size_gb", "`osDisk: {sizeGb: 100}`"),
    (gke_pool(L4, disk_type="pd-ssd"), "pools[0].disk_type", "`gcp: {diskType: pd-ssd}`"),
    (gke_pool(L4, guest_accelerator=[]), "pools[0].guest_accelerator", "remove it: g2-standard-8 brings its 1 nvidia-l4"),
    (gke_pool({**L4, "machine": "n1-standard-8"}, guest_accelerator=[{"type": "nvidia-tesla-t4", "count": 2}]), "pools[0].guest_accelerator", "write `gpus: 2` and `gpuModel: nvidia-tesla-t4` in its place"),
    (gke_pool({**L4, "machine": "e2-standard-8"}, gpu="T4"), "pools[0].gpu", "remove it: e2-standard-8 takes no GPU; use n1-standard-4 with `gpus: 1`"),
    (gke_pool({**L4, "machine": "n1-standard-8"}, accelerator={"type": "nvidia-l4", "sharing": {"max_shared_clients_per_gpu": 4}}), "pools[0].accelerator", "n1-standard-8 takes nvidia-tesla-t4, nvidia-tesla-p4, nvidia-tesla-v100: use g2-standard-4, with nvidia-l4; pods that share a GPU: `gpuSharing: {strategy: time-slicing, replicas: 4}`"),
    (edited(with_pool(gpu={"vendor": "acme"}), {}, ["pools[1].machine"]), "pools[1].gpu", "write `machine: Standard_NC4as_T4_v3` in its place, which has a GPU"),
    (gke_pool({**L4, "capacity": "on-demand"}, labels={"cloud.google.com/gke-spot": "true"}), "pools[0].capacity", "write `capacity: spot`, without the label"),
    (with_pool(gpus={"nvidia.com/gpu": 2}), "pools[1].gpus", "remove it: Standard_NC4as_T4_v3 brings its 1 nvidia-t4"),
    (gke_pool({**L4, "machine": "n1-standard-8"}, gpus={"type": "T4", "count": 3}), "pools[0].gpus", "write `gpus: 2` and `gpuModel: nvidia-tesla-t4` in its place: 1, 2, 4 are sold"),
    (with_pool(requirements=[{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]}, {"key": "karpenter.azure.com/sku-family", "values": ["N"]}]), "pools[1].requirements", "write `capacity: spot`, `fallback: [{onDemand: {maxNodes: 8}}]` in its place; `machine` is one size by its name"),
    # Of each zone, as the API and Terraform count; and labels of the bill, not of Kubernetes.
    (gke_pool(UNBOUNDED, minNodeCount=1), "pools[0].minNodeCount", "write `minNodes: 1` for the whole pool, or `gcp: {minNodesPerZone: 1}` for each zone"),
    (gke_pool(UNBOUNDED, min_node_count=1), "pools[0].min_node_count", "write `minNodes: 1` for the whole pool, or `gcp: {minNodesPerZone: 1}` for each zone"),
    (gke_pool(UNBOUNDED, maxNodeCount=3), "pools[0].maxNodeCount", "write `maxNodes: 3` for the whole pool, or `gcp: {maxNodesPerZone: 3}` for each zone"),
    (gke_pool(UNBOUNDED, max_node_count=3), "pools[0].max_node_count", "write `maxNodes: 3` for the whole pool, or `gcp: {maxNodesPerZone: 3}` for each zone"),
    (gke_pool(L4, min_node_count=1), "pools[0].min_node_count", "remove it: `maxNodes` sets the most of all zones together, and `minNodes` the least"),
    (gke_pool(L4, maxNodeCount=3), "pools[0].maxNodeCount", "remove it: `maxNodes` sets this, for all zones together"),
    (gke_pool(L4, autoscaling={"maxNodeCount": 3}), "pools[0].autoscaling", "delete this line; what to do with what it holds, is told with each"),
    (with_pool(count=2), "pools[1].count", "remove it: the autoscaler counts between 0 and `maxNodes`"),
    (gke_pool(UNBOUNDED, autoscaling={"maxNodeCount": 3}), "pools[0].autoscaling", "write `maxNodes: 3` in its place"),
    (gke_pool(L4, total_max_node_count=3), "pools[0].total_max_node_count", "remove it: `maxNodes: 8` stands there already; change that if 3 is right"),
    (gke_pool(L4, resourceLabels={"team": "vision"}), "pools[0].resourceLabels", "write `tags: {team: vision}` under `cluster` in its place"),
    (gke_pool(L4, resource_labels={"team": "vision"}), "pools[0].resource_labels", "write `tags: {team: vision}` under `cluster` in its place"),
    (good(agentPoolProfiles=[]), "agentPoolProfiles", "remove it: `kubeflow-spot:pools` stands there already"),
    # What the other tool switches off is switched on here: never the same value.
    (azure(disableLocalAccounts=True), "cloud.disableLocalAccounts", "write `access.localAccounts: false` in its place, beside `access.adminGroups` or `access.azureRbac: true`: the meaning is the other way round"),
    (azure(local_account_disabled=True), "cloud.local_account_disabled", "write `access.localAccounts: false` in its place, beside `access.adminGroups`"),
    (azure(access={"disableRunCommand": True}), "cloud.access.disableRunCommand", "write `runCommand: false` in its place: the meaning is the other way round"),
    (azure(access={"localAccountsDisabled": True}), "cloud.access.localAccountsDisabled", "write `localAccounts: false` in its place, beside `adminGroups` or `azureRbac: true`"),
    (good(dcgmExporter={"disabled": True}), "dcgmExporter.disabled", "write `enabled: false` in its place"),
    (azure(access={"disableRunCommand": False}), "cloud.access.disableRunCommand", "write `runCommand: true` in its place: the meaning"),
    (good(systemPool={"machine": "Standard_D4ds_v5", "maxNodes": 4, "nodeTaints": ["CriticalAddonsOnly=true:NoSchedule"]}), "systemPool.nodeTaints", "write `criticalAddonsOnly: true` in its place"),
    (azure(secureBoot=True), "cloud.secureBoot", "write `azure: {secureBoot: true}` in `systemPool` and in each pool without GPUs"),
    (on_gke(secureBoot=True), "cloud.secureBoot", "write `gcp: {secureBoot: true}` in `systemPool` and in each pool"),
    (on_gke(disruption={"consolidateAfter": "5m"}), "cloud.disruption", "write `fallback: {consolidationDelayMinutes: 5}` in its place"),
    (extra_pool(onDemand={"maxNodes": 3}), "pools[3].onDemand", "write `fallback: [{onDemand: {maxNodes: 3}}]` in its place"),
    (extra_pool(onDemand=True), "pools[3].onDemand", "write `fallback: [{onDemand: {maxNodes: 2}}]` in its place"),
    (extra_pool(minNodes=1, desiredCapacity=2), "pools[3].desiredCapacity", "remove it: the autoscaler counts itself, from `minNodes` up to `maxNodes`; to keep 2 at least, write 2 there"),
    (gke_pool(L4, accelerator="type=nvidia-l4,count=1,gpu-driver-version=latest"), "pools[0].accelerator", "write `gcp: {driverVersion: latest}` in its place"),
    (good(cluster={"name": "ml-dev", "location": "westeurope"}), "cluster.location", "remove it: `cloud.location` stands there already"),
    # The author's own value, where it is plainly known.
    (extra_pool(scaleSetPriority="SPOT"), "pools[3].scaleSetPriority", "write `capacity: spot` in its place"),
    (extra_pool(priority="Regular"), "pools[3].priority", "write `capacity: on-demand` in its place"),
    (on_gke(zone="europe-west4-b"), "cloud.zone", "write `location: europe-west4-b` in its place for a zonal cluster"),
    (on_gke(zone="europe-west4-b; rm"), "cloud.zone", "write `location: europe-west4-a` in its place"),
    (on_gke(zone="europe-west4-b", region="europe-west4"), "cloud.region", "remove it: `zone` names a place in it"),
    (on_gke(region="europe-west4"), "cloud.region", "remove it: `location` stands there already"),
    (on_gke(upgrades={"clusterWindow": {"day": "Sunday", "startTime": "03:30"}}), "cloud.upgrades", 'write `maintenance: {days: [Sunday], startTime: "03:30", durationHours: 12}`'),
    (on_gke(upgrades={"channel": "patch"}), "cloud.upgrades", 'write `maintenance: {days: [Saturday], startTime: "02:00", durationHours: 12}`'),
    # Of the cloud, without a key of their own.
    (with_pool(enableFIPS=True), "pools[1].enableFIPS", "its place is `azure.properties.enableFIPS`"),
    (with_pool(azure={"kubelet_config": {}}), "pools[1].azure.kubelet_config", "its place is `properties.kubeletConfig`"),
    (azure(storageProfile={}), "cloud.storageProfile", "write `storageDrivers` in its place"),
    (gke_pool(L4, gcp={"gvnic": {}}), "pools[0].gcp.gvnic", "its place is `properties.nodeConfig.gvnic`"),
    # Of a pool that the system pool is not.
    (system(capacity="spot"), "systemPool.capacity", "always bought on demand"),
    (system(scaleSetPriority="Spot"), "systemPool.scaleSetPriority", "always bought on demand"),
    (system(taints=[]), "systemPool.taints", "criticalAddonsOnly"),
    # A value in another form.
    (with_pool(taints=["nvidia.com/x=true:NoExecute"]), "pools[1].taints[0]", '`{key: nvidia.com/x, value: "true", effect: NoExecute}`'),
    (good(scheduling={"guard": "warn"}), "scheduling.guard", "`{mode: warn}`"),
    (azure(autoscaler={"scanInterval": 60}), "cloud.autoscaler.scanInterval", "add a unit: 60s"),
    (azure(upgrades={"clusterWindow": {"day": "Sunday", "startTime": "02:00", "utcOffset": 1}}), "cloud.upgrades.clusterWindow.utcOffset", 'such as "+02:00"'),
    ({"kubeflow-spot": good()}, "kubeflow-spot", "write each with the prefix, such as `kubeflow-spot:release: ...`"),
    # What nobody has here: why, and what does it.
    (gke_pool(L4, spotMaxPrice=1.25), "pools[0].spotMaxPrice", "remove it: a Spot VM has no price limit"),
    (gke_pool(L4, ttlSecondsAfterEmpty=30), "pools[0].ttlSecondsAfterEmpty", "write `autoscaler: {profile: OPTIMIZE_UTILIZATION}` under `cloud`"),
    (with_pool(ttlSecondsAfterEmpty=30), "pools[1].ttlSecondsAfterEmpty", "write `autoscaler: {scaleDownUnneededTime: 1m}` under `cloud`"),
    (with_pool(iam={"withAddonPolicies": {}}), "pools[1].iam", "remove it: it is AWS'"),
    (system(iam={}), "systemPool.iam", "remove it: it is AWS'"),
    (with_pool(encryptionAtHost=True), "pools[1].encryptionAtHost", "`encryption: {atHost: true}` under `cloud`"),
    (with_pool(gpuSharing={"mig": "MIG1g"}), "pools[1].gpuSharing.mig", "remove it, or use a size with A100"),
    (with_pool(gpuSharing={"strategy": "mps", "maxClients": 4}), "pools[1].gpuSharing.maxClients", "write `replicas: 4` in its place"),
    (good(alerts={"route": {}}), "alerts.route", "`monitoring.actionGroups` under `cloud`"),
    ({**on_gke([]), "alerts": {"receivers": []}}, "alerts.receivers", "examples/alerts/alertmanager.yaml"),
    (good(queueing={"scheduler": "volcano"}), "queueing.scheduler", "the queues are Kueue's"),
    (on_gke(network={"plugin": "azure"}), "cloud.network.plugin", "GKE has one plugin"),
    (on_gke(network={"nodeCidr": "10.0.0.0/24"}), "cloud.network.nodeCidr", 'write `nodeSubnet: "10.0.0.0/24"` in its place'),
    (azure(network={"podSubnetId": "/subscriptions/1"}), "cloud.network.podSubnetId", "with Azure CNI Overlay pods have addresses of `podCidr`"),
    (on_gke(monitoring={"logs": {}}), "cloud.monitoring.logs", "write `logging: {components: [SYSTEM_COMPONENTS, WORKLOADS]}` under `cloud`"),
    (azure(monitoring={"cloudWatch": {}}), "cloud.monitoring.cloudWatch", "write `logs: {}` in its place"),
    (azure(encryption={"secrets": {}}), "cloud.encryption.secrets", "a key of Azure Key Vault"),
    (on_gke(clusterAutoscaling={"enabled": True}), "cloud.clusterAutoscaling", "the limit is `maxNodes` of each pool"),
    (on_gke(fallback={"consolidateAfter": "2m"}), "cloud.fallback.consolidateAfter", "write `consolidationDelayMinutes: 2`"),
    (azure(nodeAutoProvisioning=True), "cloud.nodeAutoProvisioning", "leave out `autoscaler`: AKS takes one of the two"),
    ({**good(), "addons": []}, "addons", "the cloud brings network, DNS and disk drivers"),
    # A region of another cloud, and the one of this cloud that is near.
    (azure(location="us-east-1"), "cloud.location", "write `location: eastus`, which is near"),
    (azure(location="europe-west4-b"), "cloud.location", "write `location: westeurope`, which is near"),
    (on_gke(location="West Europe"), "cloud.location", "write `location: europe-west4`, which is near"),
    (on_gke(location="eu-west-4"), "cloud.location", "write `location: europe-west4`"),
    # A number of other tools counts in seconds.
    (azure(autoscaler={"scaleDownUnneededTime": 120}), "cloud.autoscaler.scaleDownUnneededTime", "2m if these are seconds, 120m if not"),
    (with_pool(gpus={"type": "k80", "count": 1}), "pools[1].gpus", "remove it: Standard_NC4as_T4_v3 brings its 1 nvidia-t4"),
    (with_pool(maxNodes=0), "pools[1].maxNodes", "`pulumi destroy`"),
    (azure(access={"authorizedRanges": ["office/32"]}), "cloud.access.authorizedRanges[0]", "as ADDRESS/32"),
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

    def hint(key: str, model: type[Model], path: str, beside: Collection[str], item: Any) -> tuple[str, str | None]:
        asked.append(key)
        return "", None

    mended = Mended(hint=hint)
    pools = [{f"strange{pool}x{key}": 1 for key in range(30)} for pool in range(300)]
    mended.value(pools, top_keys.top_key_types(None)["pools"], "pools")
    assert len(asked) == MOST
    assert len(mended.problems) == 9000
    assert mended.problems[-1].remedy.startswith("keys here: name, machine")


def test_every_name_of_another_tool_leads_to_a_key_that_is_there() -> None:
    for cloud in registry.registrations():
        top_types = {**top_keys.top_key_types(cloud), "pool": registry.pool_model()}
        for (place, name), (path, remedy, beside, then) in cloud.foreign_keys().items():
            assert bool(path) or bool(remedy), (place, name)
            assert bool(beside) == bool(then), (place, name)
            if path in ("", HERE) or (place.startswith("cloud") and cloud.provider == "existing"):
                continue
            within = place and path.split(".")[0] not in top_types
            annotation: Any = None
            for key in [*(place.split(".") if within else ()), *path.split(".")]:
                fields = by_key(next(models(annotation))) if annotation else None
                assert key in (fields or top_types), (place, name, path)
                annotation = fields[key].annotation if fields else top_types[key]


@pytest.mark.parametrize("table", ["", ".azure", ".gcp"])
def test_every_such_name_says_where_it_is_from_and_stands_once(table: str) -> None:
    folder = __import__(f"config.clouds{table}", fromlist=["x"]).__file__
    found = rows(folder, "foreign_keys")
    tools = {tool for row in found for tool in row["source"].split()}
    assert tools <= {
        "azurerm",
        "ARM",
        "az",
        "google",
        "API",
        "gcloud",
        "eksctl",
        "aws",
        "CAPI",
        "helm",
        "Karpenter",
        "gcp",
    }
    names = [
        (place, near.bare(name.partition("=")[0]))
        for row in found
        for place in row["object"].split()
        for name in row["names"].split()
    ]
    assert [name for name in names if names.count(name) > 1] == []
