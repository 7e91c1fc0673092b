"""Rules of the guard as CEL expressions over a pod, and the messages of its refusals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Template
from typing import NamedTuple

import pulumi_kubernetes as k8s

from components.layer import cel
from components.layer.scheduling import workload_kinds
from config.model.pool import Capacity
from config.model.scheduling import LIFTED as LIFTED_BY_DEFAULT
from config.model.scheduling import GuardException, GuardRule, Placement
from config.placement.node_pools import CAPACITY_LABEL, CRITICAL_ADDONS_TAINT, GPU_TAINT
from config.placement.pods import PLACEMENT_LABEL

ACTIONS = {"enforce": "Deny", "warn": "Warn", "audit": "Audit"}
"""What an API server does with an object that breaks a rule, by the guard's mode."""

NOT_BY_A_NODE = "!('system:nodes' in request.userInfo.groups)"
"""Requests of others than kubelets, whose own pods and updates belong to their node."""

NOT_AN_AGENT = f"""\
// A DaemonSet's pods belong on every node; what its controller is called tells more than an owner that anybody may write.
{NOT_BY_A_NODE}
&& {cel.NOT_BY_DAEMON_SETS}
// Where all controllers are one user, that one writes true owners.
&& {cel.NOT_OF_A_DAEMON_SET}"""

CHANGED = """\
// What was let in once may be updated: refusing to take a finalizer away would keep the pod for ever.
request.operation == 'CREATE'
|| object.spec.?tolerations != oldObject.spec.?tolerations
|| object.spec.?nodeSelector != oldObject.spec.?nodeSelector
|| object.spec.?affinity != oldObject.spec.?affinity"""

LASTING = f"!({workload_kinds.ENDS})"

_HIGHEST = 1_000_000_000
"""Kubernetes' HighestUserDefinablePriority (pkg/apis/scheduling/types.go), below the system's
classes. GKE's gmp-critical has this value (GoogleCloudPlatform/prometheus-engine,
charts/operator/templates/priorityclass.yaml)."""

# The admission plugin Priority has already written the class's value.
_OUTRANKS = f"has(object.spec.priority) && object.spec.priority >= {_HIGHEST}"

_SUSPECT = f"""\
has(object.spec.nodeName)
|| (has(object.metadata.labels) && {cel.value(PLACEMENT_LABEL)} in object.metadata.labels)
|| !({workload_kinds.ENDS})"""


def suspect(*, gpus: bool) -> str:
    """Return the cheap filter of profiles, which skips pods that cannot break a rule.

    Pods that ask for a GPU have the GPU toleration (ExtendedResourceToleration) and pass the rules.
    """
    keys = ["", CRITICAL_ADDONS_TAINT.key, *([GPU_TAINT.key] if gpus else [])]
    return f"""\
{_SUSPECT}
|| ({_OUTRANKS})
|| (has(object.spec.tolerations) && object.spec.tolerations.exists(t, !has(t.key) || t.key in {cel.value(keys)}))
|| (has(object.spec.affinity) && has(object.spec.affinity.podAntiAffinity))"""


TOLERATES = Template("""\
// https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
has(object.spec.tolerations) && object.spec.tolerations.exists(t, variables.$taints.exists(s,
  (!has(t.effect) || t.effect in ['', s.effect])
  && (!has(t.key) || t.key == '' ? has(t.operator) && t.operator == 'Exists' :
      t.key == s.key
      && (has(t.operator) && !(t.operator in ['', 'Equal']) || (has(t.value) ? t.value : '') == s.value))))""")

REQUIRES = f"""\
(variables.label in variables.labels && variables.labels[variables.label] == 'require-spot')
|| (has(object.spec.nodeSelector)
    && object.spec.nodeSelector.exists(k, k in variables.spot && object.spec.nodeSelector[k] in variables.spot[k]))
// One of the terms must hold. Another beside it may be one that no node fulfils, so a single one counts.
|| (has(object.spec.affinity) && has(object.spec.affinity.nodeAffinity)
    && has(object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution)
    && object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.exists(t,
       has(t.matchExpressions) && t.matchExpressions.exists(e,
         e.operator == 'In' ? e.key in variables.spot && e.values.all(v, v in variables.spot[e.key]) :
         e.operator == 'NotIn' && e.key == {cel.value(CAPACITY_LABEL)}
           && {cel.value(Capacity.ON_DEMAND.value)} in e.values)))"""

# A pod of `kubectl debug node/...` has no owner and restartPolicy Never (kubernetes/kubectl,
# pkg/cmd/debug/debug.go). A user who may update nodes could remove their taints, so nothing is
# lost. Service accounts are excluded: one with all rights may apply users' files.
DEBUGS = f"""\
request.operation == 'CREATE' && object.spec.restartPolicy == 'Never'
&& has(object.spec.nodeName) && object.spec.nodeName != '' && !has(object.metadata.ownerReferences)
&& !request.userInfo.username.startsWith('system:serviceaccount:')
&& {workload_kinds.UPDATES_NODES}"""

LIFTED = """\
variables.exceptions.filter(x, x.namespace == request.namespace
  && x.selector.all(k, k in variables.labels && variables.labels[k] == x.selector[k])).map(x, x.rules)"""

POD = """\
'pod ' + request.namespace + '/'
+ (has(object.metadata.name) && object.metadata.name != '' ? object.metadata.name :
   has(object.metadata.generateName) ? object.metadata.generateName + '*' : '')
+ (has(object.metadata.ownerReferences) && object.metadata.ownerReferences.size() > 0 ?
   ' of ' + object.metadata.ownerReferences[0].kind + ' ' + object.metadata.ownerReferences[0].name : '')"""


class Rule(NamedTuple):
    """One rule of the guard."""

    broken: str
    """The condition that a pod breaks it."""
    words: str
    """The end of the refusal, after the pod's name."""


PLACEMENT, NO_POOL = "placement", "no-pool"
"""Rules that no exception lifts: such a pod could not run anyway."""

SPOT_RULES = {
    GuardRule.TOLERATES_SPOT.value: Rule(
        "variables.kept && variables.tolerates",
        "tolerates the taint of spot machines, which the cloud takes back; remove the toleration",
    ),
    GuardRule.REQUIRES_SPOT.value: Rule(
        "variables.kept && variables.requires",
        "asks for spot machines, which the cloud takes back; remove that",
    ),
}
"""Rules for pods that must not be evicted, by name."""

OTHER_RULES = {
    GuardRule.NODE_NAME.value: Rule(
        "request.operation == 'CREATE' && has(object.spec.nodeName) && object.spec.nodeName != ''",
        "names its node, past the scheduler and all taints; remove spec.nodeName",
    ),
    GuardRule.TOLERATES_GPU.value: Rule(
        "variables.parks",
        "tolerates the taint of GPU machines and asks for no GPU; remove the toleration: pods "
        "that ask for a GPU get it by "
        "themselves",
    ),
    NO_POOL: Rule(
        "variables.label in variables.labels && variables.labels[variables.label] == "
        "'require-spot' && variables.waits",
        "requires spot machines, and the stack has none for such a pod, so it would wait for "
        "ever; remove the label "
        f"{PLACEMENT_LABEL}",
    ),
    PLACEMENT: Rule(
        "variables.label in variables.labels && !(variables.labels[variables.label] in "
        f"{cel.value([*Placement])})",
        f"has a label {PLACEMENT_LABEL} that is none of {', '.join(Placement)}; write one of these",
    ),
}
"""Rules for every pod, by name."""

_REQUIRED = "object.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"

PROFILE_RULES = {
    GuardRule.PRIORITY.value: Rule(
        _OUTRANKS,
        f"has a priority of {_HIGHEST} or more, with which it takes the places of other teams' "
        "pods; remove spec.priorityClassName",
    ),
    # Any value and effect: no user's pool has this key. A toleration without a key matches all
    # keys.
    GuardRule.SYSTEM_POOL.value: Rule(
        f"""\
has(object.spec.tolerations) && object.spec.tolerations.exists(t,
  has(t.key) && t.key != '' ? t.key == {cel.value(CRITICAL_ADDONS_TAINT.key)} :
  !has(t.effect) || t.effect in ['', {cel.value(CRITICAL_ADDONS_TAINT.effect.value)}])""",
        "tolerates the taint of the system pool, which is for the cluster's own pods; remove "
        "the toleration",
    ),
    # The scheduler keeps every matching pod of any namespace off
    # (pkg/scheduler/framework/plugins/interpodaffinity, satisfyExistingPodsAntiAffinity). A
    # preferred term only influences the choice among free nodes.
    GuardRule.OTHER_NAMESPACES.value: Rule(
        f"""\
has(object.spec.affinity) && has(object.spec.affinity.podAntiAffinity) && has({_REQUIRED})
&& {_REQUIRED}.exists(t, has(t.namespaceSelector)
  || (has(t.namespaces) && t.namespaces.exists(n, n != request.namespace)))""",
        "keeps pods of other namespaces off by its podAntiAffinity; remove namespaceSelector "
        "and namespaces",
    ),
}
"""Rules for every pod of a profile that protect other teams' pods and the platform's, by name."""


def broken(exceptions: Sequence[GuardException], others: Mapping[str, Rule]) -> dict[str, str]:
    """Return variables with the name of the first broken rule that no exception lifts; empty if
    none is broken.

    `other`: the first of `others`. A message cannot use the authorizer (kubernetes.io, page
    validating-admission-policy), so it does not know whether a pod with training labels may use
    spot; for such a pod it names another broken rule first.
    """
    return {
        "other": _first(others, exceptions) + "''",
        "broken": (
            "variables.other != '' && variables.mayTrain ? variables.other :\n"
            f"{_first(SPOT_RULES, exceptions)}variables.other"
        ),
    }


def _first(rules: Mapping[str, Rule], exceptions: Sequence[GuardException]) -> str:
    lifted = {rule.value for entry in exceptions for rule in entry.rules}
    return "".join(
        rule.broken
        + (
            f" && !variables.lifted.exists(rules, {cel.value(name)} in rules)"
            if name in lifted
            else ""
        )
        + f" ? {cel.value(name)} :\n"
        for name, rule in rules.items()
    )


def listed(exceptions: Sequence[GuardException]) -> str:
    """Return the exceptions as a list, each below its reason."""
    entries = "".join(
        f"\n// {' '.join(entry.reason.split())}\n{_entry(entry)}," for entry in exceptions
    )
    return f"[{entries}]"


def _entry(entry: GuardException) -> str:
    return cel.value(
        {
            "namespace": entry.namespace,
            "selector": entry.selector,
            "rules": [rule.value for rule in entry.rules],
        }
    )


def validation(
    instance: str, others: Mapping[str, Rule]
) -> k8s.admissionregistration.v1.ValidationArgs:
    """Return one validation: the API server evaluates every message for every pod."""
    wrong = "".join(
        f"variables.broken == {cel.value(name)} ? "
        f"{cel.value(f' {rule.words}{_remedy(name, instance)}')} :\n"
        for name, rule in {**SPOT_RULES, **others}.items()
    )
    return k8s.admissionregistration.v1.ValidationArgs(
        expression="variables.broken == '' || variables.debugs || (variables.other == '' && variables.trains)",
        message_expression=(
            "variables.broken == '' ? '' :\n"
            f"'kubeflow-spot guard, rule ' + variables.broken + ': ' + variables.pod + ({wrong}'')"
        ),
        reason="Forbidden",
    )


def _remedy(rule: str, instance: str) -> str:
    if rule in (PLACEMENT, NO_POOL):
        return ""
    named = "" if rule in LIFTED_BY_DEFAULT else f" with rules [{rule}]"
    return (
        f", or ask the platform team for an entry{named} in scheduling.guard.exceptions of stack "
        f"{instance}"
    )
