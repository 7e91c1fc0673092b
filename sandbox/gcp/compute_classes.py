"""The kind ComputeClass as GKE has it in every cluster: `cloud.google.com/v1`, in the API server's own terms.

Fields and rules are those of the pages about-custom-compute-classes, node-attributes-compute-classes and of the CRD reference;
the real object was not read. What a rule may hold beside `nodepools` is known by name and not acted on: no pool is made here
by itself (`nodePoolAutoCreation`), none is consolidated by a class's own times, and nothing migrates.
"""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

GROUP, VERSION, PLURAL = "cloud.google.com", "v1", "computeclasses"
KEY = "cloud.google.com/compute-class"
"""Of the label and taint of a class's pools, and of the node selector by which pods ask for it."""

_TEXT: Object = {"type": "string", "minLength": 1}
_FLAG: Object = {"type": "boolean"}
_COUNT: Object = {"type": "integer", "minimum": 1}
_PERCENT: Object = {"type": "integer", "minimum": 0, "maximum": 100}
_ANYTHING: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def _object(**properties: Object) -> Object:
    return {"type": "object", "properties": properties}


def _list(items: Object) -> Object:
    return {"type": "array", "items": items, "minItems": 1, "maxItems": 100}


_RULE_KEYS: Object = {
    "flexStart": _object(enabled=_FLAG),
    "gpu": _object(type=_TEXT, count=_COUNT, driverVersion=_TEXT),
    "location": _object(zones=_list(_TEXT), locationPolicy={"type": "string", "enum": ["ANY", "BALANCED"]}),
    "machineFamily": _TEXT,
    "machineType": _TEXT,
    "maxRunDurationSeconds": _COUNT,
    "minCores": _COUNT,
    "minMemoryGb": _COUNT,
    "reservations": _ANYTHING,
    "spot": _FLAG,
    "storage": _ANYTHING,
}
_ALONE = " && ".join(f"!has(self.{key})" for key in _RULE_KEYS)

_RULE: Object = {
    **_object(**_RULE_KEYS, nodepools=_list({**_TEXT, "maxLength": 40})),
    "x-kubernetes-validations": [
        {"rule": f"!has(self.nodepools) || ({_ALONE})", "message": "nodepools cannot be used with other keys in a rule"}
    ],
}
_SPEC: Object = {
    **_object(
        activeMigration=_object(optimizeRulePriority=_FLAG),
        autoscalingPolicy=_object(
            consolidationDelayMinutes=_COUNT, consolidationThreshold=_PERCENT, gpuConsolidationThreshold=_PERCENT
        ),
        nodePoolAutoCreation=_object(enabled=_FLAG),
        nodePoolConfig=_ANYTHING,
        priorities=_list(_RULE),
        priorityDefaults=_ANYTHING,
        # Without a default here: from 1.33 on an empty field means DoNotScaleUp.
        whenUnsatisfiable={"type": "string", "enum": ["DoNotScaleUp", "ScaleUpAnyway"]},
    ),
    "required": ["priorities"],
}
_SCHEMA: Object = {
    **_object(apiVersion=_TEXT, kind=_TEXT, metadata={"type": "object"}, spec=_SPEC, status=_ANYTHING),
    "required": ["spec"],
    "x-kubernetes-validations": [
        {
            "rule": "!self.metadata.name.startsWith('gke') && !self.metadata.name.startsWith('autopilot')",
            "message": "the name of a ComputeClass cannot begin with gke or autopilot",
        }
    ],
}

CRD: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"{PLURAL}.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Cluster",
        "names": {"plural": PLURAL, "singular": "computeclass", "kind": "ComputeClass", "listKind": "ComputeClassList"},
        "versions": [
            {
                "name": VERSION,
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": _SCHEMA},
                "subresources": {"status": {}},
            }
        ],
    },
}
