"""The placement label on objects that make pods: in each place of each kind, as a user, as a controller, and afterwards.

Kinds with their real definitions: tests/admission/test_projects.py.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from config.placement.roles import WorkloadObject
from sandbox.tests.api import Object, Refused
from sandbox.tests.subjects import DEV
from tests.admission.bed import Bed
from tests.admission.escapes import workload
from tests.admission.posting import named
from tests.admission.served import CLUSTER_WIDE, KINDS, OF_KUBERNETES, an_object, serving

pytestmark = [
    pytest.mark.engine,
    pytest.mark.restless,
    # The policy does not differ between clouds.
    pytest.mark.parametrize("subject", [DEV], ids=["dev"], indirect=True, scope="session"),
]

LABEL = "kubeflow-spot.dev/placement"


@pytest.fixture(scope="module", autouse=True)
def served(bed: Bed) -> Iterator[None]:
    """Serve every kind of the table."""
    with serving(bed, *KINDS):
        yield


def put(body: Object, path: str, labels: dict[str, str]) -> None:
    """Write labels at a path of the table into an object."""
    holder: Any = body
    *steps, last = path.split(".")
    for step in steps:
        name = step.removesuffix("[]").removesuffix("{}")
        if step.endswith("[]"):
            holder = holder.setdefault(name, [{"name": "first"}, {"name": "second"}])[1]
        elif step.endswith("{}"):
            holder = holder.setdefault(name, {"First": {}, "Second": {}})["Second"]
        else:
            holder = holder.setdefault(name, {})
    holder[last] = labels


def written(kind: WorkloadObject, *paths: str) -> Object:
    body = an_object(kind, name="labelled")
    if kind.group == OF_KUBERNETES:
        pods = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.com/train:1"}]}}
        job = {"spec": {"template": pods}}
        body["spec"] = job["spec"] if kind.kind == "Job" else {"schedule": "0 2 * * *", "jobTemplate": job}
    for path in paths:
        put(body, path, {LABEL: "on-demand"})
    return body


def refusal(bed: Bed, body: Object) -> str:
    try:
        bed.api.create(body, dry_run=True)
    except Refused as refused:
        return refused.message
    return ""


EVERY = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@EVERY
def test_a_label_that_reaches_no_pod_is_refused_with_the_right_place(kind: WorkloadObject, bed: Bed) -> None:
    shown = f"{kind.kind} {'' if kind.kind in CLUSTER_WIDE else 'team-a/'}labelled has the label {LABEL} "
    assert kind.ignored
    for path in kind.ignored:
        message = refusal(bed, written(kind, path))
        assert f"rule label-place: {shown}" in message, path
        assert message.endswith(f"write it in {kind.place}"), path


@EVERY
def test_a_label_that_reaches_pods_passes_beside_any_other(kind: WorkloadObject, bed: Bed) -> None:
    """As where a tool writes one label everywhere."""
    assert kind.labels
    for path in kind.labels:
        assert refusal(bed, written(kind, path)) == "", path
        assert refusal(bed, written(kind, path, *kind.ignored)) == "", path


def test_a_profile_alone_is_judged_and_what_a_controller_makes_is_not(bed: Bed) -> None:
    job = KINDS["Job.batch"]
    body = written(job, "metadata.labels")
    elsewhere = {**body, "metadata": {**body["metadata"], "namespace": "unmatched"}}
    assert bed.api.create(elsewhere, dry_run=True)
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "1", "controller": True}
    body["metadata"]["ownerReferences"] = [owner]
    assert refusal(bed, body) == ""


def test_a_label_that_comes_later_is_refused_and_one_that_is_there_stops_no_update(bed: Bed) -> None:
    job = written(KINDS["Job.batch"])
    job["spec"]["suspend"] = True
    with bed.api.created(job), pytest.raises(Refused, match="rule label-place"):
        bed.api.patch(job, {"metadata": {"labels": {LABEL: "on-demand"}}})
    with_label = written(KINDS["Job.batch"], "metadata.labels")
    with_label["metadata"] |= {"name": "from-before", "ownerReferences": _owner(bed)}
    with_label["spec"]["suspend"] = True
    with bed.api.created(with_label):
        changed = bed.api.patch(with_label, {"metadata": {"ownerReferences": None, "labels": {"team": "a"}}})
        assert changed["metadata"]["labels"][LABEL] == "on-demand"
        bed.api.patch(with_label, {"metadata": {"labels": {LABEL: None}}})


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
@pytest.mark.parametrize("value", ["prefer-spot", "on-demand"])
@pytest.mark.parametrize("path", ["metadata.labels", "spec.template.metadata.labels"])
def test_a_wish_for_spot_by_what_does_not_end_draws_a_warning(kind: str, value: str, path: str, bed: Bed) -> None:
    body = workload(kind, "web")
    put(body, path, {"app": "web", LABEL: value})
    warned = f"pods of a {kind} do not end by themselves" in "".join(bed.api.warnings(body))
    assert warned == (value == "prefer-spot")


def _owner(bed: Bed) -> list[Object]:
    account = bed.api.get(named("v1", "ServiceAccount", "default", "team-a"))
    owner = {"apiVersion": "v1", "kind": "ServiceAccount", "name": "default"}
    return [{**owner, "uid": account["metadata"]["uid"], "controller": True}]
