"""Pools: labels and taints of nodes as the contract declares them, device plugins, and GPUs that
pods can ask for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.check import Check, Remark, note, ok, wrong
from checks.findings import State
from checks.ready.cluster import Cluster, Node, Pool
from components.layer.gpu import existing_plugins
from components.layer.gpu.existing_plugins import Plugin
from components.layer.gpu.matching import may_run
from config.placement.node_pools import GPU_TAINT

_MIG = "nvidia.com/mig-"


def _of(cluster: Cluster, pool: Pool) -> list[Node]:
    return [node for node in cluster.nodes if node.pool == pool.label]


def _pools(cluster: Cluster) -> Iterator[Remark]:
    declared = cluster.contract.pools
    compared, fine = 0, True
    for pool in declared:
        for node in _of(cluster, pool):
            compared += 1
            for remark in _differences(cluster, pool, node):
                fine = fine and remark.state != State.WRONG
                yield remark
    known = {pool.label for pool in declared}
    for node in cluster.nodes:
        # A node that lost the program's label is in no pool; its cloud or its GPUs give it away.
        if (
            not node.pool
            and node.allocatable.get(GPU_TAINT.key)
            and GPU_TAINT.key not in {t.key for t in node.taints}
        ):
            yield note(
                f"{node.name} has GPUs and neither the label of a pool nor a taint: any pod may"
                " land on it"
            )
    empty = sorted(known - {node.pool for node in cluster.nodes})
    if fine:
        rest = f"; without a node now: {', '.join(empty)}" if empty else ""
        yield ok(f"nodes of declared pools that have their labels and taints: {compared}{rest}")


def _differences(cluster: Cluster, pool: Pool, node: Node) -> Iterator[Remark]:
    missing = {key: value for key, value in pool.labels.items() if node.labels.get(key) != value}
    if missing:
        shown = ", ".join(f"{key}={value}" for key, value in sorted(missing.items()))
        yield wrong(
            f"{node.name} of pool {pool.label} lacks the label {shown}",
            "run `pulumi up`; nodes that joined before the label was declared must be replaced",
        )
    taints = cluster.lasting_taints(node)
    for taint in sorted(set(pool.taints) - taints, key=str):
        yield wrong(
            f"{node.name} of pool {pool.label} lacks the taint {taint}: pods that must not run"
            " there may",
            "run `pulumi up`; a taint that was removed by hand comes back with `kubectl taint"
            " node`",
        )
    for taint in sorted(taints - set(pool.taints), key=str):
        # A controller that this program does not know may have put it there for a while.
        yield note(
            f"{node.name} of pool {pool.label} has the taint {taint}, which no pool declares:"
            " pods that belong there stay away",
            "if it stays: remove it with `kubectl taint node`, or declare it under the pool's"
            " `taints`",
        )


def _plugins(cluster: Cluster) -> list[Plugin]:
    """Return all device plugins, also the program's own: no stack is called ''."""
    return existing_plugins.plugins(
        cluster.objects("daemonSets"), cluster.objects("gpuOperators"), ""
    )


def _device_plugin(cluster: Cluster) -> Iterator[Remark]:
    pools = [pool for pool in cluster.contract.pools if pool.gpus]
    if not pools:
        yield ok("no pool has GPUs")
        return
    plugins, fine = _plugins(cluster), True
    brought = cluster.cloud.plugin if cluster.cloud else ""
    for pool in pools:
        serving = [plugin for plugin in plugins if may_run(plugin.pod, pool.labels, pool.taints)]
        # The cloud may have one for each size and image of nodes, by labels that no pool declares;
        # a node gets one of them.
        several = len(serving) > 1 and not all(
            brought and plugin.name.startswith(brought) for plugin in serving
        )
        if several:
            fine = False
            yield wrong(
                f"two device plugins run on pool {pool.label}: {', '.join(map(str, serving))};"
                " the kubelet keeps the last one",
                "remove one, or set `devicePlugin.install: never`",
            )
        elif not serving and (plugins or not brought):
            fine = False
            yield wrong(
                f"no device plugin runs on pool {pool.label}{_why(plugins, pool)}",
                "set `devicePlugin.install: auto` and run `pulumi up`",
            )
    if fine:
        shown = (
            ", ".join(sorted({str(plugin) for plugin in plugins}))
            or f"{brought}, which the cloud brings"
        )
        yield ok(f"{len(pools)} pools with GPUs: {shown}")


def _why(plugins: Sequence[Plugin], pool: Pool) -> str:
    """Return why no plugin reaches the pool."""
    for plugin in plugins:
        if may_run(plugin.pod, pool.labels, ()):
            return f": {plugin} does not tolerate its taints"
    return f": {', '.join(map(str, plugins))} select other nodes" if plugins else ""


def _gpus(cluster: Cluster) -> Iterator[Remark]:
    pools = [pool for pool in cluster.contract.pools if pool.gpus]
    total, seen, fine = 0, 0, True
    for pool in pools:
        for node in _of(cluster, pool):
            if not node.ready:
                continue  # the check of nodes says so
            seen += 1
            allocatable = node.allocatable
            count = int(
                allocatable.get(GPU_TAINT.key, 0) + allocatable.get(f"{GPU_TAINT.key}.shared", 0)
            )
            slices = sum(int(amount) for key, amount in allocatable.items() if key.startswith(_MIG))
            total += count + slices
            if count < pool.gpus and not slices:
                fine = False
                if cluster.young(node):
                    yield note(
                        f"{node.name} of pool {pool.label} reports {count} of {pool.gpus} GPUs,"
                        " and joined a moment ago",
                        "ask again in some minutes: the driver and the device plugin come after"
                        " the node",
                    )
                    continue
                yield wrong(
                    f"{node.name} of pool {pool.label} reports {count} GPUs, and its machine has"
                    f" {pool.gpus}",
                    "see the logs of the device plugin's pod and whether the driver is on the"
                    " node (`nvidia-smi`)",
                )
    if not pools:
        yield ok("no pool has GPUs")
    elif not seen:
        yield note(
            "no GPU node is up now, so no GPU was seen",
            "run examples/workloads/training.yaml, and this command again",
        )
    elif fine:
        yield ok(f"{total} allocatable GPUs on {seen} nodes")


CHECKS = (
    Check("pools", _pools, "docs/placement.md"),
    Check("device-plugin", _device_plugin, "docs/workloads.md; Azure/AKS issue 4418"),
    Check("gpus", _gpus, "kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus"),
)
