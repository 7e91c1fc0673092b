"""Kubeflow's PodDefaults: a part of placement by default for clusters without
MutatingAdmissionPolicy.

A PodDefault adds tolerations to pods that its labels select. It adds no affinity and does not see
requests (kubeflow/manifests 26.03, applications/admission-webhook/upstream/base/crd.yaml). So
labelled pods may run on spot, but do not prefer it.

Its kind and the profiles' namespaces exist once Kubeflow is installed, on a new cluster after the
first `up`. Write a namespace under `scheduling.profiles` when it exists; until then nothing is
declared. A namespace that is written too early fails the `up` with `no matches for kind
"PodDefault"` or `namespaces ... not found`; the next `up` after Kubeflow succeeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi_kubernetes as k8s

from components.layer import names
from components.layer.part import Inside, Part, metadata
from components.layer.scheduling import contract
from config.model.release import FIRST_MUTATING_VERSION, has_mutating_policies
from config.model.scheduling import Placement, Profile, Scheduling
from config.placement.node_pools import GPU_TAINT, NodePool
from config.placement.pods import PLACEMENT_LABEL, tolerations, usable

ROLE = Placement.PREFER_SPOT.value


def pod_default_spec(pools: Sequence[NodePool]) -> dict[str, Any] | None:
    """Return the spec of each profile's PodDefault; None if pods need no further toleration."""
    given = _given(pools)
    if not given:
        return None
    return {
        # Kubeflow's form for new notebooks shows this text.
        "desc": "Spot machines, for training that can start again; never for notebooks",
        "selector": {"matchLabels": {PLACEMENT_LABEL: Placement.PREFER_SPOT.value}},
        "tolerations": given,
    }


def _given(pools: Sequence[NodePool]) -> list[dict[str, str]]:
    """Return the tolerations that the policy would add, without that of the GPU taint.

    ExtendedResourceToleration has already added that key in another form, and the webhook of
    PodDefaults refuses a pod with a different toleration of the same key (kubeflow/kubeflow
    components/admission-webhook/main.go, mergeTolerations).
    """
    meant = usable(pools, Placement.PREFER_SPOT, gpu=True)
    return [
        toleration.as_manifest()
        for toleration in tolerations(meant)
        if toleration.key != GPU_TAINT.key
    ]


def heeded(
    scheduling: Scheduling, pools: Sequence[NodePool], version: str
) -> tuple[Placement, ...]:
    """Return the values of the placement label that have an effect in a cluster of this version."""
    if has_mutating_policies(version):
        return tuple(Placement)
    return (Placement.PREFER_SPOT,) if scheduling.profiles and _given(pools) else ()


def shortfall(scheduling: Scheduling, pools: Sequence[NodePool], version: str) -> list[str]:
    """Return what a cluster of this version cannot do, and the replacement; else nothing."""
    if has_mutating_policies(version) or not scheduling.enabled:
        return []
    lost = (
        f"Kubernetes {version} has no MutatingAdmissionPolicy ({FIRST_MUTATING_VERSION} is the "
        "first): no pod prefers spot by"
        " itself, scheduling.defaults and scheduling.gracePeriodSeconds have no effect"
    )
    label = f"{PLACEMENT_LABEL}: {Placement.PREFER_SPOT}"
    if heeded(scheduling, pools, version):
        where = ", ".join(profile.namespace for profile in scheduling.profiles)
        return [
            lost,
            f"instead: in {where} a pod labelled {label} gets the tolerations of the GPU pools by "
            "Kubeflow's PodDefaults."
            " It gets no node affinity: of nodes that are there it takes any",
        ]
    if _given(pools):
        return [
            lost,
            "instead: nothing yet. Once Kubeflow is installed, write its profiles' namespaces "
            "under scheduling.profiles:"
            f" pods labelled {label} then get the tolerations",
        ]
    return [
        lost,
        "instead: nothing; pods carry the lines of the contract, a ConfigMap in "
        f"{contract.NAMESPACE} (output contract)",
    ]


class PodDefaults(Part):
    """One PodDefault in each profile. It deliberately creates no namespaces: Kubeflow does."""

    def __init__(
        self,
        name: str,
        profiles: Sequence[Profile],
        pools: Sequence[NodePool],
        inside: Inside,
    ) -> None:
        super().__init__("kubeflow-spot:addons:PodDefaults", name, inside)
        spec = pod_default_spec(pools)
        for profile in profiles if spec else ():
            k8s.apiextensions.CustomResource(
                f"{name}-{profile.namespace}",
                api_version="kubeflow.org/v1alpha1",
                kind="PodDefault",
                metadata=metadata(
                    names.object_name(self.instance, ROLE), self.instance, profile.namespace
                ),
                spec=spec,
                opts=self.child,
            )
        self.register_outputs({})
