"""Outcome of a golden pod, and the policy that writes a pod's workload kind into an annotation."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from tests.admission.additions import Spec
from tests.admission.api import Object
from tests.admission.bed import Bed
from tests.admission.posting import JUDGED

KIND_ANNOTATION = "kind"


@dataclass
class Outcome:
    """What became of one golden pod."""

    pod: Object = field(default_factory=dict)
    """As admission left it."""
    untouched: Object = field(default_factory=dict)
    """The same in a namespace that no policy of ours selects."""
    refused: str = ""
    """The API server's words."""
    again: Spec = field(default_factory=dict)
    """The spec of the pod posted again as it came out."""
    kind: str | None = None
    """The kind that the policy takes it for."""
    asked_by_namespace: Spec = field(default_factory=dict)
    """The spec of the pod posted untouched in a profile whose label asks for spot, without a label of its own."""
    landed: dict[str, str] = field(default_factory=dict)
    """By state: pools, or why none."""


def kind_policies(bed: Bed) -> list[Object]:
    """The policy of the stack with another mutation: it writes down which kind it takes a pod for, in one namespace."""
    mutating = [one for one in bed.objects if one["kind"] == "MutatingAdmissionPolicy"]
    policies = [one for one in mutating if one["metadata"]["name"].endswith("-defaults")]
    if not policies:
        return []
    base = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": "golden-kinds"}}
    expression = (
        "(has(object.metadata.annotations) ? [] : [JSONPatch{op: 'add', path: '/metadata/annotations', value: {}}])"
        f" + [JSONPatch{{op: 'add', path: '/metadata/annotations/{KIND_ANNOTATION}', value: variables.kind}}]"
    )
    spec = copy.deepcopy(policies[0]["spec"])
    spec["matchConstraints"]["namespaceSelector"] = {"matchLabels": {"kubernetes.io/metadata.name": JUDGED}}
    spec["mutations"] = [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}]
    binding = {"policyName": "golden-kinds"}
    return [
        {**base, "kind": "MutatingAdmissionPolicy", "spec": spec},
        {**base, "kind": "MutatingAdmissionPolicyBinding", "spec": binding},
    ]
