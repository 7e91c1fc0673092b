"""Kubeflow's PodDefaults: placement by default, in part, where Kubernetes has no MutatingAdmissionPolicy yet.

A PodDefault gives tolerations to the pods that its labels select; it gives no affinity and does not see requests
(kubeflow/manifests 26.03, applications/admission-webhook/upstream/base/crd.yaml). So pods are only admitted to spot, and must
carry the label.

Its kind and the profiles' namespaces exist once Kubeflow is installed, which on a new cluster is after the first `up`: write a
namespace under `scheduling.profiles` when it exists; until then nothing is declared. A namespace that is written too early fails
the `up` with `no matches for kind "PodDefault"` or `namespaces ... not found`; the next `up` after Kubeflow succeeds.
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
    """The spec of each profile's PodDefault; None where pods need no further toleration."""
    given = _given(pools)
    if not given:
        return None
    return {
        # Kubeflow's form for new notebooks shows it.
        "desc": "Spot machines, for training that can start again; never for notebooks",
        "selector": {"matchLabels": {PLACEMENT_LABEL: Placement.PREFER_SPOT.value}},
        "tolerations": given,
    }


def _given(pools: Sequence[NodePool]) -> list[dict[str, str]]:
    """The tolerations that the policy would add, byte for byte, without that of the GPU taint.

    The admission plugin ExtendedResourceToleration has added a toleration of that key in another form, and the webhook of
    PodDefaults refuses a pod that has a different one of the same key (kubeflow/kubeflow components/admission-webhook/main.go,
    mergeTolerations).
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
    """Values of the placement label that have an effect in a cluster of this version."""
    if has_mutating_policies(version):
        return tuple(Placement)
    return (Placement.PREFER_SPOT,) if scheduling.profiles and _given(pools) else ()


def shortfall(scheduling: Scheduling, pools: Sequence[NodePool], version: str) -> list[str]:
    """Missing abilities of a cluster of this version, and their replacements; empty where nothing is missing."""
    if has_mutating_policies(version) or not scheduling.enabled:
        return []
    lost = (
        f"Kubernetes {version} has no MutatingAdmissionPolicy ({FIRST_MUTATING_VERSION} is the first): no pod prefers spot by"
        " itself, scheduling.defaults and scheduling.gracePeriodSeconds have no effect"
    )
    label = f"{PLACEMENT_LABEL}: {Placement.PREFER_SPOT}"
    if heeded(scheduling, pools, version):
        where = ", ".join(profile.namespace for profile in scheduling.profiles)
        return [
            lost,
            f"instead: in {where} a pod labelled {label} gets the tolerations of the GPU pools by Kubeflow's PodDefaults."
            " It gets no node affinity: of nodes that are there it takes any",
        ]
    if _given(pools):
        return [
            lost,
            "instead: nothing yet. Once Kubeflow is installed, write its profiles' namespaces under scheduling.profiles:"
            f" pods labelled {label} then get the tolerations",
        ]
    return [
        lost,
        f"instead: nothing; pods carry the lines of the contract, a ConfigMap in {contract.NAMESPACE} (output contract)",
    ]


class PodDefaults(Part):
    """One PodDefault a profile. Namespaces and Kubeflow must exist."""

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
