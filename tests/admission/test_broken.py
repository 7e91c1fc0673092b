"""Broken policies stop neither the platform nor node agents."""

from collections.abc import Iterator

import pytest

from sandbox.tests.stack import eventually
from tests.admission.bed import Bed
from tests.admission.escapes import pod, verdict, with_metadata, workload

pytestmark = pytest.mark.engine

_API = "admissionregistration.k8s.io/v1"
_FAILS = "object.spec.nothing"
"""An expression that compiles, because the object has no type, and fails for every pod."""


@pytest.fixture(scope="module")
def broken(bed: Bed) -> Iterator[Bed]:
    policies = [item for kind in ("Mutating", "Validating") for item in bed.api.list(_API, f"{kind}AdmissionPolicy")]
    own_policies = [item for item in policies if item["metadata"]["name"].startswith("kubeflow-spot-")]
    assert len(own_policies) == (9 if bed.subject.class_name else 8)
    try:
        for policy in own_policies:
            kind = "MutatingAdmissionPolicy" if "mutations" in policy["spec"] else "ValidatingAdmissionPolicy"
            # The part that the policy evaluates first.
            part, fails = (
                ("variables", _FAILS) if "variables" in policy["spec"] else ("matchConditions", f"{_FAILS} == ''")
            )
            failing = [{**item, "expression": fails} for item in policy["spec"][part]]
            bed.api.patch({"apiVersion": _API, "kind": kind, **policy}, {"spec": {part: failing}})
        # In profiles a pod that cannot be judged is refused, which shows that the policies are broken.
        eventually(lambda: "no such key" in verdict(bed, pod("service")), "the broken guard is in force")
        yield bed
    finally:
        bed.restore()


@pytest.mark.parametrize("namespace", ["kubeflow", "istio-system", "kubeflow-system", "unmatched", "kube-system"])
@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet"])
def test_pods_outside_of_profiles_start(broken: Bed, namespace: str, kind: str) -> None:
    body = with_metadata(workload(kind, "platform"), namespace=namespace)
    with broken.api.created(body):
        eventually(lambda: running(broken, namespace, "platform"), "a pod runs", seconds=20)


def test_a_kubelet_reports_its_own_pods_in_a_profile_as_well(broken: Bed) -> None:
    node = min(broken.pools())
    mirror = with_metadata(pod("static", nodeName=node), annotations={"kubernetes.io/config.mirror": "x"})
    broken.api.create(mirror, user=f"system:node:{node}", groups=("system:nodes",), dry_run=True)


def running(bed: Bed, namespace: str, app: str) -> bool:
    pods = bed.api.list("v1", "Pod", namespace)
    return any(pod["metadata"]["labels"].get("app") == app and pod["status"].get("phase") == "Running" for pod in pods)
