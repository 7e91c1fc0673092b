"""Claims of dynamic resource allocation in profiles: each must ask for a device.

A pod with a claim may tolerate the GPU taint where the stack file names the device classes of its GPUs. What a claim asks for is no
part of the pod, and a template's claim does not exist yet when the pod is judged. A claim that asks for nothing is granted on every
node, and would open the GPU nodes to any pod.
"""

from __future__ import annotations

from typing import Any

from components.layer import names
from components.layer.scheduling.defaults import PROFILES
from config.model.scheduling import Guard

ROLE = "guard-claims"

_GROUP = "resource.k8s.io"

_CLAIM = "has(object.spec.spec) ? object.spec.spec : object.spec"
"""The claim of a template, or the claim itself."""

_ASKS = """\
has(variables.claim.devices) && has(variables.claim.devices.requests) && variables.claim.devices.requests != null
&& variables.claim.devices.requests.size() > 0"""


def policy(guard: Guard, instance: str, action: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The policy and its binding. Claims and templates never change (kubernetes.io, page dra-api)."""
    name = names.object_name(instance, ROLE)
    metadata = {"name": name, "labels": names.labels(instance)}
    rule = {
        "apiGroups": [_GROUP],
        # The API server converts requests of older versions to this one ("matchPolicy": Equivalent is the default).
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["resourceclaims", "resourceclaimtemplates"],
    }
    classes = ", ".join(guard.device_classes)
    message = (
        "kubeflow-spot guard, rule empty-claim: asks for no device, so that a pod with it would pass as one with a GPU; ask for a "
        f"device, such as one of class {classes}"
    )
    api = {"apiVersion": "admissionregistration.k8s.io/v1"}
    return (
        {
            **api,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": metadata,
            "spec": {
                "failurePolicy": "Fail",
                "matchConstraints": {"resourceRules": [rule], "namespaceSelector": PROFILES},
                "variables": [{"name": "claim", "expression": _CLAIM}],
                "validations": [{"expression": _ASKS, "message": message, "reason": "Forbidden"}],
            },
        },
        {
            **api,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": metadata,
            "spec": {"policyName": name, "validationActions": [action]},
        },
    )
