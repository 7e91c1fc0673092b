"""ResourceQuotas of Kubeflow profiles: the most GPUs of their pods, and no pods that displace those
of other namespaces.

The second kind backs two rules of the guard: it holds even if the guard's policy is deleted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pulumi_kubernetes as k8s

from components.layer import names
from components.layer.part import Inside, Part, metadata
from config.model.scheduling import Guard, GuardRule, Profile
from config.placement.node_pools import GPU_TAINT

ROLE = "gpus"

RESOURCE = f"requests.{GPU_TAINT.key}"
"""Quotas limit requests of extended resources, equal to limits (page resource-quotas)."""

DEVICE_CLASSES = ("gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com")
"""Device classes of NVIDIA's driver for dynamic resource allocation
(kubernetes-sigs/dra-driver-nvidia-gpu, chart)."""


def counted(device_classes: Iterable[str]) -> list[str]:
    """Return the names under which Kubernetes counts GPUs, each separately.

    A device class is counted under its own name for claims, and a pod may also ask for its implicit
    extended resource (kubernetes.io/docs/concepts/policy/resource-quotas, "Quota for DRA resource
    claims"; since 1.34).
    """
    classes = sorted({*DEVICE_CLASSES, *device_classes})
    return [
        RESOURCE,
        *(f"{name}.deviceclass.resource.k8s.io/devices" for name in classes),
        *(f"requests.deviceclass.resource.kubernetes.io/{name}" for name in classes),
    ]


def quotas(
    profiles: Sequence[Profile], instance: str, device_classes: Sequence[str] = ()
) -> Iterator[tuple[Profile, k8s.core.v1.ResourceQuotaInitArgs]]:
    """Yield a ResourceQuota for each profile with a limit, for each way to ask for a GPU.

    A quota counts all GPUs of the namespace, on spot too and of pending pods; it cannot distinguish
    nodes. It counts requested units, so a MIG instance or a share of a GPU is one. Pods without
    GPUs are unaffected: a quota of an extended resource does not force pods to request it
    (kubernetes.io/docs/concepts/policy/resource-quotas).
    """
    for profile in profiles:
        if profile.gpus is not None:
            hard = dict.fromkeys(counted(device_classes), str(profile.gpus))
            spec = k8s.core.v1.ResourceQuotaSpecArgs(hard=hard)
            yield profile, _quota(ROLE, profile, instance, spec)


def _quota(
    role: str, profile: Profile, instance: str, spec: k8s.core.v1.ResourceQuotaSpecArgs
) -> k8s.core.v1.ResourceQuotaInitArgs:
    called = metadata(names.object_name(instance, role), instance, profile.namespace)
    return k8s.core.v1.ResourceQuotaInitArgs(metadata=called, spec=spec)


NETS = {
    GuardRule.PRIORITY: k8s.core.v1.ScopedResourceSelectorRequirementArgs(
        scope_name="PriorityClass",
        operator="In",
        values=["system-cluster-critical", "system-node-critical"],
    ),
    GuardRule.OTHER_NAMESPACES: k8s.core.v1.ScopedResourceSelectorRequirementArgs(
        scope_name="CrossNamespacePodAffinity", operator="Exists"
    ),
}
"""Scopes of pods that a profile may not have, by the guard's rule (page resource-quotas, "Quota
scopes").

The second scope is wider than the rule: it includes preferred terms and terms that name the pod's
own namespace."""


def nets(
    profiles: Sequence[Profile], guard: Guard, instance: str
) -> Iterator[tuple[Profile, GuardRule, k8s.core.v1.ResourceQuotaInitArgs]]:
    """Yield the ResourceQuotas of NETS for each profile, with or without a limit of GPUs.

    A quota can neither warn nor except a pod: none is declared unless the guard enforces its rules,
    nor for a rule that an exception lifts in the namespace.
    """
    if guard.mode != "enforce":
        return
    for profile in profiles:
        lifted = {
            rule
            for entry in guard.exceptions
            if entry.namespace == profile.namespace
            for rule in entry.rules
        }
        for rule, scope in NETS.items():
            if rule not in lifted:
                selector = k8s.core.v1.ScopeSelectorArgs(match_expressions=[scope])
                spec = k8s.core.v1.ResourceQuotaSpecArgs(
                    hard={"pods": "0"}, scope_selector=selector
                )
                yield profile, rule, _quota(rule, profile, instance, spec)


class Quotas(Part):
    """The ResourceQuotas of each profile. It deliberately creates no namespaces: Kubeflow does."""

    def __init__(
        self, name: str, profiles: Sequence[Profile], guard: Guard, inside: Inside
    ) -> None:
        super().__init__("kubeflow-spot:addons:Quotas", name, inside)
        for profile, quota in quotas(profiles, self.instance, guard.device_classes):
            k8s.core.v1.ResourceQuota(f"{name}-{profile.namespace}", quota, self.child)
        for profile, rule, quota in nets(profiles, guard, self.instance):
            # No namespace has a dot, so this cannot be another profile's quota of GPUs.
            k8s.core.v1.ResourceQuota(f"{name}-{profile.namespace}.{rule}", quota, self.child)
        self.register_outputs({})
