"""Placement by default: one MutatingAdmissionPolicy, which appends to a pod and never changes its
own lines.

It needs Kubernetes 1.36 and sees a pod before all webhooks (kubernetes
pkg/kubeapiserver/options/plugins.go).
"""

from __future__ import annotations

from collections.abc import Sequence
from string import Template

import pulumi_kubernetes as k8s

from components.layer import cel, names
from components.layer.part import Inside, Part
from components.layer.policies import Mutating, declare, mutating, named
from components.layer.scheduling import workload_kinds
from config.model.scheduling import Defaults, Placement, Scheduling
from config.placement.node_pools import NodePool
from config.placement.pods import ON_SPOT, PLACEMENT_LABEL, PREFERENCE, tolerations, usable

ROLE = "defaults"

_OF_A_PROFILE = {"app.kubernetes.io/part-of": "kubeflow-profile"}
"""Label of Kubeflow profiles' namespaces (kubeflow/manifests
applications/profiles/pss/namespace-labels.yaml)."""

# A pod that never ends gets no default. The label counts for a training pod even if its restart
# policy is Always.
MAY_MOVE = f"""\
({workload_kinds.ENDS})
|| (has(object.metadata.labels) && {cel.value(PLACEMENT_LABEL)} in object.metadata.labels && {workload_kinds.TRAINS})"""

# Constants are inlined: each variable costs every pod some microseconds (`python -m bench`).
_PLACEMENT = Template("""\
$label in variables.labels ? variables.labels[$label] :
variables.kind == '' ? 'none' :
$label in namespaceObject.metadata.labels ? $of_namespace :
variables.gpu ? ($gpu) : ($cpu)""")

_PATCH = Template("""\
!(variables.placement in ['prefer-spot', 'require-spot', 'on-demand']) ? [] :
// Never without any: DefaultTolerationSeconds has run.
(has(object.spec.tolerations) ? [] : [JSONPatch{op: 'add', path: '/spec/tolerations', value: []}])
+ (variables.gpu ? $tolerated_with_gpu : $tolerated_without_gpu)
    .filter(t, !has(object.spec.tolerations) || !object.spec.tolerations.exists(o, has(o.key) && o.key == t.key))
    .map(t, JSONPatch{op: 'add', path: '/spec/tolerations/-', value: t})
+ (variables.placement == 'on-demand' ? [] :
   variables.placement == 'prefer-spot' ?
     (!has(object.spec.affinity) ?
        [JSONPatch{op: 'add', path: '/spec/affinity', value: {'nodeAffinity': {$preferred: [$term]}}}] :
      !has(object.spec.affinity.nodeAffinity) ?
        [JSONPatch{op: 'add', path: '/spec/affinity/nodeAffinity', value: {$preferred: [$term]}}] :
      !has(object.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution) ?
        [JSONPatch{op: 'add', path: '/spec/affinity/nodeAffinity/' + $preferred, value: [$term]}] :
      object.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.exists(p,
          has(p.preference.matchExpressions) && p.preference.matchExpressions.exists(e, e.key == $capacity)) ? [] :
        [JSONPatch{op: 'add', path: '/spec/affinity/nodeAffinity/' + $preferred + '/-', value: $term}]) :
   !has(object.spec.affinity) ?
     [JSONPatch{op: 'add', path: '/spec/affinity',
                value: {'nodeAffinity': {$required: {'nodeSelectorTerms': [{'matchExpressions': [$condition]}]}}}}] :
   !has(object.spec.affinity.nodeAffinity) ?
     [JSONPatch{op: 'add', path: '/spec/affinity/nodeAffinity',
                value: {$required: {'nodeSelectorTerms': [{'matchExpressions': [$condition]}]}}}] :
   !has(object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution) ?
     [JSONPatch{op: 'add', path: '/spec/affinity/nodeAffinity/' + $required,
                value: {'nodeSelectorTerms': [{'matchExpressions': [$condition]}]}}] :
     // One of the terms must hold, so each of them gets the condition; one that is empty matches no node, and goes on so.
     lists.range(variables.terms.size())
       .filter(i, has(variables.terms[i].matchExpressions) ?
          !variables.terms[i].matchExpressions.exists(e, e.key == $capacity) :
          has(variables.terms[i].matchFields))
       .map(i, JSONPatch{
          op: 'add',
          path: '/spec/affinity/nodeAffinity/' + $required + '/nodeSelectorTerms/' + string(i) + '/matchExpressions'
                + (has(variables.terms[i].matchExpressions) ? '/-' : ''),
          value: has(variables.terms[i].matchExpressions) ? dyn($condition) : dyn([$condition])}))
// 30 is what Kubernetes gives a pod that does not say.
+ (variables.placement == 'on-demand' || !has(object.spec.terminationGracePeriodSeconds)
     || object.spec.terminationGracePeriodSeconds != 30 ? [] :
   [JSONPatch{op: 'replace', path: '/spec/terminationGracePeriodSeconds', value: $grace}])""")

_TERMS = "object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"


def profiles(scheduling: Scheduling) -> k8s.meta.v1.LabelSelectorArgs:
    """Return the selector of the namespaces of this stack's profiles."""
    return k8s.meta.v1.LabelSelectorArgs(
        match_labels={**scheduling.profile_labels, **_OF_A_PROFILE}
    )


def policy(
    scheduling: Scheduling,
    pools: Sequence[NodePool],
    grace: int,
    instance: str,
    pipelines_in: Sequence[str] = (),
    also: str = "",
) -> Mutating:
    """Return the policy and its binding. `grace`: seconds, for pods that may run on spot and have
    Kubernetes' default. `also`: a further patch.

    `pipelines_in`: platform namespaces whose workflow pods the policy is for, in place of profiles.
    """
    conditions = {"ends-by-itself": MAY_MOVE}
    if pipelines_in:
        conditions = {
            "of-a-workflow": workload_kinds.WORKFLOW,
            "ends-by-itself": workload_kinds.ENDS,
        }
    return mutating(
        names.object_name(instance, f"{ROLE}-pipelines" if pipelines_in else ROLE),
        instance,
        named("In", pipelines_in) if pipelines_in else profiles(scheduling),
        conditions=conditions,
        variables={
            "labels": cel.LABELS,
            "gpu": workload_kinds.GPU,
            "role": workload_kinds.ROLE,
            "kind": workload_kinds.KIND,
            "placement": _PLACEMENT.substitute(
                label=cel.value(PLACEMENT_LABEL),
                of_namespace=_of_namespace(pools),
                gpu=_default(scheduling.defaults, "gpu"),
                cpu=_default(scheduling.defaults, "cpu"),
            ),
            "terms": _TERMS,
        },
        patch=f"({_patch(pools, grace)})\n+ {also}" if also else _patch(pools, grace),
    )


def _of_namespace(pools: Sequence[NodePool]) -> str:
    """Return the namespace's placement; `require-spot` without a spot pool counts as none."""
    asked, without = (
        f"namespaceObject.metadata.labels[{cel.value(PLACEMENT_LABEL)}]",
        waits(pools, "variables.gpu"),
    )
    return (
        asked
        if without == "false"
        else f"({asked} == 'require-spot' && {without} ? 'none' : {asked})"
    )


def waits(pools: Sequence[NodePool], gpu: str) -> str:
    """Return the test whether no spot pool fits a pod. `gpu`: whether it asks for a GPU."""
    with_gpu, without = (
        not usable(pools, Placement.REQUIRE_SPOT, gpu=gpus) for gpus in (True, False)
    )
    return cel.value(with_gpu) if with_gpu == without else f"{gpu} == {cel.value(with_gpu)}"


def _patch(pools: Sequence[NodePool], grace: int) -> str:
    return _PATCH.substitute(
        tolerated_with_gpu=_tolerated(pools, gpu=True),
        tolerated_without_gpu=_tolerated(pools, gpu=False),
        preferred=cel.value("preferredDuringSchedulingIgnoredDuringExecution"),
        required=cel.value("requiredDuringSchedulingIgnoredDuringExecution"),
        term=cel.value(PREFERENCE),
        condition=cel.value(ON_SPOT),
        capacity=cel.value(ON_SPOT["key"]),
        grace=grace,
    )


# CEL evaluates only one branch; a map of all cases would be built for every pod.
def _default(defaults: Defaults, resource: str) -> str:
    """Return the stack file's placement, chosen by `variables.kind`."""
    chosen = defaults.model_dump(mode="json", by_alias=True)
    values = [chosen[kind][resource] for kind in workload_kinds.KINDS]
    usual = max(set(values), key=values.count)
    other = {
        kind: value
        for kind, value in zip(workload_kinds.KINDS, values, strict=True)
        if value != usual
    }
    cases = "".join(
        f"variables.kind == {cel.value(kind)} ? {cel.value(value)} : "
        for kind, value in other.items()
    )
    return cases + cel.value(usual)


def _tolerated(pools: Sequence[NodePool], *, gpu: bool) -> str:
    """Return the tolerations that a pod needs, chosen by `variables.placement`."""
    given = {
        place: [t.as_manifest() for t in tolerations(usable(pools, place, gpu=gpu))]
        for place in Placement
    }
    cases = (
        f"variables.placement == {cel.value(place)} ? {cel.value(some)} :\n"
        for place, some in given.items()
        if some
    )
    return f"({''.join(cases)}[])"


class PlacementDefaults(Part):
    """The policy in the cluster, and the one for pipelines in platform namespaces if the stack file
    names any.

    It deliberately changes no line that a pod has, and no pod that exists.
    """

    def __init__(
        self,
        name: str,
        scheduling: Scheduling,
        pools: Sequence[NodePool],
        inside: Inside,
        *,
        grace: int,
        also: str = "",
    ) -> None:
        super().__init__("kubeflow-spot:addons:PlacementDefaults", name, inside)
        declare(self, name, policy(scheduling, pools, grace, self.instance, also=also))
        if pipelines_in := scheduling.guard.pipeline_namespaces:
            declare(
                self,
                f"{name}-pipelines",
                policy(scheduling, pools, grace, self.instance, pipelines_in, also),
            )
        self.register_outputs({})
