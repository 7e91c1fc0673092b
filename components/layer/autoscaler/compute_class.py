"""The order in which GKE grows pools: a ComputeClass, and a policy that makes pods with GPUs ask
for it.

GKE's autoscaler takes the cheapest pool that fits unless a pod asks for a class, by a nodeSelector
(docs.cloud.google.com/kubernetes-engine/docs/concepts/about-custom-compute-classes). Spot taints
stay on the pools, so the class decides the order, and a pod's tolerations decide whether it may
land on spot, as everywhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from components.layer import cel, names
from components.layer.part import Inside, Part, metadata
from components.layer.policies import Mutating, mutating, named
from components.output_types import ComputeClassOutput
from config.clouds.traits import Cloud, PoolClass
from config.model.pool import Toleration
from config.model.release import FIRST_MUTATING_VERSION, has_mutating_policies
from config.model.spec import ClusterSpec
from config.placement.growth_order import growth_order
from config.placement.node_pools import GPU_TAINT, POOL_LABEL, NodePool

ROLE = "compute-class"

NODE_POOL = "cloud.google.com/gke-nodepool"
"""GKE's own label of a pool's nodes."""

# The cheapest test comes first, because most pods fail it. One resource name is enough, unlike in
# `workload_kinds.GPU`: on GKE a MIG instance and a share of a GPU are `nvidia.com/gpu` too (pages
# gpus-multi, timesharing-gpus). Another difference has no reason: a limit of 0 counts here but not
# in `workload_kinds.GPU`.
_GPU = cel.value(GPU_TAINT.key)
_ASKS = f"""\
object.spec.containers.exists(c, has(c.resources) && has(c.resources.limits) && {_GPU} in c.resources.limits)
|| (has(object.spec.initContainers) && object.spec.initContainers.exists(c,
      has(c.resources) && has(c.resources.limits) && {_GPU} in c.resources.limits))"""

# A DaemonSet's pod and a pod with a nodeName have their node already.
_FREE = f"""\
!(has(object.spec.nodeName) && object.spec.nodeName != '')
&& {cel.NOT_BY_DAEMON_SETS}
&& {cel.NOT_OF_A_DAEMON_SET}"""

_UNDECIDED = Template("""\
// Whoever names a class, or a pool outside this one, has chosen. What is asked of members is no other choice.
(!has(object.spec.nodeSelector)
 || !object.spec.nodeSelector.exists(k, k in $choice || (k == $pool && !(object.spec.nodeSelector[k] in $members))))
&& !(has(object.spec.affinity) && has(object.spec.affinity.nodeAffinity)
     && has(object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution)
     && object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.exists(t,
        has(t.matchExpressions) && t.matchExpressions.exists(e,
          e.key in $choice
          || (e.key == $pool && !(e.operator == 'In' && e.values.all(v, v in $members))))))""")

_PATCH = Template("""\
(has(object.spec.nodeSelector) ?
   [JSONPatch{op: 'add', path: '/spec/nodeSelector/' + jsonpatch.escapeKey($label), value: $name}] :
   [JSONPatch{op: 'add', path: '/spec/nodeSelector', value: {$label: $name}}])
+ (!has(object.spec.tolerations) ? [JSONPatch{op: 'add', path: '/spec/tolerations', value: [$toleration]}] :
   object.spec.tolerations.exists(t, has(t.key) && t.key == $label) ? [] :
   [JSONPatch{op: 'add', path: '/spec/tolerations/-', value: $toleration}])""")


@dataclass(frozen=True)
class ComputeClassPlan:
    """The class of a stack; `ComputeClassPlan()` for a stack without one."""

    pool_class: PoolClass | None = None
    members: tuple[NodePool, ...] = ()
    """In the order of growth."""
    by_default: bool = False
    """Whether a policy makes pods ask for it."""
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str | None:
        """The name of the class."""
        return self.pool_class.name if self.pool_class else None

    @property
    def outputs(self) -> dict[str, Any]:
        """The stack's outputs by name."""
        if self.name is None:
            return {}
        pools = [pool.name for pool in self.members]
        shown: ComputeClassOutput = {
            "name": self.name,
            "pools": pools,
            "byDefault": self.by_default,
        }
        return {"computeClass": shown}


def plan(
    spec: ClusterSpec,
    cloud: Cloud,
    node_pools: Sequence[NodePool],
    version: str,
    instance: str,
    existing: Mapping[str, Any] | None = None,
) -> ComputeClassPlan:
    """Return the plan. `version`: the API server's; `existing`: the cluster's ComputeClass of that
    name, of any owner.

    Raise `pulumi.RunError` if the name is taken.
    """
    pool_class = cloud.pool_class(spec)
    rank = {pool: number for number, pool in enumerate(growth_order(spec, node_pools, cloud))}
    members = sorted(
        (pool for pool in node_pools if pool.selector), key=lambda pool: rank[pool.name]
    )
    if pool_class is None or not members:
        return ComputeClassPlan()
    labels = names.labels_of(existing or {})
    if existing and not names.is_ours(labels, instance):
        raise pulumi.RunError(
            f"cloud.fallback.className: cluster {spec.name} has a ComputeClass "
            f"{pool_class.name!r}, made by {names.owner(labels)}\n"
            "  set `cloud.fallback.className` to a name of this stack's own"
        )
    able = has_mutating_policies(version) and spec.scheduling.enabled
    # The rules report it for a new cluster.
    reported = spec.cloud.existing_name is None or has_mutating_policies(version)
    return ComputeClassPlan(
        pool_class, tuple(members), able, () if reported else (_shortfall(pool_class, version),)
    )


def _shortfall(pool_class: PoolClass, version: str) -> str:
    return (
        f"Kubernetes {version} has no MutatingAdmissionPolicy ({FIRST_MUTATING_VERSION} is the "
        "first): no pod asks for"
        f" ComputeClass {pool_class.name} by itself, and a pod that does not ask gets none of its "
        "GPUs\n"
        f"  instead: pods carry the nodeSelector {pool_class.key}: {pool_class.name}"
    )


def class_spec(plan: ComputeClassPlan) -> dict[str, Any]:
    """Return the spec of the ComputeClass, with one rule for each pool to fix the order."""
    assert plan.pool_class
    delay = plan.pool_class.consolidation_delay_minutes
    return {
        "priorities": [{"nodepools": [pool.name]} for pool in plan.members],
        # The default differs between versions.
        "whenUnsatisfiable": plan.pool_class.when_unsatisfiable,
        "activeMigration": {"optimizeRulePriority": plan.pool_class.active_migration},
        "nodePoolAutoCreation": {"enabled": False},
        **({"autoscalingPolicy": {"consolidationDelayMinutes": delay}} if delay else {}),
    }


def policy(plan: ComputeClassPlan, instance: str) -> Mutating:
    """Return the policy that gives pods with GPUs the class, and its binding."""
    assert plan.pool_class
    label, taint = plan.pool_class.key, plan.pool_class.taint
    toleration = Toleration(key=taint.key, value=taint.value, effect=taint.effect)
    undecided = _UNDECIDED.substitute(
        choice=cel.value([label, NODE_POOL]),
        pool=cel.value(POOL_LABEL),
        members=cel.value(sorted(pool.label for pool in plan.members)),
    )
    patch = _PATCH.substitute(
        label=cel.value(label),
        name=cel.value(plan.name),
        toleration=cel.value(toleration.as_manifest()),
    )
    return mutating(
        names.object_name(instance, ROLE),
        instance,
        named("NotIn", ["kube-system"]),
        conditions={"asks-for-a-gpu": _ASKS, "has-no-node": _FREE, "has-not-chosen": undecided},
        patch=patch,
    )


class ComputeClass(Part):
    """The class in the cluster, and the policy if the cluster has MutatingAdmissionPolicy.

    It deliberately creates no node pools: GKE's automatic creation stays off.
    """

    def __init__(self, name: str, plan: ComputeClassPlan, inside: Inside) -> None:
        super().__init__("kubeflow-spot:addons:ComputeClass", name, inside)
        assert plan.name
        declared = k8s.apiextensions.CustomResource(
            name,
            api_version="cloud.google.com/v1",
            kind="ComputeClass",
            metadata=metadata(plan.name, self.instance),
            spec=class_spec(plan),
            opts=self.child,
        )
        if plan.by_default:
            class_policy, binding = policy(plan, self.instance)
            sends = k8s.admissionregistration.v1.MutatingAdmissionPolicy(
                f"{name}-policy", class_policy, self.child
            )
            # Pods must not ask for a class that does not exist yet.
            k8s.admissionregistration.v1.MutatingAdmissionPolicyBinding(
                f"{name}-binding", binding, self.after(declared, sends)
            )
        self.register_outputs({})
