"""A stack whose pager rings: the sandbox, work on it, and what somebody on call types."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandbox.tests.stack import Stack, eventually
from tests.docs import reader
from tests.docs.runbooks import Runbook, runbooks

MACHINE = "Standard_NC4as_T4_v3"
IDLE = {"system": 2, "general": 1}
"""The nodes of each pool without work."""
TEAM = "team-a"
T4 = {"kubeflow-spot.dev/pool": "t4"}

Test = Callable[["OnCall"], None]

EVICTED = {"rules": [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}
"""The policy of a Job that counts no evicted pod as a failure, as in examples/jobs/train-job.yaml."""

MADE: dict[tuple[str, str], bool] = {}
"""The states that tests make, by alert and a sign of the row; true for the one whose answers the page shows."""

NOT_MADE = {
    ("SpotGone", "quota"): "made as GpuPodWaitsNoCapacity",
    ("SpotGone", "timeout"): "a machine has ten minutes to come, which nothing shortens",
    ("GpuBudgetExceeded", "spot"): "the same cures",
    ("GpuPodWaitsNoCapacity", "Backoff"): "made as SpotGone",
    ("GpuPodWaitsNoCapacity", ""): "pending-pod.md has the cures",
    ("DevicePluginMissing", "nvidia-smi"): "the sandbox runs no containers",
    ("GpuNodeIdle", ""): "idle-gpu-nodes.md has the cure",
    ("SpotNodesLost", "Upgrade"): "an upgrade of the sandbox replaces no nodes",
    ("GrowthOrderChanged", "manager: pulumi"): "nothing to cure",
}
"""Rows whose state no test makes, and why."""


def state(alert: str, sign: str = "", *, shown: bool = False) -> Callable[[Test], Test]:
    """Say for which row of which runbook a test makes the state; `shown`: its answers are those of the page."""

    def mark(test: Test) -> Test:
        MADE[alert, sign] = shown
        return test

    return mark


@dataclass
class OnCall:
    """The stack dev and its reader: `ring.job("train", 2)`, `ring.types(command, POD="mysql")`."""

    stack: Stack
    programs: Path

    def types(self, command: str, **names: str) -> str:
        """Run a command with these names in place of the page's; return all that it prints, whether or not it fails."""
        for placeholder, name in {"STACK": self.stack.name, **names}.items():
            command = re.sub(rf"(?<![\w$]){placeholder}(?!\w)", name, command)
        assert (left := re.search(r"\b(?:POD|NODE|NAMESPACE|JOB|KEY)\b", command)) is None, left
        done = reader.bash(self.stack, self.programs, command)
        return f"{done.stdout}\n{done.stderr}"

    def create(self, body: dict[str, Any]) -> bool:
        """Create an object; return whether the API server takes it."""
        path = self.stack.project.parent / "work.json"
        path.write_text(json.dumps(body))
        return f"{body['metadata']['name']} created" in self.types(f"kubectl create -f {path}")

    def job(self, count: int, gpus: int = 1, **spec: Any) -> None:
        """Create a Job of a team with so many pods at once, which run until they are ended."""
        resources = {"limits": {"nvidia.com/gpu": gpus}}
        container = {"name": "train", "image": "example.com/train:1", "resources": resources}
        template = {
            "metadata": {"annotations": {"kubeflow-spot.dev/run-for": "24h"}},
            "spec": {"restartPolicy": "Never", "containers": [container], **spec},
        }
        body = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "train", "namespace": TEAM},
            "spec": {"parallelism": count, "completions": count, "podFailurePolicy": EVICTED, "template": template},
        }
        assert self.create(body)

    def on_spot(self, count: int) -> None:
        """Create the Job on the spot pool alone, and wait until it runs: after a refusal the twin may grow before it."""
        self.job(count, nodeSelector=T4)
        self.settles({**IDLE, "t4": count})

    def gives_spot_again(self) -> None:
        """Let the cloud have spot machines, and wait until the autoscaler has asked for one."""
        self.stack.run("capacity", MACHINE, "any")
        assert self.pod("default", "first", tolerations=[{"operator": "Exists"}])
        self.node("t4")

    def pod(self, namespace: str, name: str, annotations: dict[str, str] | None = None, **spec: Any) -> bool:
        """Create a pod for a spot node; return whether the API server takes it."""
        container = {"name": "main", "image": "example.com/main:1", "resources": {"requests": {"cpu": "100m"}}}
        metadata = {"name": name, "namespace": namespace, "annotations": annotations or {}}
        spec = {"nodeSelector": T4, "containers": [container], **spec}
        return self.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})

    def edit(self, pool: dict[str, Any] | None = None, twin: int | None = None, **changes: Any) -> None:
        """Change the spot pool in the stack file, or its twin's bound; add `pool` as the chain's step before the twin."""
        config = self.stack.config
        spot = config["pools"][1]
        spot.update(changes)
        if twin is not None:
            spot["fallback"][-1]["onDemand"]["maxNodes"] = twin
        if pool:
            spot["fallback"].insert(0, {"pool": pool["name"]})
            config["pools"].append(pool)
        self.stack.write(config)

    def nodes(self, pool: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.stack.get("nodes", "-l", f"kubeflow-spot.dev/pool={pool}")["items"]
        return found

    def node(self, pool: str) -> str:
        """Return the first node of a pool, after waiting for one."""
        found = eventually(lambda: self.nodes(pool), f"a node of {pool}")
        return str(found[0]["metadata"]["name"])

    def sizes(self) -> Counter[str]:
        return Counter(
            node["metadata"]["labels"]["kubeflow-spot.dev/pool"] for node in self.stack.get("nodes")["items"]
        )

    def placed(self) -> Counter[str]:
        """Return the number of the team's running pods by pool, those that wait under ""."""
        pool_of = {
            node["metadata"]["name"]: node["metadata"]["labels"]["kubeflow-spot.dev/pool"]
            for node in self.stack.get("nodes")["items"]
        }
        pods = [
            pod for pod in self.stack.get("pods", "-n", TEAM)["items"] if not pod["metadata"].get("deletionTimestamp")
        ]
        living = [pod for pod in pods if pod["status"].get("phase") in ("Pending", "Running")]
        return Counter(pool_of.get(pod["spec"].get("nodeName", ""), "") for pod in living)

    def waits(self) -> str:
        """Return a pod of the team that the scheduler found no node for, after waiting for one."""

        def waiting() -> list[str]:
            return [
                pod["metadata"]["name"]
                for pod in self.stack.get("pods", "-n", TEAM)["items"]
                if any(each.get("reason") == "Unschedulable" for each in pod["status"].get("conditions", []))
            ]

        return str(eventually(waiting, "a pod waits")[0])

    def settles_at(self, pools: dict[str, int], waiting: int) -> None:
        """Wait until so many pods of the team run on these pools and so many wait."""
        eventually(lambda: self.placed() == {**pools, "": waiting}, f"pods {pools}, {waiting} wait", 120, 0.3)

    def settles(self, sizes: dict[str, int]) -> None:
        """Wait until the pools have these nodes and no pod of the team waits."""
        eventually(lambda: self.sizes() == sizes and not self.placed()[""], f"nodes {sizes}", 120, 0.3)

    def quotas(self, quotas: dict[str, Any]) -> None:
        """Give the subscription these quotas in its region; {} for enough."""
        file = self.stack.project.parent / "quotas.yaml"
        file.write_text(json.dumps({"quotas": {"westeurope": quotas} if quotas else {}}))
        self.stack.run("up", "--cloud", str(file))

    def silence(self, node: str, ready: str, reason: str, message: str) -> None:
        """Let a node's kubelet fall silent: another holder of its lease keeps kwok off the node."""
        lease = {"spec": {"holderIdentity": "nobody", "leaseDurationSeconds": 3600}}
        condition = {"type": "Ready", "status": ready, "reason": reason, "message": message}
        status = {"status": {"conditions": [condition]}}
        kubectl = self.stack.kubectl
        kubectl("patch", "lease", node, "-n", "kube-node-lease", "--type=merge", "-p", json.dumps(lease))
        kubectl("patch", "node", node, "--subresource=status", "--type=strategic", "-p", json.dumps(status))

    def answers_again(self, node: str) -> None:
        """Let the kubelet of a deleted node answer: the sandbox makes the nodes of its machines anew."""
        self.stack.kubectl("delete", "lease", node, "-n", "kube-node-lease", "--ignore-not-found")

    def reads(self, alert: str, sign: str = "", **names: str) -> Page:
        """Run a runbook's commands until they answer what the page shows and its row of `sign` is the first that fits."""
        book = runbooks()[alert]
        rows = [
            number for number, cause in enumerate(book.causes) if (sign in cause.signs if sign else not cause.signs)
        ]
        row = rows[0] if book.causes else None
        answer = ""

        def fits() -> bool:
            nonlocal answer
            answer = "\n".join(self.types(command, **names) for command in book.commands)
            return book.cause_of(answer) == row and not (MADE[alert, sign] and book.missing(answer))

        deadline = time.monotonic() + 60
        while not fits():
            said = f"row {book.cause_of(answer)}, not {row}; missing: {book.missing(answer)}"
            assert time.monotonic() < deadline, f"{alert}: {said}\n{answer}"
        return Page(self, book, row, names, answer)


@dataclass(frozen=True)
class Page:
    """A runbook open at one row, with the commands' answer: `page.runs("kubectl drain")`."""

    ring: OnCall
    book: Runbook
    row: int | None
    names: dict[str, str]
    answer: str

    @property
    def cure(self) -> str:
        return self.book.text if self.row is None else self.book.causes[self.row].text

    def says(self, words: str) -> None:
        """Assert that the page tells this to the reader, who does it by hand."""
        assert words in self.cure

    def runs(self, beginning: str, other: tuple[str, str] = ("", "")) -> str:
        """Run the page's command with this beginning, with `other[1]` in place of `other[0]`; return its answer."""
        (command,) = {each for each in self.book.cures(self.row) if each.startswith(beginning)}
        answer = self.ring.types(command.replace(*other), **self.names)
        print(answer)
        return answer
