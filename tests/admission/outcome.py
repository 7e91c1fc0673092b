"""What became of a pod, and the policies that a kind's pods meet."""

import copy
from dataclasses import dataclass, field

from sandbox.tests.api import Object
from tests.admission.additions import Spec
from tests.admission.bed import Bed
from tests.admission.posting import (
    JUDGED,
)

KIND_ANNOTATION = "kind"


@dataclass
class Outcome:
    """The outcome of one golden pod."""

    pod: Object = field(default_factory=dict)
    """The pod after admission."""
    untouched: Object = field(default_factory=dict)
    """The same pod in a namespace that no policy of the program selects."""
    refused: str = ""
    """The message of the API server's refusal."""
    again: Spec = field(default_factory=dict)
    """The spec of the admitted pod after a second pass."""
    kind: str | None = None
    """The workload kind that the policy determines."""
    asked_by_namespace: Spec = field(default_factory=dict)
    """The spec of the unchanged pod in a profile whose label asks for spot, without a label of its own."""
    landed: dict[str, str] = field(default_factory=dict)
    """The pools by state, or the reason for none."""


def kind_policies(bed: Bed) -> list[Object]:
    """The stack's policy with another mutation: it writes the workload kind of a pod into an annotation, in one namespace."""
    mutating = [body for body in bed.objects if body["kind"] == "MutatingAdmissionPolicy"]
    policies = [body for body in mutating if body["metadata"]["name"].endswith("-defaults")]
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
