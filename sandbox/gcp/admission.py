"""What GKE does to pods as they are made: the toleration that those get which ask for a ComputeClass.

Page about-custom-compute-classes: such pods get the toleration of the class's taint "automatically"; how is not said, and its
spelling is UNCONFIRMED. Only a node selector counts as asking here, and no other taint of a pool is tolerated by it. Nothing is
refused: when GKE rejects pods that ask for a class and for more (same page) concerns auto-creation, and is in part UNCONFIRMED.

Below 1.36 there is no MutatingAdmissionPolicy: the autoscaler's loop then gives the same toleration to the pod that waits.
"""

from __future__ import annotations

from typing import Any

from sandbox.gcp.compute_classes import KEY

Object = dict[str, Any]

NAME = "gke-compute-class-toleration"
SINCE = (1, 36)
"""The first version with MutatingAdmissionPolicy v1."""

_SELECTED = f"object.spec.nodeSelector['{KEY}']"
_TOLERATION = f"Object.spec.tolerations{{key: '{KEY}', operator: 'Equal', value: {_SELECTED}, effect: 'NoSchedule'}}"
_ABSENT = "!has(object.spec.tolerations)"

_POLICY: Object = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingAdmissionPolicy",
    "metadata": {"name": NAME},
    "spec": {
        "failurePolicy": "Ignore",
        # Another policy may be what gives a pod the node selector.
        "reinvocationPolicy": "IfNeeded",
        "matchConstraints": {
            "resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
            ]
        },
        "matchConditions": [
            {"name": "asks", "expression": f"has(object.spec.nodeSelector) && '{KEY}' in object.spec.nodeSelector"},
            {
                "name": "lacks",
                "expression": f"{_ABSENT} || !object.spec.tolerations.exists(t, has(t.key) && t.key == '{KEY}'"
                f" && has(t.value) && t.value == {_SELECTED})",
            },
        ],
        "mutations": [
            {
                "patchType": "JSONPatch",
                "jsonPatch": {
                    "expression": f"{_ABSENT}"
                    f" ? [JSONPatch{{op: 'add', path: '/spec/tolerations', value: [{_TOLERATION}]}}]"
                    f" : [JSONPatch{{op: 'add', path: '/spec/tolerations/-', value: {_TOLERATION}}}]"
                },
            }
        ],
    },
}
_BINDING: Object = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "MutatingAdmissionPolicyBinding",
    "metadata": {"name": NAME},
    "spec": {"policyName": NAME},
}


def objects(version: str) -> list[Object]:
    """The objects of a cluster at a version such as `1.36.4-gke.1767000`."""
    major, minor = version.split(".")[:2]
    return [_POLICY, _BINDING] if (int(major), int(minor)) >= SINCE else []
