"""The guard: ValidatingAdmissionPolicies, which see a pod after all webhooks.

They keep pods that must not be evicted off spot, and pods without a GPU off GPU machines. In
profiles they also refuse pods that would displace pods of other teams or of the platform.

Two policies share the rules. In platform namespaces every pod is kept off spot. That policy admits
pods that it cannot judge and ignores node agents, because a broken policy must not stop the pods
that repair a cluster. In profile namespaces every pod that does not end by itself is kept off spot
(`workload_kinds.ENDS`), with any labels and of any controller: notebooks, viewers, dashboards,
datastores, KServe's predictors. There a pod without a GPU may not tolerate the GPU taint either:
the autoscaler would buy a GPU node for it (docs/adr/0021).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pulumi_kubernetes as k8s

from components.layer import cel, names
from components.layer.part import Inside, Part
from components.layer.policies import Validating, declare, named, validating
from components.layer.scheduling import guard_rules as rules
from components.layer.scheduling import workload_kinds
from components.layer.scheduling.defaults import profiles, waits
from config.clouds.traits import Cloud
from config.model.pool import Capacity, Taint
from config.model.scheduling import Guard, Scheduling
from config.placement.node_pools import CAPACITY_LABEL, GPU_TAINT, POOL_LABEL, NodePool
from config.placement.pods import PLACEMENT_LABEL, spot_taints

ROLE = "guard"


def policies(
    scheduling: Scheduling, pools: Sequence[NodePool], cloud: Cloud, instance: str
) -> Iterator[tuple[str, Validating]]:
    """Yield each policy with its binding, by its role."""
    guard = scheduling.guard
    variables = _variables(guard, pools, cloud)
    gpus = any(pool.gpus for pool in pools)
    yield _policy(
        "platform",
        guard,
        instance,
        variables
        | {
            "kept": _kept_in_platform(guard),
            "mayTrain": "false",
            "trains": "false",
            "parks": "false",
        },
        rules.OTHER_RULES,
        selector=named("In", guard.guarded_namespaces),
        failure="Ignore",
        conditions={"not-an-agent": rules.NOT_AN_AGENT, "changed": rules.CHANGED},
    )
    yield _policy(
        "profiles",
        guard,
        instance,
        variables
        | {
            "kept": rules.LASTING,
            "mayTrain": workload_kinds.MAY_TRAIN,
            "trains": workload_kinds.TRAINS,
            "parks": _parks(guard) if gpus else "false",
        },
        rules.OTHER_RULES | rules.PROFILE_RULES,
        selector=profiles(scheduling),
        failure="Fail",
        # No agent of a node is in a profile: a DaemonSet there is its user's, and its pods are as
        # any others.
        conditions={
            "not-an-agent": rules.NOT_BY_A_NODE,
            "changed": rules.CHANGED,
            "may-break-a-rule": rules.suspect(gpus=gpus),
        },
    )
    if gpus and guard.device_classes:
        yield "claims", _claims(scheduling, instance, rules.ACTIONS[guard.mode])


def _variables(guard: Guard, pools: Sequence[NodePool], cloud: Cloud) -> dict[str, str]:
    """Return the variables of both policies; four of them differ."""
    taints = spot_taints(pools, cloud)
    # Spot pools of other owners have the cloud's own labels.
    ending = [pool for pool in pools if pool.capacity != Capacity.ON_DEMAND]
    labels = {
        CAPACITY_LABEL: sorted(
            {Capacity.SPOT.value, *(pool.capacity.value for pool in ending)}, reverse=True
        ),
        POOL_LABEL: sorted(pool.label for pool in ending),
    }
    for key, value in cloud.spot_labels:
        labels.setdefault(key, []).append(value)
    excepted = (
        {"exceptions": rules.listed(guard.exceptions), "lifted": rules.LIFTED}
        if guard.exceptions
        else {}
    )
    return {
        "label": cel.value(PLACEMENT_LABEL),
        "labels": cel.LABELS,
        "taints": _listed(taints),
        "gpuTaints": _listed({GPU_TAINT}),
        "waits": waits(pools, f"({workload_kinds.GPU})"),
        "spot": cel.value(labels),
        **excepted,
        # A variable can use only earlier ones; the two policies replace these four.
        "kept": "",
        "mayTrain": "",
        "trains": "",
        "parks": "",
        # The API server cannot infer the type of an empty list.
        "tolerates": rules.TOLERATES.substitute(taints="taints") if taints else "false",
        "requires": rules.REQUIRES,
        "debugs": rules.DEBUGS,
        "pod": rules.POD,
    }


def _kept_in_platform(guard: Guard) -> str:
    """Return the platform's test: every pod is kept off spot, but allowed pipeline steps."""
    if not guard.pipeline_namespaces:
        return "true"
    return (
        f"!(request.namespace in {cel.value(guard.pipeline_namespaces)} && "
        f"{workload_kinds.WORKFLOW}\n"
        f"&& {workload_kinds.ENDS})"
    )


def _parks(guard: Guard) -> str:
    """Return the test whether a pod tolerates the GPU taint and asks for no GPU."""
    claims = " && !has(object.spec.resourceClaims)" if guard.device_classes else ""
    return f"{rules.TOLERATES.substitute(taints='gpuTaints')}\n&& !({workload_kinds.GPU}){claims}"


def _policy(
    role: str,
    guard: Guard,
    instance: str,
    variables: Mapping[str, str],
    others: Mapping[str, rules.Rule],
    *,
    selector: k8s.meta.v1.LabelSelectorArgs,
    failure: str,
    conditions: Mapping[str, str],
) -> tuple[str, Validating]:
    return role, validating(
        names.object_name(instance, f"{ROLE}-{role}"),
        instance,
        selector,
        operations=["CREATE", "UPDATE"],
        failure=failure,
        conditions=conditions,
        variables={**variables, **rules.broken(guard.exceptions, others)},
        validation=rules.validation(instance, others),
        action=rules.ACTIONS[guard.mode],
    )


def _listed(taints: Iterable[Taint]) -> str:
    return cel.value([taint.model_dump(mode="json") for taint in sorted(taints, key=str)])


_CLAIM = "has(object.spec.spec) ? object.spec.spec : object.spec"
"""The claim of a template, or the claim itself."""

_CLAIM_ASKS = """\
has(variables.claim.devices) && has(variables.claim.devices.requests) && variables.claim.devices.requests != null
&& variables.claim.devices.requests.size() > 0"""


def _claims(scheduling: Scheduling, instance: str, action: str) -> Validating:
    """Return the policy of profiles that refuses empty claims for devices, and its binding.

    A pod with a claim may tolerate the GPU taint if the stack file names the device classes of its
    GPUs. The pod does not show what its claim asks for, and a template's claim does not exist yet.
    An empty claim is granted on every node and would open the GPU nodes to any pod. Claims and
    templates never change (kubernetes.io, page dra-api).
    """
    classes = ", ".join(scheduling.guard.device_classes)
    message = (
        "kubeflow-spot guard, rule empty-claim: asks for no device, so that a pod with it would "
        "pass as one with a GPU; ask for a "
        f"device, such as one of class {classes}"
    )
    return validating(
        names.object_name(instance, f"{ROLE}-claims"),
        instance,
        profiles(scheduling),
        resources={"resource.k8s.io": ["resourceclaims", "resourceclaimtemplates"]},
        operations=["CREATE"],
        variables={"claim": _CLAIM},
        validation=k8s.admissionregistration.v1.ValidationArgs(
            expression=_CLAIM_ASKS, message=message, reason="Forbidden"
        ),
        action=action,
    )


class SpotGuard(Part):
    """The policies in the cluster. They deliberately evict nothing: pods that exist stay."""

    def __init__(
        self,
        name: str,
        scheduling: Scheduling,
        pools: Sequence[NodePool],
        cloud: Cloud,
        inside: Inside,
    ) -> None:
        super().__init__("kubeflow-spot:addons:SpotGuard", name, inside)
        for role, policy in policies(scheduling, pools, cloud, self.instance):
            declare(self, f"{name}-{role}", policy)
        self.register_outputs({})
