"""Mistakes in a stack file: each is reported with its path and a remedy, and none hides another.

Those that need a whole stack file to be seen are in tests/configs/errors.
"""

from typing import Any

import pytest

from config.base.problems import Problem, report
from config.stack_file import loader
from tests.config.stack import (
    FLEX,
    GOOD,
    L4,
    N1,
    RESERVED,
    azure,
    errors,
    extra_pool,
    gke_cluster,
    gke_pool,
    gke_system,
    good,
    on_existing,
    on_gke,
    spec,
    system,
    wide,
    with_pool,
)  # fmt: skip
from tests.config.stack_files import edited

NETWORK = {"name": "n", "subnet": "s", "podRange": "p", "serviceRange": "r"}
OLD = {"name": "ml", "kubernetesVersion": "1.31", "reason": "waits for Istio"}


# ruff: noqa: E501  (one mistake a line)
MISTAKES = [
    (edited({**good(), "relese": "r2026-09"}, {}, ["release"]), "relese", "did you mean `release`"),
    (edited(good(), {}, ["cluster"]), "cluster", "name: ml-dev"),
    (edited(good(), {}, ["cloud"]), "cloud", "provider: azure"),
    (good(cluster="ml"), "cluster", "name, tags"),
    (good(cluster="ml-sandbox"), "cluster", "is 'ml-sandbox', which is text and not an object -> write `{name: ml-sandbox}`"),
    (azure(autoscaler=["--scan-interval=20s", "scale-down-unneeded-time=3m"]), "cloud.autoscaler", 'is a list, not an object -> write `{scanInterval: "20s", scaleDownUnneededTime: "3m"}`'),
    (azure(autoscaler=["--scan-interval=20s", "unknown=3m"]), "cloud.autoscaler", "keys: expander, scanInterval"),
    (azure(monitoring={"logs": [{"category": "cluster-autoscaler", "retentionPolicy": {"days": 90}}]}), "cloud.monitoring.logs", "is a list, not an object -> write `{controlPlane: [cluster-autoscaler], retentionDays: 90}`"),
    (azure(access={"azureRbac": {"enabled": True}}), "cloud.access.azureRbac", "is an object, not true or false -> write `azureRbac: true`"),
    (azure(access={"authorizedRanges": [{"cidrBlock": "203.0.113.0/26", "displayName": "office"}, {"cidrBlock": "9.9.9.9/32"}]}), "cloud.access.authorizedRanges", "holds objects, not texts -> write `[203.0.113.0/26, 9.9.9.9/32]`; for names write one `- ...` a line, and the name behind a ` #`"),
    (azure(access={"authorizedRanges": ["9.9.9.16./28"]}), "cloud.access.authorizedRanges[0]", 'write "9.9.9.16/28"'),
    (azure(access={"runCommand": "disabled"}), "cloud.access.runCommand", "is 'disabled' -> write false"),
    (good(cluster={"name": "ml-x", "tags": {"owner = ml": None}}), 'cluster.tags["owner = ml"]', 'is a key without a value -> write `owner: "ml"`, with a colon'),
    ({**good(), "cloud": {**good()["cloud"], "kubeflow-spot:dcgmExporter": {"enabled": True}}}, 'cloud["kubeflow-spot:dcgmExporter"]', "stands inside `kubeflow-spot:cloud`: it is indented too deep -> begin it in the column of `kubeflow-spot:cloud`"),
    (edited({**good(), "cluster.name": "ml-x", "cluster.tags.team": "a"}, {}, ["cluster"]), '["cluster.name"]', "is one key, with dots in its name; so is cluster.tags.team -> write `kubeflow-spot:cluster: {name: ml-x, tags: {team: a}}` in their place"),
    ({**good(), "cluster.protect": "true"}, '["cluster.protect"]', "write `protect: true` under `kubeflow-spot:cluster` in its place, as `pulumi config set --path` does"),
    (on_gke([L4], fallback=[{"onDemand": {"maxNodes": 2}}]), "cloud.fallback", "is a list of steps, which belong to a pool -> move it, as `fallback`, below the pool that it is for: 'l4'"),
    (extra_pool(fallback=["onDemand"], capacity="spot"), "pools[3].fallback[0]", "is 'onDemand', which is text and not an object -> write `{onDemand: {maxNodes: 3}}`"),
    (extra_pool(maxNodes="${MOST}"), "pools[3].maxNodes", "is '${MOST}', which nothing replaces here -> write the value itself"),
    (good(cluster={"name": "-ml"}), "cluster.name", "3 to 54"),
    (good(cluster={"name": "a" * 55}), "cluster.name", "3 to 54"),
    (good(cluster={"name": "ml-dev\n"}), "cluster.name", "3 to 54"),
    (good(cluster={"name": "ml-dev", "nmae": "ml-x"}), "cluster.nmae", "did you mean `name`"),
    (good(cluster={"name": "ml-x", "reason": "because of istio"}), "cluster.reason", "set kubernetesVersion"),
    (good(cluster={"name": "ml-x", "tags": {"a": "b" * 257}}), "cluster.tags.a", "at most 256"),
    (good(cluster={"name": "ml-x", "tags": {"Team": "b", "team": "c"}}), "cluster.tags.team", "keep one"),
    (good(cluster={"name": "ml-x", "tags": {f"t{i}": "" for i in range(50)}}), "cluster.tags", "at most 49"),
    (good(cluster={"name": "ml-x", "tags": {"a b": 1}}), 'cluster.tags["a b"]', 'is 1, which YAML does not read as text -> put it in quotes: "1"'),
    (good(cloud="azure"), "cloud", "provider: azure"),
    (azure(zone="europe-west1-b"), "cloud.zone", "is not a key of this object -> remove it: write `zones"),
    (azure(resourceGroup="ends with a dot."), "cloud.resourceGroup", "no . at the end"),
    (azure(autoscaler={"scanInterval": "10"}), "cloud.autoscaler.scanInterval", "10s"),
    (azure(autoscaler={"scaleDownDelayAfterDelete": "1h"}), "cloud.autoscaler.scaleDownDelayAfterDelete", 'write "60m"'),
    (azure(autoscaler={"scaleDownUtilizationThreshold": 40}), "cloud.autoscaler.scaleDownUtilizationThreshold", "write 0.4"),
    (azure(network={"podCidr": "10.244.0.0/33"}), "cloud.network.podCidr", "10.8.0.0/16"),
    (azure(network={"nodeSubnet": "10.9.0.0/20"}), "cloud.network.nodeSubnet", "choose a free part"),
    (azure(network={"serviceCidr": "10.8.0.0/24"}), "cloud.network.serviceCidr", "write a free range, such as 10.100.0.0/24"),
    (azure(network={"serviceCidr": "11.0.0.0/8"}), "cloud.network.serviceCidr", "/13 to /28"),
    (azure(network={"serviceCidr": "10.0.0.248/29"}), "cloud.network.serviceCidr", "/13 to /28"),
    (azure(network={"podCidr": "10.244.0.0/28"}), "cloud.network.podCidr", "10.244.0.0/16"),
    (azure(network={"nodeSubnet": "10.8.0.0/28"}), "cloud.network.nodeSubnet", "smaller maxNodes"),
    (azure(network={"subnets": {"unused": "10.8.16.0/30"}}), "cloud.network.subnets.unused", "at least a /29"),
    (azure(network={"subnets": {"gpu": "10.8.16.0/24", "GPU": "10.8.17.0/24"}}), "cloud.network.subnets.GPU", "another name"),
    (azure(access={"private": True, "privateDnsZone": "mine"}), "cloud.access.privateDnsZone", "system, none; or an Azure resource's whole id"),
    (azure(access={"tenantId": "00000000-0000-4000-8000-0000000007e4"}), "cloud.access.tenantId", "adminGroups"),
    (azure(access={"authorizedRanges": [f"20.0.{i}.0/24" for i in range(201)]}), "cloud.access.authorizedRanges", "at most 200"),
    (azure(ssh={"publicKey": "AAAA"}), "cloud.ssh.publicKey", "ssh-ed25519"),
    (azure(encryption={"kms": {"keyId": "https://v.vault.azure.net/keys/etcd"}}), "cloud.encryption.kms.keyId", "<version>"),
    (azure(monitoring={"logs": {"controlPlane": ["guard", "guard"]}}), "cloud.monitoring.logs.controlPlane[1]", "remove one"),
    (good(pools=[*GOOD["pools"], {"fallback": [{"onDemand": {"maxNodes": 1}}]}]), "pools[3]", "take away its `- `, and indent it as the other keys of 't4big' above"),
    (good(pools=[*GOOD["pools"], {"name": "a100"}]), "pools[3].machine", "remove the whole entry, or add `machine: Standard_NC24ads_A100_v4`, for example, and `maxNodes: 4`"),
    (good(pools="- name: t4\n  maxNodes: 8\n"), "pools", "take away the `|` or `>` after the key"),
    (good(growth={"acceptedWait": "PT20M"}), "growth.acceptedWait", 'write "20m"'),
    (good(growth={"acceptedWait": "P1M"}), "growth.acceptedWait", 'write "720h"'),
    (good(growth={"acceptedWait": "0-01:00:00"}), "growth.acceptedWait", 'write "1h"'),
    (good(growth="20m"), "growth", "write `{acceptedWait: 20m}`"),
    (good(cluster={"name": "ml-x", "tags": "team: ml, env=dev"}), "cluster.tags", '`{team: "ml", env: "dev"}`'),
    (good(budget={"amount": "2,000 EUR"}), "budget", "hourlyBudget: 2.7"),
    (on_gke(zones=["europe-west4-a europe-west4-b"]), "cloud.zones[0]", "a comma is missing: write `europe-west4-a, europe-west4-b`"),
    (on_gke(zones=[1, 2, 3]), "cloud.zones[0]", "write the zone's whole name"),
    (azure(access={"authorizedRanges": ["20.0.0.0\\24"]}), "cloud.access.authorizedRanges[0]", 'write "20.0.0.0/24"'),
    (with_pool(capacity="spot-or-ondemand"), "pools[1].capacity", "write `capacity: spot` and `fallback: [{onDemand: {maxNodes: 8}}]`"),
    (gke_pool(L4, machine="g2-standard-8|g2-standard-16"), "pools[0].machine", "write g2-standard-8; g2-standard-16 is a pool of its own"),
    (gke_pool(L4, labels={"gpu:true": None}), 'pools[0].labels["gpu:true"]', 'write `gpu: "true"`, with a space after the colon'),
    (good(cluster={"name": "ml-x", "deletion_protection": True, "protect": False}), "cluster.deletion_protection", "remove it: `protect: false` stands there already; change that if true is right"),
    (good(cluster={"name": "ml-x", "deletion_protection": True, "protect": True}), "cluster.deletion_protection", "remove it: `protect` stands there already"),
    (good(workloads={"checkpoints": {"name": "mldevckpt", "retention": "2 weeks"}}), "workloads.checkpoints.retention", "write `expireAfterDays: 14`"),
    (good(workloads={"checkpoints": {"name": "mldevckpt", "retention": "P14D"}}), "workloads.checkpoints.retention", "write `expireAfterDays: 14`"),
    (good(workloads={"checkpoints": {"name": "mldevckpt", "expireAfterHours": 36}}), "workloads.checkpoints.expireAfterHours", "write `expireAfterDays` in its place; its value: write a whole number of days"),
    (good(workloads={"checkpoints": {"name": "mldevckpt", "expireAfterDays": "720h"}}), "workloads.checkpoints.expireAfterDays", "write 30, in days"),
    (with_pool(osDisk={"sizeGb": "1TB"}), "pools[1].osDisk.sizeGb", "write 1024, in GB"),
    (azure(autoscaler={"scaleDownUnneededTimeMinutes": 10}), "cloud.autoscaler.scaleDownUnneededTimeMinutes", 'write `scaleDownUnneededTime: "10m"` in its place'),
    (good(expander={"otherGroups": [{"priority": 1, "groups": ["x"]}]}), "expander.otherGroups[0].priority", "no multiple of ten"),
    (good(expander={"otherGroups": [{"priority": 50, "groups": ["x"]}]}), "expander.otherGroups[0].priority", "50 is a number of the program's own lines -> above 50"),
    (good(expander={"otherGroups": [{"priority": 5, "groups": ["(aks"]}]}), "expander.otherGroups[0].groups[0]", "for example"),
    (good(expander={"otherGroups": [{"priority": 5, "groups": ["a", r"t4\Z"]}]}), "expander.otherGroups[0].groups[1]", "for example"),
    (good(growth={"order": ["t4", "a100"]}), "growth.order[1]", "there is no pool 'a100' -> one of: general, t4, t4big, t4od"),
    (good(growth={"order": ["t4", "t4"]}), "growth.order[1]", "remove it"),
    ({**azure(autoscaler={"expander": "random"}), "expander": {"otherGroups": [{"priority": 5, "groups": ["x"]}]}}, "expander.otherGroups", "set that to priority"),
    (system(minNodes=5), "systemPool.minNodes", "raise maxNodes to 5, write 4 or less, or exchange the two: `minNodes: 4`, `maxNodes: 5`"),
    (system(zones=["1", "1"]), "systemPool.zones", "once"),
    (system(zones=["banana"]), "systemPool.zones[0]", 'write "1", "2" or "3"'),
    (system(osDisk={"type": "Ephemeral"}, machine="Standard_D2ds_v5"), "systemPool.osDisk.sizeGb", "at most 75"),
    (system(maxPods=29), "systemPool.maxPods", "30 or more"),
    (system(upgrade={}), "systemPool.upgrade.maxSurge", "leave out"),
    (system(upgrade={"maxSurge": 1}), "systemPool.upgrade.maxSurge", 'in quotes: "1"'),
    (system(subnet="elsewhere"), "systemPool.subnet", "cloud.network.subnets: {elsewhere:"),
    (good(pools="t4"), "pools", "{name: t4"),
    (good(pools=["t4"]), "pools[0]", "name, machine"),
    (extra_pool(name="thirteenchars"), "pools[3].name", "at most 12"),
    (extra_pool(name="system"), "pools[3].name", "another name"),
    (extra_pool(machine="Standard_B4ms", capacity="spot"), "pools[3].capacity", "capacity: on-demand"),
    (azure(registry={"id": "mlimages.azurecr.io"}), "cloud.registry.id", "/subscriptions/"),
    (extra_pool(machine="Standard_Unheard_v9"), "pools[3].machine", "0 for none"),
    (with_pool(machine="NC4as_T4_v3", gpus=1), "pools[1].machine", "'NC4as_T4_v3' is not a machine of AKS -> did you mean Standard_NC4as_T4_v3"),
    (with_pool(machine="standard_nc4asT4_v3"), "pools[1].machine", "write Standard_NC4as_T4_v3"),
    (with_pool(machine="Standard_NC4as_T4_v3 "), "pools[1].machine", "write 'Standard_NC4as_T4_v3'"),
    (with_pool(machine="p3.2xlarge", gpus=1), "pools[1].machine", "'p3.2xlarge' is a machine of AWS with nvidia-v100 -> use Standard_NC4as_T4_v3, with nvidia-t4"),
    (with_pool(machine="g4dn.xlarge"), "pools[1].machine", "use Standard_NC4as_T4_v3, with nvidia-t4"),
    (system(machine="Standard_D4pds_v5"), "systemPool.machine", "'Standard_D4pds_v5' is an Arm machine -> use Standard_D4ds_v5"),
    (gke_system(machine="t2a-standard-4"), "systemPool.machine", "'t2a-standard-4' is an Arm machine -> use e2-standard-4"),
    (gke_pool(L4, machine="g6.xlarge"), "pools[0].machine", "use g2-standard-4, with nvidia-l4"),
    (gke_pool(L4, machine="g2-standard-10"), "pools[0].machine", "one of: g2-standard-4, g2-standard-8"),
    (extra_pool(maxNodes="8"), "pools[3].maxNodes", "is '8', in quotes -> write 8, without quotes"),
    (good(cluster={"name": "ml-x", "protect": "yes"}), "cluster.protect", "write true, without quotes"),
    (with_pool(spot=True), "pools[1].spot", "write `capacity: spot` in place of `spot`"),
    (with_pool(fallback="on-demand"), "pools[1].fallback", "`[{onDemand: {maxNodes: 2}}]`"),
    (azure(access={"authorizedRanges": ["20.61.10.1"]}), "cloud.access.authorizedRanges[0]", "20.61.10.1/32"),
    (extra_pool(machine="Standard_Unheard_v9", gpus=0, gpuModel="nvidia-l40s"), "pools[3].gpuModel", "write the GPUs"),
    (extra_pool(gpuModel="nvidia-t4"), "pools[3].gpuModel", "leave it out"),
    (extra_pool(maxNodes=0), "pools[3].maxNodes", "1 or more"),
    (extra_pool(spot={}), "pools[3].spot", "is set on an on-demand pool -> capacity: spot"),
    (extra_pool(fallback=[{"pool": "t4"}]), "pools[3].fallback", "remove it"),
    (extra_pool(generation="a"), "pools[3].generation", "b first"),
    (extra_pool(subnet="/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/n/subnets/gpu"), "pools[3].subnet", "write the name of the subnet"),
    (with_pool(spot={"maxPrice": -2}), "pools[1].spot.maxPrice", "five decimals"),
    (with_pool(spot={"maxPrice": 0.123456}), "pools[1].spot.maxPrice", "five decimals"),
    (with_pool(spot={"maxPrice": float("inf")}), "pools[1].spot.maxPrice", "a finite number"),
    (with_pool(spot={"evictionPolicy": "delete"}), "pools[1].spot.evictionPolicy", "did you mean Delete? one of: Delete, Deallocate"),
    (with_pool(fallback=[{}]), "pools[1].fallback[0]", "onDemand: {maxNodes"),
    (with_pool(fallback=[{"pool": "t4"}]), "pools[1].fallback[0].pool", "another spot pool"),
    (with_pool(fallback=[{"pool": "a100"}]), "pools[1].fallback[0].pool", "there is no pool 'a100' -> t4big"),
    (with_pool(fallback=[{"pool": "t4big"}, {"pool": "t4big"}]), "pools[1].fallback[1].pool", "remove it"),
    (with_pool(fallback=[{"onDemand": {"maxNodes": 0}}]), "pools[1].fallback[0].onDemand.maxNodes", "1 or more"),
    (with_pool(fallback={"onDemand": {"maxNodes": 1}}), "pools[1].fallback", "write `- onDemand: {maxNodes: 1}`"),
    (with_pool(labels={"kubernetes.azure.com/mode": "user"}), 'pools[1].labels["kubernetes.azure.com/mode"]', "your own"),
    (with_pool(labels={"agentpool": "t4"}), 'pools[1].labels["agentpool"]', "your own"),
    (with_pool(labels={"kubeflow-spot.dev/pool": "x"}), 'pools[1].labels["kubeflow-spot.dev/pool"]', "remove"),
    (with_pool(labels={"gpu": "a b"}), "pools[1].labels.gpu", "at most 63"),
    (with_pool(labels={"a b": "c"}), 'pools[1].labels["a b"]', "example.com/team"),
    (with_pool(taints=[{"key": "team"}]), "pools[1].taints[0].value", "add `value: vision`"),
    (with_pool(taints=["team=a:NoSchedule"]), "pools[1].taints[0]", "key, value, effect"),
    (with_pool(taints=[{"key": "team", "value": "a", "effect": "NO_SCHEDULE"}]), "pools[1].taints[0].effect", "did you mean NoSchedule?"),
    (with_pool(machine="g2-standard-8"), "pools[1].machine", "'g2-standard-8' is a machine of GKE, not of AKS -> use Standard_NV36ads_A10_v5, with nvidia-a10"),
    (with_pool(machine="a2-highgpu-8g"), "pools[1].machine", "'a2-highgpu-8g' is a machine of GKE, not of AKS -> use Standard_ND96asr_v4, with nvidia-a100"),
    (gke_pool({**L4, "machine": "g4dn.xlarge"}), "pools[0].machine", "'g4dn.xlarge' is a machine of AWS with nvidia-t4 -> use n1-standard-4 with `gpus: 1` and `gpuModel: nvidia-tesla-t4`; or use g2-standard-4"),
    (gke_cluster(tags={"owner": "TODO"}), "cluster.tags.owner", "is 'TODO', not a valid value of a Google label -> fill it in"),
    (with_pool(taints=[{"key": "kubernetes.azure.com/scalesetpriority", "value": "low"}]), "pools[1].taints[0]", "remove"),
    (good(overrides={"pin": "kubernetesVersion"}), "overrides", "[{pin: kubernetesVersion"),
    ({**azure(upgrades={"channel": "patch"}), "overrides": [{"pin": "kubernetesVersion", "value": "1.36.2", "reason": "a fix of kubelet"}]}, "overrides[0].value", 'write "1.36"'),
    (with_pool(machine="Standard_NC24ads_A100_v4", mig="1g.10gb", fallback=[]), "pools[1].mig", "did you mean 1g?"),
    # On GKE.
    (gke_cluster(name="a" * 41), "cluster.name", "at most 40"),
    (gke_cluster(name="1ml"), "cluster.name", "a letter first"),
    (gke_cluster(name="ml-"), "cluster.name", "no - at the end"),
    (gke_cluster(tags={f"t{n}": "" for n in range(65)}), "cluster.tags", "at most 64"),
    (gke_cluster(tags={"a" * 64: ""}), f"cluster.tags.{'a' * 64}", "at most 63"),
    (gke_cluster(tags={"a.b": ""}), 'cluster.tags["a.b"]', "_ and -"),
    (gke_cluster(tags={"a": "b" * 64}), "cluster.tags.a", "at most 63"),
    ({**on_gke(), "systemPool": None}, "systemPool", "write keys: name, machine"),
    (edited(on_gke(), {}, ["systemPool"]), "systemPool", "e2-standard-4"),
    (on_gke() | {"pools": "l4"}, "pools", "g2-standard-8"),
    (on_gke(project="My Project"), "cloud.project", "not its number"),
    (on_gke(zones=["europe-west4"]), "cloud.zones[0]", "europe-west4-a"),
    (on_gke(network={"podCidr": "10.16.0.0/33"}), "cloud.network.podCidr", "10.8.0.0/20"),
    (on_gke(network={"privateNodes": False, "controlPlaneCidr": "172.16.0.0/28"}), "cloud.network.controlPlaneCidr", "remove one"),
    (on_gke(network={"existing": NETWORK, "outboundType": "cloudNat"}), "cloud.network.outboundType", "decides this"),
    (on_gke(network={"existing": {**NETWORK, "serviceRange": "p"}}), "cloud.network.existing.serviceRange", "another range"),
    (on_gke(access={"authorizedRanges": [f"10.0.{n}.0/24" for n in range(101)]}), "cloud.access.authorizedRanges", "at most 100"),
    (on_gke(access={"authorizedRanges": ["10.0.0.0/24", "10.0.0.0/24"]}), "cloud.access.authorizedRanges[1]", "remove one"),
    (on_gke(access={"securityGroup": "ml@example.com"}), "cloud.access.securityGroup", "gke-security-groups"),
    (on_gke(encryption={"secretsKey": "k"}), "cloud.encryption.secretsKey", "keyRings"),
    (on_gke(maintenance={"startTime": "2:00"}), "cloud.maintenance.startTime", "02:00"),
    (gke_system(subnet="x"), "systemPool.subnet", "nodeSubnet"),
    (gke_system(upgrade={"maxUnavailable": "10%"}), "systemPool.upgrade.maxUnavailable", '"1"'),
    (gke_system(upgrade={}), "systemPool.upgrade", "leaves no way to exchange a node: maxSurge and maxUnavailable are both 0 -> leave it out"),
    (gke_pool(L4, name="L4"), "pools[0].name", "lower-case"),
    (gke_pool(L4, machine="Standard_D8ds_v5", gpus=0, mig="1g", gpuSharing={"strategy": "mps", "replicas": 2}), "pools[0].machine", "of GKE"),
    (gke_pool(L4, machine="x9-unheard-8", gpus=1), "pools[0].gpuModel", "add `gpuModel`"),
    (gke_pool(L4, machine="a4x-highgpu-4g"), "pools[0].capacity", "use another size"),
    (gke_pool(L4, machine="a4x-highgpu-4g", capacity="on-demand"), "pools[0].capacity", "use another size"),
    (wide(maxNodes=3001), "pools[0].maxNodes", "1000 nodes a zone, and the pool has 3"),
    (wide(maxNodes=1001, zones=["europe-west4-a"]), "pools[0].maxNodes", "1000 nodes a zone, and the pool has 1"),
    (wide(fallback=[{"onDemand": {"maxNodes": 3001}}]), "pools[0].fallback[0].onDemand.maxNodes", "at most 1000"),
    (gke_pool(N1, gpuModel="nvidia-t4"), "pools[0].gpus", "is missing -> 1, 2 or 4"),
    (gke_pool(N1, gpus=0, gpuModel="nvidia-t4"), "pools[0].gpus", "1, 2 or 4"),
    (gke_pool(N1, machine="n1-standard-64", gpus=2, gpuModel="nvidia-v100"), "pools[0].gpus", "is 2, but n1-standard-64 takes 8 nvidia-v100 -> write 8"),
    (gke_pool(N1, gpuModel="nvidia-k80"), "pools[0].gpuModel", "g2-standard-8"),
    (gke_pool(L4, gpuModel="nvidia-k80"), "pools[0].gpuModel", "g2-standard-8"),
    (gke_pool(L4, machine="e2-standard-4", gcp={"driverVersion": "default"}), "pools[0].gcp.driverVersion", "remove it"),
    (gke_pool(L4, gcp={"properties": {"autoscaling": {"maxNodeCount": 8}}}), "pools[0].gcp.properties.autoscaling.maxNodeCount", "is set by the program: the pool's `maxNodes` counts -> remove it"),
    (gke_pool(L4, fallback=[{"onDemand": {"maxNodes": 3}}], upgrade={"maxSurge": "33%"}), "pools[0].upgrade.maxSurge", "counts for `onDemand` alone"),
    (gke_pool(L4, upgrade={"maxSurge": "33%"}), "pools[0].upgrade.maxSurge", "remove `upgrade`: GKE ends spot nodes without a surge"),
    (gke_pool(N1, gpus=1, gpuModel="T4"), "pools[0].gpuModel", "is T4, and Google calls it nvidia-tesla-t4 -> write `gpuModel: nvidia-tesla-t4`"),
    (gke_pool(L4, labels={"cloud.google.com/gke-spot": "true", "cloud.google.com/gke-accelerator": "nvidia-l4"}), 'pools[0].labels["cloud.google.com/gke-accelerator"]', "selectors of pods find them; a label of yours has your own domain; cloud.google.com/gke-spot may stay"),
    (with_pool(taints=["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]), "pools[1].taints[0]", "is 'kubernetes.azure.com/scalesetpriority=spot:NoSchedule', a taint that the program sets itself -> remove it"),
    (with_pool(gpuSharing={"strategy": "mps", "replicas": 0.25}), "pools[1].gpuSharing.replicas", "pods at a time on one GPU or MIG instance: write 4"),
    (with_pool(gpuSharing={"strategy": "mps", "replicas": 1}), "pools[1].gpuSharing.replicas", "pods at a time on one GPU or MIG instance: 2 or more"),
    (azure(upgrades={"channel": "patch", "clusterWindow": {"day": "Sunday", "startTime": "24:00"}}), "cloud.upgrades.clusterWindow.startTime", 'write "00:00", at which the day begins'),
    (good(release="v1.10.1"), "release", "there is no release 'v1.10.1': releases are this program's, not Kubeflow's or Kubernetes' -> write r2026-11 (Kubernetes 1.36)"),
    (good(overrides={"devicePlugin": {"image": {"tag": "v0.18.0"}}, "kubernetesVersion": 1.35}), "overrides", "pin is one of: kubernetesVersion, devicePluginImage"),
    (gke_pool(L4, gcp={"minNodesPerZone": 1}), "pools[0].gcp.minNodesPerZone", "is set beside maxNodes -> keep minNodes"),
    (wide(maxNodes=None, gcp={"maxNodesPerZone": 1001}), "pools[0].gcp.maxNodesPerZone", "at most 1000"),
    (wide(maxNodes=None, gcp={"maxNodesPerZone": None}), "pools[0].maxNodes", "`maxNodes: 4`"),
    (wide(maxNodes=None, gcp={"minNodesPerZone": 1, "maxNodesPerZone": None}), "pools[0].gcp.maxNodesPerZone", "is missing -> add `maxNodesPerZone`"),
    (wide(maxNodes="many", gcp={"maxNodesPerZone": None}), "pools[0].maxNodes", "whole number"),
    (gke_pool(L4, gcp={"shutdownGraceSeconds": 20}), "pools[0].gcp.shutdownGraceSeconds", "30 or more"),
    (gke_pool(L4, labels={"cloud.google.com/gke-spot": "false"}), 'pools[0].labels["cloud.google.com/gke-spot"]', "GKE keeps this key for itself -> your own"),
    (gke_pool(L4, labels={"gke-no-default-nvidia-gpu-device-plugin": "true"}), 'pools[0].labels["gke-no-default-nvidia-gpu-device-plugin"]', "your own"),
    (gke_pool(L4, taints=[{"key": "cloud.google.com/gke-preemptible", "value": "true"}]), "pools[0].taints[0]", "remove it"),
    (gke_pool(FLEX, taints=[{"key": "cloud.google.com/gke-spot", "value": "true"}]), "pools[0].taints[0]", "remove it"),
    (gke_pool(FLEX, gcp={"maxRunDuration": "9m"}), "pools[0].gcp.maxRunDuration", "10m to 168h"),
    (gke_pool(FLEX, gcp={"maxRunDuration": "7d"}), "pools[0].gcp.maxRunDuration", 'write "168h"'),
    (on_gke([FLEX], releaseChannel="EXTENDED") | {"cluster": OLD}, "pools[0].capacity", "another release"),
    (gke_pool(RESERVED, reservation="L4"), "pools[0].reservation", "is 'L4', which names no reservation -> projects/PROJECT/reservations/NAME"),
    (gke_system(reservation="l4"), "systemPool.reservation", "always bought on demand"),
]  # fmt: skip
"""A stack file, the path of its one error, and words of its remedy, perhaps after the beginning of the message and `->`."""


@pytest.mark.parametrize(("raw", "path", "words"), MISTAKES, ids=[f"{m[1]}-{i}" for i, m in enumerate(MISTAKES)])
def test_one_mistake_gives_one_problem_with_its_path_and_remedy(raw: dict[str, Any], path: str, words: str) -> None:
    what, _, remedy = words.rpartition(" -> ")
    (problem,) = errors(raw)
    assert problem.path == path
    assert problem.what.startswith(what)
    assert remedy in problem.remedy


SPOT_LABEL = {"kubernetes.azure.com/scalesetpriority": "spot"}
NODES = {"maxNodes": 1001}
UNREADABLE = {"nodeSubnet": 7, "subnets": {"gpu": "10.9.0.0/24"}, "policy": "cilium", "outboundType": "direct"}
IN_PART = {"private": "perhaps", "adminGroups": ["ml"], "authorizedRanges": ["10.0.0.0/8"]}
UNKNOWN = {
    "name": "own",
    "machine": "Standard_NC4as_T9_v9",
    "maxNodes": 2,
    "taints": [{"key": "nvidia.com/gpu", "value": "present"}],
}
TAINTS = [{"key": "team"}, {"key": "nvidia.com/gpu", "value": "true"}]
LEANING = {"minNodes": 3, "fallback": [{"onDemand": {"maxNodes": 1}}]}

SEVERAL: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no mistake": (good(), []),
    "pools larger than AKS allows": (
        edited(azure(network={"podCidr": "100.64.0.0/10"}), {"pools[1].fallback": [{"onDemand": NODES}], "pools[1].maxNodes": 1001, "systemPool.maxNodes": 1001}),
        ["pools[1].fallback[0].onDemand.maxNodes", "pools[1].maxNodes", "systemPool.maxNodes"],
    ),
    "unreadable pools, of which no other looks wrong": (
        edited(system(criticalAddonsOnly=True), {"pools[0].maxNodes": 0, "pools[2].maxNodes": 0}),
        ["pools[0].maxNodes", "pools[2].maxNodes"],
    ),
    "two typos in one chain": (
        with_pool(fallback=[{"pool": "nosuch"}, {"pool": "t4big"}, {"pool": "nor this"}]),
        ["pools[1].fallback[0].pool", "pools[1].fallback[2].pool"],
    ),
    "a circle": (
        edited(good(), {"pools[1].fallback": [{"pool": "t4big"}], "pools[2].fallback": [{"pool": "t4"}]}),
        ["pools[2].fallback"],
    ),
    "the cloud's own spot label on a spot pool": (with_pool(labels=SPOT_LABEL), []),
    "the same on demand": (extra_pool(labels=SPOT_LABEL), ['pools[3].labels["kubernetes.azure.com/scalesetpriority"]']),
    "a pool without a required key": (
        edited(
            with_pool(machine="Standard_NC6s_v3", labels={"agentpool": "x"}, spot={"maxPrice": 0}, zones=["1", "1"]),
            {"pools[1].fallback": [{"pool": "nosuch"}, {"onDemand": {"maxNodes": 0}}]},
            ["pools[1].maxNodes"],
        ),
        [
            *("pools[1].fallback[0].pool", "pools[1].fallback[1].onDemand.maxNodes", 'pools[1].labels["agentpool"]'),
            *("pools[1].machine", "pools[1].maxNodes", "pools[1].spot.maxPrice", "pools[1].zones"),
        ],
    ),
    # Others lean on a field: they fall back to it, fit its machine, are bounded by it.
    "an unreadable capacity": (edited(with_pool(capacity="spott", minNodes=3, gpus=1, generation="b"), {"pools[2].fallback": LEANING["fallback"]}), ["pools[1].capacity"]),
    "an unreadable machine": (edited(with_pool(machine="", minNodes=3), {"pools[2].fallback": LEANING["fallback"]}), ["pools[1].machine"]),
    "an unreadable bound": (edited(with_pool(maxNodes=0, minNodes=3), {"pools[2].fallback": LEANING["fallback"]}), ["pools[1].maxNodes"]),
    "an unreadable name": (edited(with_pool(name=["t4"], minNodes=3), {"pools[2].fallback": [{"pool": "t5"}]}), ["pools[1].name"]),
    "a bad entry of a map": (with_pool(labels={"gpu": True, "agentpool": "x"}), ["pools[1].labels.gpu", 'pools[1].labels["agentpool"]']),
    "a bad entry of a list": (with_pool(taints=TAINTS), ["pools[1].taints[0].value", "pools[1].taints[1]"]),
    "bad parts of the cloud": (
        good(cloud={"provider": "azure", "network": UNREADABLE, "access": IN_PART}),
        [
            *("cloud.access.adminGroups[0]", "cloud.access.authorizedRanges[0]", "cloud.access.private", "cloud.location"),
            *("cloud.network.nodeSubnet", "cloud.network.outboundType", "cloud.network.policy", "cloud.network.subnets.gpu"),
        ],
    ),
    "a machine of which nothing is known": (good(pools=[GOOD["pools"][0], UNKNOWN]), ["pools[1].machine"]),
    "the same without GPUs": (good(pools=[GOOD["pools"][0], {**UNKNOWN, "gpus": 0}]), ["pools[1].taints[0]"]),
    # In a list of many kinds of fields, `true` would be 1: also where one of several forms is a number.
    "true for a number": (
        edited(
            with_pool(minNodes=True, gpus=True, gpuSharing={"strategy": "mps", "replicas": True}, osDisk={"sizeGb": True}),
            {"cloud.autoscaler": {"scaleDownUtilizationThreshold": True, "okTotalUnreadyCount": False}, "systemPool.maxNodes": True},
        ),
        [
            *("cloud.autoscaler.okTotalUnreadyCount", "cloud.autoscaler.scaleDownUtilizationThreshold", "pools[1].gpuSharing.replicas"),
            *("pools[1].gpus", "pools[1].minNodes", "pools[1].osDisk.sizeGb", "systemPool.maxNodes"),
        ],
    ),
    # Checked by the rules of its machines' cloud.
    "no cloud, machines of AKS": (edited(good(), {}, ["cloud"]), ["cloud"]),
    "no cloud, machines of GKE": (edited(on_gke([L4, N1]), {}, ["cloud"]), ["cloud"]),
    "the cloud of others": (good(cloud=on_gke()["cloud"]), [*(f"pools[{n}].machine" for n in range(3)), "systemPool.machine"]),
    "the cloud of others, on GKE": (on_gke([L4]) | {"cloud": GOOD["cloud"]}, ["pools[0].machine", "pools[1].machine", "systemPool.machine"]),
    "a version of more than three years ago": (good(cluster={**OLD, "name": "ml-test", "kubernetesVersion": "1.21"}), ["cluster.kubernetesVersion"]),
    "the same on GKE": (gke_cluster(**{**OLD, "name": "ml-test", "kubernetesVersion": "1.21"}), ["cluster.kubernetesVersion"]),
}  # fmt: skip


@pytest.mark.parametrize(("raw", "paths"), SEVERAL.values(), ids=SEVERAL)
def test_no_mistake_hides_another_or_makes_others_look_wrong(raw: dict[str, Any], paths: list[str]) -> None:
    assert [problem.path for problem in errors(raw)] == paths


def test_the_report_counts_and_lists_every_error_but_no_warning() -> None:
    text = report([Problem("a", "is wrong", "do b"), Problem("c", "is odd", "see d", warning=True)])
    assert text.startswith("1 problem in the stack's settings")
    assert "a: is wrong\n    do b" in text
    assert "is odd" not in text


def test_expressions_are_those_of_re2_and_not_of_python() -> None:
    known = [r"^aks-\pL+-", "[[:digit:]]", "(?P<pool>t4)", r"vmss\z", "(?i)T4"]
    assert loader.read_stack(good(expander={"otherGroups": [{"priority": 5, "groups": known}]}))[1] == []
    (problem,) = errors(good(expander={"otherGroups": [{"priority": 5, "groups": [*known, "^aks-(?!t4)"]}]}))
    assert "'^aks-(?!t4)' is not a regular expression of RE2 (invalid perl operator: (?!)" in problem.what


@pytest.mark.parametrize("path", ["$HOME/.kube/config", "${HOME}/.kube/config", "$(pwd)/config"])
def test_a_variable_in_a_path_leads_to_the_tilde_and_a_line_end_goes(path: str) -> None:
    (problem,) = errors(on_existing(file=path))
    assert problem.path == "cloud.kubeconfig.file"
    assert "`~` is replaced, $HOME is not" in problem.remedy
    assert spec(on_existing(file="~/.kube/config\n")).cloud.kubeconfig.file == "~/.kube/config"  # type: ignore[union-attr]


SUCCESSORS = {
    "Standard_NC6s_v3": "use Standard_NC40ads_H100_v5; Standard_NC8as_T4_v3 has as many GPUs",
    "Standard_NC24s_v3": "use Standard_NC80adis_H100_v5; Standard_NC64as_T4_v3 has as many GPUs",
}


@pytest.mark.parametrize("size", SUCCESSORS)
def test_a_retired_machine_has_cheaper_successors_too(size: str) -> None:
    (problem,) = [problem for problem in errors(with_pool(machine=size)) if problem.path == "pools[1].machine"]
    assert problem.remedy.startswith(SUCCESSORS[size])


@pytest.mark.parametrize(("twins", "what"), [(9, []), (10, ["makes 101 node pools with the system pool and 10 twins"])])
def test_the_system_pool_and_twins_count_as_pools(twins: int, what: list[str]) -> None:
    twin = {"capacity": "spot", "fallback": [{"onDemand": {"maxNodes": 1}}]}
    pools = [
        {"name": f"p{n}", "machine": "Standard_D8ds_v5", "maxNodes": 1, **(twin if n < twins else {})}
        for n in range(90)
    ]
    assert [(problem.path, problem.what) for problem in errors(good(pools=pools))] == [("pools", each) for each in what]


def test_a_retiring_gpu_is_not_reported_where_the_machine_cannot_have_it() -> None:
    (problem,) = loader.read_stack(gke_pool(L4, gpuModel="nvidia-tesla-t4"))[1]
    assert problem.what == "is 'nvidia-tesla-t4', but g2-standard-8 has nvidia-l4"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("zones", ["europe-west4-a"]), ("location", "europe-west4"), ("releaseChannel", "RAPID")),
        *((key, {}) for key in ("network", "access", "logging", "monitoring", "autoscaler")),
        ("maintenance", {"startTime": "02:00"}),
    ],
)
def test_a_decision_of_an_existing_clusters_owner_is_no_setting(key: str, value: Any) -> None:
    existing = {"location": "europe-west4", "name": "shared"}
    cloud = {"provider": "gcp", "project": "example-ml", "existingCluster": existing, key: value}
    (problem,) = errors({"release": "r2026-11", "cloud": cloud, "pools": [L4]})
    assert (problem.path, problem.what[:6]) == (f"cloud.{key}", "is set")


def test_a_pool_with_the_name_of_another_gets_the_one_that_a_chain_misses() -> None:
    big = {"name": "t4", "machine": "Standard_NC16as_T4_v3", "capacity": "spot", "maxNodes": 2}
    first = {**big, "machine": "Standard_NC4as_T4_v3"}
    for step, said in (({"pool": "t4big"}, "such as t4big"), ({"onDemand": {"maxNodes": 2}}, "such as t4b")):
        found = errors(good(pools=[{**first, "fallback": [step]}, big]))
        assert any(said in each.remedy for each in found if each.path == "pools[1].name"), found
    dashed = errors(good(pools=[{**first, "name": "t4-spot"}, {**big, "name": "t4-spot"}]))
    assert any("such as t4spotb" in each.remedy for each in dashed), dashed


def test_what_stands_beside_a_switch_of_another_tool_is_read_at_its_place() -> None:
    group = "0b7f2a8e-91c4-4d0e-a3c3-6c1d2f5b9a77"
    found = errors(
        azure(access={"azureRbac": {"enabled": True, "adminGroupObjectIds": [group]}, "localAccounts": False})
    )
    assert [(each.path, each.remedy) for each in found] == [
        ("cloud.access.azureRbac", "write `azureRbac: true`"),
        ("cloud.access.azureRbac.adminGroupObjectIds", f'write `adminGroups: ["{group}"]` in its place'),
    ]


def test_gpus_are_counted_for_the_model_that_was_meant() -> None:
    found = errors(gke_pool(N1, gpus=3, gpuModel="T4"))
    assert [(each.path, each.remedy) for each in found] == [
        ("pools[0].gpuModel", "write `gpuModel: nvidia-tesla-t4`"),
        ("pools[0].gpus", "write 1, 2 or 4"),
    ]


def test_a_surge_is_asked_for_in_whole_nodes_where_no_spot_is_bought() -> None:
    (found,) = errors(gke_pool({**L4, "capacity": "on-demand"}, upgrade={"maxSurge": "33%"}))
    assert found.remedy == 'write for example "1"'
