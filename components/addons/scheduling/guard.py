"""The guard: ValidatingAdmissionPolicies, which see a pod after all webhooks. They keep pods off spot that must not be evicted, and
pods without a GPU off GPU machines.

Two policies have the same rules. In the platform's namespaces every pod is kept off. A broken policy must not stop the pods that a
broken cluster needs, so their policy admits pods that it cannot judge. In profile namespaces every pod that never ends by itself is
kept off, with any labels: Deployments and StatefulSets allow no other restartPolicy (kubernetes
pkg/apis/apps/validation), and notebooks, viewers, dashboards, datastores and KServe's predictors are made of those. There a pod
without a GPU may not tolerate the GPU taint either, as the autoscaler buys a GPU node for it (docs/adr/0024).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from string import Template
from typing import Any

from components.addons import cel, names
from components.addons.manifest import Manifest
from components.addons.part import Inside, Part
from components.addons.scheduling import workload_kinds
from components.addons.scheduling.defaults import PROFILES
from config.clouds.traits import Cloud
from config.model.pool import Capacity
from config.model.scheduling import Guard, GuardException, Placement
from config.model.taint import Taint
from config.placement.node_pools import CAPACITY_LABEL, GPU_TAINT, POOL_LABEL, NodePool
from config.placement.pods import PLACEMENT_LABEL, spot_taints

ROLE = "guard"

_ACTIONS = {"enforce": "Deny", "warn": "Warn", "audit": "Audit"}

_NOT_AN_AGENT = f"""\
// A DaemonSet's pods belong on every node; what its controller is called tells more than an owner that anybody may write.
!('system:nodes' in request.userInfo.groups)
&& {cel.NOT_BY_DAEMON_SETS}
// Where all controllers are one user, that one writes true owners.
&& {cel.NOT_OF_A_DAEMON_SET}"""

_CHANGED = """\
// What was let in once may be updated: refusing to take a finalizer away would keep the pod for ever.
request.operation == 'CREATE'
|| object.spec.?tolerations != oldObject.spec.?tolerations
|| object.spec.?nodeSelector != oldObject.spec.?nodeSelector
|| object.spec.?affinity != oldObject.spec.?affinity"""

# The Training Operator's replicas may say Always and are training all the same (kubeflow/trainer 1.9, manifests).
_LASTING = """\
object.spec.restartPolicy == 'Always'
&& request.userInfo.username != 'system:serviceaccount:kubeflow:training-operator'"""

# Cheap filter: skip pods that cannot break a rule.
_SUSPECT = f"""\
object.spec.restartPolicy == 'Always'
|| has(object.spec.nodeName)
|| (has(object.metadata.labels) && {cel.value(PLACEMENT_LABEL)} in object.metadata.labels)"""

# Pods that ask for a GPU have the toleration too (ExtendedResourceToleration), and pass the rules.
_MAY_PARK = f"""
|| (has(object.spec.tolerations)
    && object.spec.tolerations.exists(t, !has(t.key) || t.key in ['', {cel.value(GPU_TAINT.key)}]))"""

_TOLERATES = Template("""\
// https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
has(object.spec.tolerations) && object.spec.tolerations.exists(t, variables.$taints.exists(s,
  (!has(t.effect) || t.effect in ['', s.effect])
  && (!has(t.key) || t.key == '' ? has(t.operator) && t.operator == 'Exists' :
      t.key == s.key
      && (has(t.operator) && !(t.operator in ['', 'Equal']) || (has(t.value) ? t.value : '') == s.value))))""")

_REQUIRES = """\
(variables.label in variables.labels && variables.labels[variables.label] == 'require-spot')
|| (has(object.spec.nodeSelector)
    && object.spec.nodeSelector.exists(k, k in variables.spot && object.spec.nodeSelector[k] in variables.spot[k]))
// One of the terms must hold, so all of them must ask for spot.
|| (has(object.spec.affinity) && has(object.spec.affinity.nodeAffinity)
    && has(object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution)
    && object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.all(t,
       has(t.matchExpressions) && t.matchExpressions.exists(e,
         e.key in variables.spot && e.operator == 'In' && e.values.all(v, v in variables.spot[e.key]))))"""

_EXCEPTED = """\
variables.exceptions.exists(x, x.namespace == request.namespace
  && x.selector.all(k, k in variables.labels && variables.labels[k] == x.selector[k]))"""

_POD = """\
'pod ' + request.namespace + '/'
+ (has(object.metadata.name) && object.metadata.name != '' ? object.metadata.name :
   has(object.metadata.generateName) ? object.metadata.generateName + '*' : '')
+ (has(object.metadata.ownerReferences) && object.metadata.ownerReferences.size() > 0 ?
   ' of ' + object.metadata.ownerReferences[0].kind + ' ' + object.metadata.ownerReferences[0].name : '')"""

_RULES = {
    "tolerates-spot": (
        "variables.kept && variables.tolerates",
        "tolerates the taint of spot machines, which vanish; take the toleration out",
    ),
    "tolerates-gpu": (
        "variables.parks",
        "tolerates the taint of GPU machines and asks for no GPU; take the toleration out, as pods that ask for a GPU get it by "
        "themselves",
    ),
    "requires-spot": (
        "variables.kept && variables.requires",
        "asks for spot machines, which vanish; take that out",
    ),
    "node-name": (
        "request.operation == 'CREATE' && has(object.spec.nodeName) && object.spec.nodeName != ''",
        "names its node, past the scheduler and all taints; take spec.nodeName out",
    ),
    "placement": (
        f"variables.label in variables.labels && !(variables.labels[variables.label] in {cel.value([*Placement])})",
        f"has a label {PLACEMENT_LABEL} that is none of {', '.join(Placement)}; write one of these",
    ),
}
"""By name: the condition that breaks the rule, and the message."""

_BROKEN = "".join(f"{broken} ? {cel.value(rule)} :\n" for rule, (broken, _) in _RULES.items()) + "''"


def policies(
    guard: Guard, pools: Sequence[NodePool], cloud: Cloud, instance: str
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each policy with its binding."""
    taints = spot_taints(pools, cloud)
    # Spot pools of other owners have the cloud's own labels.
    labels = {
        CAPACITY_LABEL: [Capacity.SPOT.value],
        POOL_LABEL: sorted(pool.label for pool in pools if pool.capacity == Capacity.SPOT),
    }
    for key, value in cloud.spot_labels:
        labels.setdefault(key, []).append(value)
    platform = {
        "matchExpressions": [
            {"key": "kubernetes.io/metadata.name", "operator": "In", "values": sorted(guard.platform_namespaces)}
        ]
    }
    gpus = any(pool.gpus for pool in pools)
    suspect = _SUSPECT + (_MAY_PARK if gpus else "")
    # A claim of dynamic resource allocation may be for a GPU.
    parks = (
        f"{_TOLERATES.substitute(taints='gpuTaints')}\n&& !({workload_kinds.GPU}) && !has(object.spec.resourceClaims)"
    )
    for role, selector, kept, parked, failure, conditions in (
        ("platform", platform, "true", "false", "Ignore", ()),
        (
            "profiles",
            PROFILES,
            _LASTING,
            parks if gpus else "false",
            "Fail",
            ({"name": "may-break-a-rule", "expression": suspect},),
        ),
    ):
        name = names.object_name(instance, f"{ROLE}-{role}")
        metadata = {"name": name, "labels": names.labels(instance)}
        variables = {
            "label": cel.value(PLACEMENT_LABEL),
            "labels": cel.LABELS,
            "taints": _listed(taints),
            "gpuTaints": _listed({GPU_TAINT}),
            "spot": cel.value(labels),
            "exceptions": _exceptions(guard.exceptions),
            "kept": kept,
            # The API server cannot infer the type of an empty list.
            "tolerates": _TOLERATES.substitute(taints="taints") if taints else "false",
            "parks": parked,
            "requires": _REQUIRES,
            "excepted": _EXCEPTED if guard.exceptions else "false",
            "pod": _POD,
            "broken": _BROKEN,
        }
        yield (
            {
                **_API,
                "kind": "ValidatingAdmissionPolicy",
                "metadata": metadata,
                "spec": {
                    "failurePolicy": failure,
                    "matchConstraints": {"resourceRules": [_PODS], "namespaceSelector": selector},
                    "matchConditions": [
                        {"name": "not-an-agent", "expression": _NOT_AN_AGENT},
                        {"name": "changed", "expression": _CHANGED},
                        *conditions,
                    ],
                    "variables": [{"name": key, "expression": text} for key, text in variables.items()],
                    "validations": [_validation(instance)],
                },
            },
            {
                **_API,
                "kind": "ValidatingAdmissionPolicyBinding",
                "metadata": metadata,
                "spec": {"policyName": name, "validationActions": [_ACTIONS[guard.mode]]},
            },
        )


def _listed(taints: Iterable[Taint]) -> str:
    return cel.value([taint.model_dump(mode="json") for taint in sorted(taints, key=str)])


_API = {"apiVersion": "admissionregistration.k8s.io/v1"}
_PODS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["pods"]}


def _validation(instance: str) -> dict[str, str]:
    """One validation for all rules: the API server evaluates every message for every pod, and shows only the first."""
    ask = f", or ask the platform team for an entry in scheduling.guard.exceptions of stack {instance}"
    wrong = "".join(
        f"variables.broken == {cel.value(rule)} ? {cel.value(f' {words}{ask}')} :\n"
        for rule, (_, words) in _RULES.items()
    )
    return {
        "expression": "variables.broken == '' || variables.excepted",
        "messageExpression": (
            "variables.broken == '' ? '' :\n"
            f"'kubeflow-spot guard, rule ' + variables.broken + ': ' + variables.pod + ({wrong}'')"
        ),
        "reason": "Forbidden",
    }


def _exceptions(exceptions: Sequence[GuardException]) -> str:
    listed = "".join(
        f"\n// {' '.join(entry.reason.split())}\n{cel.value({'namespace': entry.namespace, 'selector': entry.selector})},"
        for entry in exceptions
    )
    return f"[{listed}]"


class SpotGuard(Part):
    """The policies in the cluster."""

    def __init__(
        self,
        name: str,
        guard: Guard,
        pools: Sequence[NodePool],
        cloud: Cloud,
        inside: Inside,
    ) -> None:
        super().__init__("kubeflow-spot:addons:SpotGuard", name, inside)
        for policy, binding in policies(guard, pools, cloud, self.instance):
            role = policy["metadata"]["name"].rpartition("-")[2]
            declared = Manifest(f"{name}-{role}", policy, self.child)
            Manifest(f"{name}-{role}-binding", binding, self.child, after=[declared])
        self.register_outputs({})
