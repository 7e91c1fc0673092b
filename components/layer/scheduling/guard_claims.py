"""Claims of dynamic resource allocation in profiles: each must ask for a device.

A pod with a claim may tolerate the GPU taint if the stack file names the device classes of its
GPUs. The pod does not show what its claim asks for, and a template's claim does not exist yet. An
empty claim is granted on every node and would open the GPU nodes to any pod.
"""

from __future__ import annotations

import pulumi_kubernetes as k8s

from components.layer import names, policies
from components.layer.scheduling.defaults import profiles
from config.model.scheduling import Scheduling

ROLE = "guard-claims"

_CLAIM = "has(object.spec.spec) ? object.spec.spec : object.spec"
"""The claim of a template, or the claim itself."""

_ASKS = """\
has(variables.claim.devices) && has(variables.claim.devices.requests) && variables.claim.devices.requests != null
&& variables.claim.devices.requests.size() > 0"""


def policy(scheduling: Scheduling, instance: str, action: str) -> policies.Validating:
    """Return the policy and its binding. Claims and templates never change (kubernetes.io, page
    dra-api).
    """
    classes = ", ".join(scheduling.guard.device_classes)
    message = (
        "kubeflow-spot guard, rule empty-claim: asks for no device, so that a pod with it would "
        "pass as one with a GPU; ask for a "
        f"device, such as one of class {classes}"
    )
    return policies.validating(
        names.object_name(instance, ROLE),
        instance,
        profiles(scheduling),
        resources={"resource.k8s.io": ["resourceclaims", "resourceclaimtemplates"]},
        operations=["CREATE"],
        variables={"claim": _CLAIM},
        validation=k8s.admissionregistration.v1.ValidationArgs(
            expression=_ASKS, message=message, reason="Forbidden"
        ),
        action=action,
    )
