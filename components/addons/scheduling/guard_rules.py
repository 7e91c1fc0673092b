"""Rules of the guard as CEL expressions over a pod, and the messages of its refusals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Template
from typing import NamedTuple

from components.addons import cel
from components.addons.scheduling import workload_kinds
from config.model.pool import Capacity
from config.model.scheduling import GuardException, GuardRule, Placement
from config.placement.node_pools import CAPACITY_LABEL, GPU_TAINT
from config.placement.pods import PLACEMENT_LABEL

NOT_BY_A_NODE = "!('system:nodes' in request.userInfo.groups)"
"""Pods that no kubelet made. A kubelet's own pods, and its updates of others, belong to its node."""

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

# Cheap filter: skip pods that cannot break a rule.
SUSPECT = f"""\
has(object.spec.nodeName)
|| (has(object.metadata.labels) && {cel.value(PLACEMENT_LABEL)} in object.metadata.labels)
|| !({workload_kinds.ENDS})"""

# Pods that ask for a GPU have the toleration too (ExtendedResourceToleration), and pass the rules.
MAY_PARK = f"""
|| (has(object.spec.tolerations)
    && object.spec.tolerations.exists(t, !has(t.key) || t.key in ['', {cel.value(GPU_TAINT.key)}]))"""

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

# `kubectl debug node/...`: such a pod has no owner and says Never (kubernetes/kubectl, pkg/cmd/debug/debug.go). Whoever may update
# nodes can take their taints away, so nothing is lost. Only people debug: a service account with all rights applies users' files.
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
    """The condition of a pod that breaks it."""
    words: str
    """The end of the refusal, after the pod's name."""


PLACEMENT = "placement"

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
        "tolerates the taint of GPU machines and asks for no GPU; remove the toleration: pods that ask for a GPU get it by "
        "themselves",
    ),
    PLACEMENT: Rule(
        f"variables.label in variables.labels && !(variables.labels[variables.label] in {cel.value([*Placement])})",
        f"has a label {PLACEMENT_LABEL} that is none of {', '.join(Placement)}; write one of these",
    ),
}
"""Rules for every pod, by name."""


def broken(exceptions: Sequence[GuardException]) -> dict[str, str]:
    """Variables with the name of the first rule that the pod breaks and no exception lifts, empty where there is none.

    `other` is the first of OTHER_RULES. A message cannot ask for rights (kubernetes.io, page validating-admission-policy): it
    does not know whether a pod with the labels of training may use spot, and so names for it another rule first.
    """
    return {
        "other": _first(OTHER_RULES, exceptions) + "''",
        "broken": (
            "variables.other != '' && variables.mayTrain ? variables.other :\n"
            f"{_first(SPOT_RULES, exceptions)}variables.other"
        ),
    }


def _first(rules: Mapping[str, Rule], exceptions: Sequence[GuardException]) -> str:
    lifted = {rule.value for entry in exceptions for rule in entry.rules}
    return "".join(
        rule.broken
        + (f" && !variables.lifted.exists(rules, {cel.value(name)} in rules)" if name in lifted else "")
        + f" ? {cel.value(name)} :\n"
        for name, rule in rules.items()
    )


def listed(exceptions: Sequence[GuardException]) -> str:
    """The exceptions as a list, each below its reason."""
    entries = "".join(f"\n// {' '.join(entry.reason.split())}\n{_entry(entry)}," for entry in exceptions)
    return f"[{entries}]"


def _entry(entry: GuardException) -> str:
    return cel.value(
        {
            "namespace": entry.namespace,
            "selector": entry.selector,
            "rules": [rule.value for rule in entry.rules],
        }
    )


def validation(instance: str) -> dict[str, str]:
    """One validation for all rules: the API server evaluates every message for every pod, and shows only the first."""
    wrong = "".join(
        f"variables.broken == {cel.value(name)} ? {cel.value(f' {rule.words}{_remedy(name, instance)}')} :\n"
        for name, rule in (SPOT_RULES | OTHER_RULES).items()
    )
    return {
        "expression": "variables.broken == '' || variables.debugs || (variables.other == '' && variables.trains)",
        "messageExpression": (
            "variables.broken == '' ? '' :\n"
            f"'kubeflow-spot guard, rule ' + variables.broken + ': ' + variables.pod + ({wrong}'')"
        ),
        "reason": "Forbidden",
    }


def _remedy(rule: str, instance: str) -> str:
    if rule == PLACEMENT:
        return ""
    named = f" with rules [{rule}]" if rule == GuardRule.NODE_NAME else ""
    return f", or ask the platform team for an entry{named} in scheduling.guard.exceptions of stack {instance}"
