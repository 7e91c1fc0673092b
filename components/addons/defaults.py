"""Who prefers spot by default: one MutatingAdmissionPolicy, which appends to a pod and never changes what is there.

Kubernetes >= 1.36. A pod is judged as it arrives, before all webhooks (kubernetes pkg/kubeapiserver/options/plugins.go).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pulumi

from components.addons import cel, kinds, names
from components.addons.manifest import Manifest
from spec.placement import NodePool
from spec.pods import ON_SPOT, PLACEMENT_LABEL, PREFERENCE, tolerations, usable
from spec.scheduling import Defaults, Placement

FIRST_VERSION = (1, 36)
"""The first Kubernetes with MutatingAdmissionPolicy `v1` (KEP-3962)."""

ROLE = "defaults"

PROFILES = {"matchLabels": {"app.kubernetes.io/part-of": "kubeflow-profile"}}
"""The namespaces of Kubeflow profiles (kubeflow/manifests applications/profiles/pss/namespace-labels.yaml)."""

# Deployments, StatefulSets and DaemonSets allow nothing but Always (kubernetes pkg/apis/apps/validation).
_ENDS = "object.spec.restartPolicy != 'Always'"

_PLACEMENT = """\
variables.label in variables.labels ? variables.labels[variables.label] :
variables.kind == '' ? 'none' :
variables.label in namespaceObject.metadata.labels ? namespaceObject.metadata.labels[variables.label] :
variables.gpu ? variables.defaults.gpu[variables.kind] : variables.defaults.cpu[variables.kind]"""

_MISSING = """\
(!(variables.placement in variables.tolerated) ? [] : variables.tolerated[variables.placement])
  .filter(t, !has(object.spec.tolerations) || !object.spec.tolerations.exists(o, has(o.key) && o.key == t.key))"""

_PATCH = """\
!(variables.placement in ['prefer-spot', 'require-spot', 'on-demand']) ? [] :
// Never without any: DefaultTolerationSeconds has run.
(has(object.spec.tolerations) ? [] : [JSONPatch{op: 'add', path: '/spec/tolerations', value: []}])
+ variables.missing.map(t, JSONPatch{op: 'add', path: '/spec/tolerations/-', value: t})
+ (variables.placement == 'on-demand' ? [] :
   !has(object.spec.affinity) ?
     [JSONPatch{op: 'add', path: '/spec/affinity', value: {'nodeAffinity': variables.whole}}] :
   !has(object.spec.affinity.nodeAffinity) ?
     [JSONPatch{op: 'add', path: '/spec/affinity/nodeAffinity', value: variables.whole}] :
   variables.placement == 'prefer-spot' ?
     (!has(object.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution) ?
        [JSONPatch{op: 'add', path: variables.preferred, value: [variables.term]}] :
      object.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.exists(p,
          has(p.preference.matchExpressions)
          && p.preference.matchExpressions.exists(e, e.key == variables.condition.key)) ? [] :
        [JSONPatch{op: 'add', path: variables.preferred + '/-', value: variables.term}]) :
   !has(object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution) ?
     [JSONPatch{op: 'add', path: variables.required, value: {'nodeSelectorTerms': [variables.only]}}] :
     // One of the terms must hold, so each of them gets the condition.
     lists.range(variables.terms.size())
       // One without any condition matches no node, and goes on so.
       .filter(i, has(variables.terms[i].matchExpressions) ?
          !variables.terms[i].matchExpressions.exists(e, e.key == variables.condition.key) :
          has(variables.terms[i].matchFields))
       .map(i, has(variables.terms[i].matchExpressions) ?
          JSONPatch{op: 'add',
                    path: variables.required + '/nodeSelectorTerms/' + string(i) + '/matchExpressions/-',
                    value: variables.condition} :
          JSONPatch{op: 'add',
                    path: variables.required + '/nodeSelectorTerms/' + string(i) + '/matchExpressions',
                    value: [variables.condition]}))
// 30 is what Kubernetes gives a pod that does not say.
+ (variables.placement == 'on-demand' || !has(object.spec.terminationGracePeriodSeconds)
     || object.spec.terminationGracePeriodSeconds != 30 ? [] :
   [JSONPatch{op: 'replace', path: '/spec/terminationGracePeriodSeconds', value: variables.grace}])"""


def served(version: str) -> bool:
    """Whether an API server of this version, such as 1.36 or v1.36.2-gke.100, has the policy's kind."""
    found = re.match(r"v?(\d+)\.(\d+)", version)
    # One that does not say its version is taken for a new one, which refuses what it does not know.
    return found is None or (int(found[1]), int(found[2])) >= FIRST_VERSION


def policy(
    defaults: Defaults, pools: Sequence[NodePool], grace: int, instance: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The policy and its binding. `grace` in seconds, for pods that may run on spot and kept Kubernetes' default."""
    name = names.object_name(instance, ROLE)
    metadata = {"name": name, "labels": names.labels(instance)}
    created = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    spec = {
        # A pod that is not judged runs on demand, which costs money; one that is refused does not run at all.
        "failurePolicy": "Ignore",
        # What a webhook makes of a pod afterwards is meant so; judging every pod twice would double the cost (bench).
        "reinvocationPolicy": "Never",
        "matchConstraints": {"resourceRules": [created], "namespaceSelector": PROFILES},
        "matchConditions": [{"name": "ends-by-itself", "expression": _ENDS}],
        "variables": [
            {"name": name, "expression": expression} for name, expression in _variables(defaults, pools, grace)
        ],
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": _PATCH}}],
    }
    api = {"apiVersion": "admissionregistration.k8s.io/v1"}
    return (
        {**api, "kind": "MutatingAdmissionPolicy", "metadata": metadata, "spec": spec},
        {**api, "kind": "MutatingAdmissionPolicyBinding", "metadata": metadata, "spec": {"policyName": name}},
    )


def _variables(defaults: Defaults, pools: Sequence[NodePool], grace: int) -> Iterator[tuple[str, str]]:
    chosen = defaults.model_dump(mode="json", by_alias=True)
    by_kind = {resource: {kind: chosen[kind][resource] for kind in kinds.TESTS} for resource in ("gpu", "cpu")}
    affinity = "/spec/affinity/nodeAffinity"
    yield "label", cel.value(PLACEMENT_LABEL)
    yield "labels", cel.LABELS
    yield "kind", kinds.KIND
    yield "gpu", kinds.GPU
    yield "defaults", cel.value(by_kind)
    yield "placement", _PLACEMENT
    yield "tolerated", f"variables.gpu ? {cel.value(_tolerated(pools, True))} : {cel.value(_tolerated(pools, False))}"
    yield "missing", _MISSING
    yield "condition", cel.value(ON_SPOT)
    yield "term", cel.value(PREFERENCE)
    yield "only", "{'matchExpressions': [variables.condition]}"
    yield "preferred", cel.value(f"{affinity}/preferredDuringSchedulingIgnoredDuringExecution")
    yield "required", cel.value(f"{affinity}/requiredDuringSchedulingIgnoredDuringExecution")
    yield (
        "whole",
        "variables.placement == 'prefer-spot' ?\n"
        "{'preferredDuringSchedulingIgnoredDuringExecution': dyn([variables.term])} :\n"
        "{'requiredDuringSchedulingIgnoredDuringExecution': dyn({'nodeSelectorTerms': [variables.only]})}",
    )
    yield "terms", "object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    yield "grace", str(grace)


def _tolerated(pools: Sequence[NodePool], gpu: bool) -> dict[str, list[dict[str, str]]]:
    return {
        placement.value: [one.as_manifest() for one in tolerations(usable(pools, placement, gpu=gpu))]
        for placement in Placement
    }


class PlacementDefaults(pulumi.ComponentResource):
    """The policy in the cluster."""

    def __init__(
        self,
        name: str,
        defaults: Defaults,
        pools: Sequence[NodePool],
        *,
        grace: int,
        instance: str,
        opts: pulumi.ResourceOptions,
        child: pulumi.ResourceOptions,
    ) -> None:
        super().__init__("kubeflow-spot:addons:PlacementDefaults", name, None, opts)
        child = pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(parent=self))
        made, binding = policy(defaults, pools, grace, instance)
        declared = Manifest(name, made, child)
        Manifest(
            f"{name}-binding",
            binding,
            pulumi.ResourceOptions.merge(child, pulumi.ResourceOptions(depends_on=[declared])),
        )
        self.register_outputs({})
