"""Policies about a placement label that would be silently ignored.

In a place that reaches no pod, such as the metadata of a Job, the label is refused with the right
place: a job whose owner wrote `on-demand` would run on spot. On kinds whose pods do not end, such
as a Notebook, a label for spot draws a warning: such pods stay on demand. Objects that controllers
create are not judged, so that an older object can go on creating its Jobs.
"""

from __future__ import annotations

from collections.abc import Callable

import pulumi_kubernetes as k8s

from components.layer import cel, names
from components.layer.part import Inside, Part
from components.layer.policies import Resources, Validating, declare, validating
from components.layer.scheduling.defaults import profiles
from components.layer.scheduling.guard_rules import ACTIONS
from config.model.scheduling import Scheduling
from config.placement.pods import PLACEMENT_LABEL
from config.placement.roles import WORKLOAD_OBJECTS, WorkloadObject

ROLE = "guard-labels"

_LABEL = cel.value(PLACEMENT_LABEL)

_CONDITIONS = {
    "by-users": "!object.metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false))",
    # Updates of admitted objects must pass: otherwise a controller could not write a status.
    "changed": f"""\
request.operation == 'CREATE'
|| object.metadata.?labels[?{_LABEL}].orValue('') != oldObject.metadata.?labels[?{_LABEL}].orValue('')""",
}


def _resources() -> Resources:
    resources: dict[str, list[str]] = {}
    for kind in WORKLOAD_OBJECTS:
        resources.setdefault(kind.group, []).append(kind.resource)
    return resources


def _stray(kind: WorkloadObject) -> str:
    """Return the test whether an object has the label only in places that are ignored."""
    ignored, read = (
        " || ".join(cel.some_has("object", path, PLACEMENT_LABEL) for path in paths)
        for paths in (kind.ignored, kind.labels)
    )
    return f"({ignored}) && !({read})"


def _by_kind(expression: Callable[[WorkloadObject], str], otherwise: str) -> str:
    cases = (
        f"request.resource.resource == {cel.value(kind.resource)} && request.resource.group == "
        f"{cel.value(kind.group)} ?"
        f" ({expression(kind)}) :\n"
        for kind in WORKLOAD_OBJECTS
    )
    return "".join(cases) + otherwise


def policy(scheduling: Scheduling, instance: str) -> Validating:
    """Return the policy and its binding."""
    message = f"""\
'kubeflow-spot guard, rule label-place: ' + request.kind.kind + ' '
+ object.metadata.?namespace.optMap(own, own + '/').orValue('')
+ {cel.NAME}
+ ' has the label {PLACEMENT_LABEL} where it does not choose the machines of its pods; write it in ' + variables.place"""
    return validating(
        names.object_name(instance, ROLE),
        instance,
        profiles(scheduling),
        resources=_resources(),
        operations=["CREATE", "UPDATE"],
        # The pods of an object that this policy cannot judge are judged themselves.
        failure="Ignore",
        conditions=_CONDITIONS,
        variables={
            "stray": _by_kind(_stray, "false"),
            "place": _by_kind(lambda kind: cel.value(kind.place), "''"),
        },
        validation=k8s.admissionregistration.v1.ValidationArgs(
            expression="!variables.stray", message_expression=message, reason="Forbidden"
        ),
        action=ACTIONS[scheduling.guard.mode],
    )


_LASTING: Resources = {
    "apps": ["deployments", "statefulsets"],
    "kubeflow.org": ["notebooks"],
    "leaderworkerset.x-k8s.io": ["leaderworkersets"],
    "ray.io": ["rayservices"],
    "serving.kserve.io": ["inferenceservices"],
}
"""Kinds whose pods have the restart policy Always."""

_LASTING_LABELS = (
    "object.metadata",
    "object.spec.?template.?metadata",
    "object.spec.?predictor",
    "object.spec.?leaderWorkerTemplate.?workerTemplate.?metadata",
)


def lasting_policy(scheduling: Scheduling, instance: str) -> Validating:
    """Return the policy that warns of a label for spot on kinds whose pods do not end."""
    values = ", ".join(f"{holder}.?labels[?{_LABEL}].orValue('')" for holder in _LASTING_LABELS)
    message = f"""\
'kubeflow-spot: pods of a ' + request.kind.kind + ' do not end by themselves and must not be evicted, so they stay on demand; '
+ 'remove the label {PLACEMENT_LABEL}'"""
    return validating(
        names.object_name(instance, f"{ROLE}-lasting"),
        instance,
        profiles(scheduling),
        resources=_LASTING,
        operations=["CREATE", "UPDATE"],
        failure="Ignore",
        conditions={"by-users": _CONDITIONS["by-users"]},
        variables={"asked": f"[{values}]"},
        validation=k8s.admissionregistration.v1.ValidationArgs(
            expression="!variables.asked.exists(value, value in ['prefer-spot', 'require-spot'])",
            message_expression=message,
        ),
        action="Warn",
    )


class LabelPlaces(Part):
    """The two policies in the cluster."""

    def __init__(self, name: str, scheduling: Scheduling, inside: Inside) -> None:
        super().__init__("kubeflow-spot:addons:LabelPlaces", name, inside)
        declare(self, name, policy(scheduling, self.instance))
        declare(self, f"{name}-lasting", lasting_policy(scheduling, self.instance))
        self.register_outputs({})
