"""What can be had of placement by default where Kubernetes has no MutatingAdmissionPolicy yet: Kubeflow's PodDefaults.

A PodDefault gives tolerations to the pods that its labels select; affinity it cannot give, and it cannot tell what a pod asks
for (kubeflow/manifests 26.03, applications/admission-webhook/upstream/base/crd.yaml). So pods are only let onto spot, and must
carry the label.

Its kind and the profiles' namespaces exist once Kubeflow is installed, which on a new cluster is after the first `up`: a
namespace is written under `scheduling.profiles` when it is there, and until then nothing is declared. One written too early
fails the `up` with `no matches for kind "PodDefault"` or `namespaces ... not found`; the next one after Kubeflow makes up for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from components.addons import names
from components.addons.manifest import Manifest
from components.addons.part import Inside, Part
from components.addons.scheduling import contract
from config.model.scheduling import Placement, Profile, Scheduling
from config.placement import admission
from config.placement.node_pools import GPU_TAINT, NodePool
from config.placement.pods import PLACEMENT_LABEL, tolerations, usable

ROLE = Placement.PREFER_SPOT.value


def pod_defaults(profiles: Sequence[Profile], pools: Sequence[NodePool], instance: str) -> Iterator[dict[str, Any]]:
    """A PodDefault for each profile; none where pods need no toleration that they do not have by themselves."""
    given = _given(pools)
    for profile in profiles if given else ():
        yield {
            "apiVersion": "kubeflow.org/v1alpha1",
            "kind": "PodDefault",
            "metadata": {
                "name": names.object_name(instance, ROLE),
                "namespace": profile.namespace,
                "labels": names.labels(instance),
            },
            "spec": {
                # Kubeflow's form for new notebooks shows it.
                "desc": "Spot machines, for training that can start again; never for notebooks",
                "selector": {"matchLabels": {PLACEMENT_LABEL: Placement.PREFER_SPOT.value}},
                "tolerations": given,
            },
        }


def _given(pools: Sequence[NodePool]) -> list[dict[str, str]]:
    """What the policy would add, byte for byte, but for the GPU taint.

    The admission plugin ExtendedResourceToleration has added a toleration of that key in another form, and the webhook of
    PodDefaults refuses a pod that has a different one of the same key (kubeflow/kubeflow components/admission-webhook/main.go,
    mergeTolerations).
    """
    meant = usable(pools, Placement.PREFER_SPOT, gpu=True)
    return [one.as_manifest() for one in tolerations(meant) if one.key != GPU_TAINT.key]


def heeded(scheduling: Scheduling, pools: Sequence[NodePool], version: str) -> tuple[Placement, ...]:
    """The values of the placement label that do something in a cluster of this version."""
    if admission.mutates(version):
        return tuple(Placement)
    return (Placement.PREFER_SPOT,) if scheduling.profiles and _given(pools) else ()


def shortfall(scheduling: Scheduling, pools: Sequence[NodePool], version: str) -> list[str]:
    """What is lost in a cluster of this version, and what there is instead; empty where nothing is."""
    if admission.mutates(version) or not scheduling.enabled:
        return []
    lost = (
        f"Kubernetes {version} has no MutatingAdmissionPolicy ({admission.FIRST_VERSION} is the first): no pod prefers spot by"
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
    return [lost, f"instead: nothing; pods carry the lines of the ConfigMap {contract.NAMESPACE}/{contract.NAME}"]


class PodDefaults(Part):
    """One PodDefault a profile. Namespaces and Kubeflow are there already."""

    def __init__(
        self,
        name: str,
        profiles: Sequence[Profile],
        pools: Sequence[NodePool],
        inside: Inside,
    ) -> None:
        super().__init__("kubeflow-spot:addons:PodDefaults", name, inside)
        for manifest in pod_defaults(profiles, pools, self.instance):
            Manifest(
                f"{name}-{manifest['metadata']['namespace']}",
                manifest,
                self.child,
            )
        self.register_outputs({})
