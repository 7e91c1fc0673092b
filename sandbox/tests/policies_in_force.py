"""Wait until an API server heeds the admission policies that it stores."""

from functools import partial

from sandbox.tests.api import Api, Object, Refused
from sandbox.tests.stack import eventually

LABELS = {"probe": "policies"}
PROBE: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "probe", "namespace": "default", "labels": LABELS},
}


def await_policies(api: Api) -> None:
    """Return when every admission policy that was created before is in force.

    An API server reads all policies of a kind together, once a second (k8s.io/apiserver, policy_source.go): when the last one
    created is in force, so are the others. The two kinds are read apart.
    """
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    match = {"objectSelector": {"matchLabels": LABELS}, "resourceRules": [rule]}
    base = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "probe-last"}}
    kinds: list[tuple[str, Object]] = [
        ("ValidatingAdmissionPolicy", {"validations": [{"expression": "false", "message": "heeded"}]})
    ]
    if serves_mutating_policies(api):
        patch = "[JSONPatch{op: 'add', path: '/data', value: {'heeded': 'yes'}}]"
        mutation = {"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}
        kinds.append(("MutatingAdmissionPolicy", {"reinvocationPolicy": "Never", "mutations": [mutation]}))
    for kind, spec in reversed(kinds):
        actions = {"validationActions": ["Deny"]} if "validations" in spec else {}
        policy = {**base, "kind": kind, "spec": {"matchConstraints": match, **spec}}
        binding = {**base, "kind": f"{kind}Binding", "spec": {"policyName": "probe-last", **actions}}
        with api.created(policy, binding):
            eventually(partial(_judges_probe, api, kind), f"the last {kind} is heeded")


def _judges_probe(api: Api, kind: str) -> bool:
    """Return whether a policy of this kind judges the probe. A deleted one of the other kind may still do so for a moment."""
    try:
        changed = bool(api.create(PROBE, dry_run=True).get("data"))
        return changed and kind == "MutatingAdmissionPolicy"
    except Refused as refused:
        return "heeded" in refused.message and kind == "ValidatingAdmissionPolicy"


def serves_mutating_policies(api: Api) -> bool:
    """Return whether this Kubernetes has MutatingAdmissionPolicy as `v1`."""
    served = api.request("GET", "/apis/admissionregistration.k8s.io/v1")["resources"]
    return "mutatingadmissionpolicies" in {resource["name"] for resource in served}
