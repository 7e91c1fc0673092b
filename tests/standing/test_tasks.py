"""The commands of docs/tasks, page by page as a reader runs them, on a stack that is up: the autoscaler and API server are real.

A page's parts of a stack file are in the file before its `pulumi up`.
"""

import re
import shlex
import shutil
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sandbox.tests.api import Api
from sandbox.tests.pods import notebook
from sandbox.tests.stack import PROJECT, Standing, eventually, until
from sandbox.tests.subjects import DEV, Subject
from tests.docs import reader, tasks
from tests.docs.pages import Block, blocks
from tests.examples import crds
from tests.standing.page_proofs import PROVEN, pod

pytestmark = [
    pytest.mark.engine,
    pytest.mark.parametrize("subject", [DEV], ids=["dev"], indirect=True, scope="session"),
]

RUN = [page for page in tasks.PAGES if any(tasks.runner(block) == tasks.RUNNER for block in blocks(page))]

SHOWN = {
    "https-and-domain": ["azure-load-balancer-internal", "dnsNames: [kubeflow.example.com]"],
    "login-with-sso": ["secret/dex-login created", "tenant: 0000", "tokens.yaml"],
    "serve-a-model": ["inferenceservice.serving.kserve.io/model created", "ALLOWED DISRUPTIONS", "model patched"],
    "share-gpus-between-teams": [
        "clusterqueue.kueue.x-k8s.io/team-b created",
        "localqueue.kueue.x-k8s.io/gpus created",
        "workloadpriorityclass.kueue.x-k8s.io/urgent created",
    ],
    "suspended-job": ["true ", "queue-name", "QuotaReserved=False LocalQueue gpus doesn't exist"],
    "add-pool": ["ml-dev-a100 create", "nvidia-a100-80gb"],
    "gpu-notebook": ["notebook.kubeflow.org/cheap patched", "annotate", "registry.example.com/notebook:1"],
    "shared-data": ["persistentvolumeclaim/dataset created", "storageclass.storage.k8s.io/shared created"],
    "change-machine": ["generalb", "+ 1 to create", "- 1 to delete"],
    "cost-now": ["Standard_D4ds_v5", "report"],
    "new-team": [
        "app.kubernetes.io/part-of=kubeflow-profile",
        "limitrange/requests created",
        "requests.nvidia.com/gpu",
        "team-a/",
        "labeled",
        'rolebinding.rbac.authorization.k8s.io "second" deleted',
        "profile.kubeflow.org/team-a patched",
        "namespace/team-a annotated",
    ],
    "pending-pod": [
        "FailedScheduling",
        "Insufficient nvidia.com/gpu",
        "nodeGroups",
        "largestRequest",
        "general",
    ],
    "ray-and-spark": [
        "rayjob.ray.io/tune created (server dry run)",
        "sparkapplication.sparkoperator.k8s.io/pi created",
    ],
    "rehearse-loss": ["pool t4: 1 node evicted and deleted"],
    "remove-pool": ["nb-t4od-0", "evicted"],
    "second-region": ["ml-north"],
    "secrets": ["serviceaccount/pulls patched", "example"],
    "tear-down": ["none"],
    "upgrade-kubernetes": ["Kubernetes version: 1.35 -> 1.36", "44 unchanged", "v1.36"],
    "warm-node": ["cronjob.batch/warm created", "job.batch/now created"],
    "workload-identity": ["pod/reads created", "reader"],
}
"""Texts that a page's commands print."""

KINDS = {
    "profiles.kubeflow.org": ("v1", "Profile", "Cluster"),
    "notebooks.kubeflow.org": ("v1", "Notebook", "Namespaced"),
    "inferenceservices.serving.kserve.io": ("v1beta1", "InferenceService", "Namespaced"),
}
GPUS = {"limits": {"nvidia.com/gpu": "1"}}


def definition(name: str) -> dict[str, Any]:
    """Return a definition of a kind of Kubeflow's that takes every field."""
    version, kind, scope = KINDS[name]
    plural, _, group = name.partition(".")
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [{"name": version, "served": True, "storage": True, "schema": schema}],
        },
    }


CHANGES = re.compile(
    r"pulumi (up|destroy|refresh|import|state)|sandbox (up|drill|scale)|kubectl (label|taint|drain|cordon) "
)
"""Commands of a page after which the stack has to be brought back."""


def node_names(stack: Standing) -> set[str]:
    return {node["metadata"]["name"] for node in stack.get("nodes")["items"]}


def namespaces(stack: Standing) -> set[str]:
    return {each["metadata"]["name"] for each in stack.get("namespaces")["items"]}


@pytest.fixture
def team(stack: Standing, page: Path) -> Iterator[Standing]:
    """Yield the stack with a profile, a pod that no node can take, and a notebook; Kubeflow's controllers are missing."""
    api = Api(stack._plane())
    nodes = node_names(stack)
    eventually(lambda: "team-a" not in namespaces(stack), "the namespace of the last page is gone")
    namespace = {"name": "team-a", "labels": {"app.kubernetes.io/part-of": "kubeflow-profile"}}
    crds.install(api, [definition(name) for name in KINDS])
    template = {"spec": {"containers": [{"name": "cheap", "image": "example.com/notebook:1", "resources": GPUS}]}}
    made = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "Notebook",
        "metadata": {"name": "cheap", "namespace": "team-a"},
        "spec": {"template": template},
    }
    api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": namespace})
    for body in (pod("stuck", "99"), made):
        api.create(body)
    (stack.project / "examples").symlink_to(PROJECT / "examples")
    before = set(stack.project.iterdir())
    stack.git(*shlex.split("-c user.name=test -c user.email=test@example.com commit --quiet --allow-empty -m base"))
    yield stack
    for path in {*stack.project.iterdir()} - before | {stack.project / "examples"}:
        if path.is_symlink() or path.is_file():
            path.unlink()
    # Nobody waits here: the next page's `up`, if it needs one, takes as long.
    stack.kubectl("delete", "namespace", "team-a", "--wait=false")
    api.close()
    if CHANGES.search((PROJECT / page).read_text()) or page.stem in PROVEN or node_names(stack) != nodes:
        stack._moved, stack._applied = True, None


def run(stack: Standing, block: Block, programs: Path, variables: str) -> str:
    """Return what a block prints, with the `variables` of earlier blocks. Raises AssertionError if one of its commands fails."""
    text = textwrap.dedent(block.text).replace(".venv/bin/sandbox", "sandbox")
    done = reader.bash(stack, programs, variables + text, "-euo pipefail")
    assert done.returncode == 0, f"{block}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """Return a folder with the programs of the pages."""
    return reader.install(tmp_path)


OF_OPERATORS = ("ray-and-spark", "share-gpus-between-teams", "suspended-job")
"""Pages with objects of operators, whose definitions are served and whose controllers are missing."""


def folder_of_components(stack: Standing) -> None:
    (stack.project / "kubeflow" / "components").mkdir(parents=True, exist_ok=True)


def folder_of_kubeflow(stack: Standing) -> None:
    shutil.copytree(PROJECT / "kubeflow", stack.project / "kubeflow", dirs_exist_ok=True)


def second_team(stack: Standing) -> None:
    stack.kubectl("create", "namespace", "team-b")


def job_that_waits(stack: Standing) -> None:
    """Make a suspended Job, and its workload as Kueue would leave it."""
    job = next(d for d in yaml.safe_load_all((PROJECT / "examples/jobs/kueue.yaml").read_text()) if d["kind"] == "Job")
    api = Api(stack._plane())
    made = api.create(job)
    labels = {"kueue.x-k8s.io/job-uid": made["metadata"]["uid"]}
    workload = {
        "apiVersion": "kueue.x-k8s.io/v1beta1",
        "kind": "Workload",
        "metadata": {"name": "job-queued-1a2b3", "namespace": "team-a", "labels": labels},
        "spec": {"queueName": "gpus", "podSets": [{"name": "main", "count": 1, "template": job["spec"]["template"]}]},
    }
    api.create(workload)
    said = {
        "type": "QuotaReserved",
        "status": "False",
        "reason": "Inadmissible",
        "message": "LocalQueue gpus doesn't exist",
        "lastTransitionTime": "2026-11-27T08:00:00Z",
    }
    api.patch(workload, {"status": {"conditions": [said]}}, "/status")
    api.close()


def without_twin(stack: Standing) -> None:
    settings = stack.config
    del settings["pools"][1]["fallback"]
    stack.write(settings)


def pool_in_use(stack: Standing) -> None:
    stack.run("scale", "t4od", "1")
    notebook(stack, "t4od")


def refused_and_put_back(stack: Standing) -> None:
    kept = stack.file.read_text()
    without_twin(stack)
    assert "would go with what runs there" in stack.run("up", ok=False).stdout
    stack.file.write_text(kept)


def drained(stack: Standing) -> None:
    # Its pod would keep asking for the pool by name.
    stack.kubectl("delete", "statefulset", "nb-t4od")
    without_twin(stack)


BEFORE: dict[tuple[str, int], Callable[[Standing], object]] = {
    ("remove-pool", 0): pool_in_use,
    ("remove-pool", 1): refused_and_put_back,
    ("remove-pool", 2): drained,
    ("https-and-domain", 0): folder_of_components,
    ("login-with-sso", 1): folder_of_components,
    ("gpu-notebook", 2): folder_of_kubeflow,
    ("share-gpus-between-teams", 0): second_team,
    ("suspended-job", 0): job_that_waits,
}
"""What happens before a block of a page that is run, by its number: what the page says in words."""


@pytest.mark.parametrize("page", RUN, ids=[page.stem for page in RUN])
def test_the_commands_of_a_page_work(team: Standing, subject: Subject, programs: Path, page: Path) -> None:
    printed, number, variables = "", 0, ""
    if page.stem in OF_OPERATORS:
        crds.install(Api(team._plane()))
    if page.stem == "pending-pod":
        # The scheduler has looked at the pod.
        assert until(lambda: "FailedScheduling" in team.kubectl("get", "events", "-n", "team-a"))
    for block in blocks(page):
        if tasks.is_stack_file(block) and tasks.base_of(block) == team.name:
            team.write(tasks.merged(team.config, tasks.part(block)))
        elif tasks.runner(block) == tasks.RUNNER:
            BEFORE.get((page.stem, number), lambda _: None)(team)
            printed += run(team, block, programs, variables)
            variables += "".join(f"{line}\n" for line in block.text.splitlines() if re.match(r"[A-Z]+=\w", line))
            number += 1
    assert [text for text in SHOWN.get(page.stem, []) if text not in printed] == [], printed
    if page.stem in PROVEN:
        PROVEN[page.stem](team)
