"""Spot machines on AKS: the words of the compute service, and the notice, taint and condition of an evicted node."""

from sandbox.cloud.spot import Condition, Refusal, SpotFacts, Taint

SPOT = SpotFacts(
    # Page scheduled-events: at least 30 s for Preempt. One public timeline of 2026-08 has 39 s.
    notice=30.0,
    # The same timeline: containers stop 6 s after the condition. Page node-problem-detector: it polls for Preempt every 2 s.
    reaction=6.0,
    # What is left of the notice; the drain has no other order than the pods' own.
    grace=24.0,
    critical_grace=24.0,
    # Page node-auto-drain (2026-03): it cordons and drains for Preempt, best effort. In 2023 it did not (Azure/AKS #3528). The
    # effect of the taint is UNCONFIRMED; its name says what it does.
    taint=Taint("remediator.kubernetes.azure.com/unschedulable", "NoSchedule"),
    # maksim-paskal/aks-node-termination-handler #98, events of a node of 1.31.2.
    condition=Condition(
        "VMEventScheduled",
        "True",
        "VMEventScheduled",
        "Preempt Scheduled: {deadline}. DurationInSeconds: -1. "
        "For more information, see https://aka.ms/aks/scheduledevents.",
    ),
    events=("VMEventScheduled", "PreemptScheduled"),
    pods="deleted",
    # A drain asks the API for evictions (kubernetes.io, page disruptions, "Pod disruption conditions"); that auto-drain does
    # so too is [inferred].
    disruption=Condition("DisruptionTarget", "True", "EvictionByEvictionAPI", "Eviction API: evicting"),
    # Deleted with the capacity of its scale set, or stopped by the policy Deallocate (Azure SDK for .NET, EvictionPolicy.Delete).
    replaced=False,
    # The scale set's new size is refused as a whole.
    partial=False,
    # Page spot-node-pool: an upgrade cordons and gives notice of eviction, without a drain and without surge nodes.
    upgrade="noticed",
    # hashicorp/terraform-provider-azurerm PR 28549: a scale set of spot machines, 409. Azure/karpenter-provider-azure PR 43 reads
    # the code as "out of spot capacity".
    refused=Refusal(
        "SkuNotAvailable",
        "The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: {machine}' is currently not "
        "available in location '{region}'. Please try another size or deploy to a different location or different zone. "
        "See https://aka.ms/azureskunotavailable for details.",
    ),
    # openshift/release #33708; kubernetes/autoscaler PR 2954: quota is among what a scale set refuses at once.
    quota=Refusal(
        "QuotaExceeded",
        "Operation could not be completed as it results in exceeding approved LowPriorityCores quota. Additional details - "
        "Deployment Model: Resource Manager, Location: {region}.",
    ),
    # Azure/karpenter-provider-azure, test data of its error handling; jenkins-infra/helpdesk #3584 has the same of AKS.
    later=Refusal(
        "OverconstrainedAllocationRequest",
        "Allocation failed. VM(s) with the following constraints cannot be allocated, because the condition is too restrictive. "
        "Please remove some constraints and try again. Constraints applied are: Low Priority VMs, Preemptible VMs (VM might be "
        "preempted by another VM with a higher priority), VM Size",
    ),
    # kubernetes/autoscaler #8323 (2025-07, open): only synchronous errors come back; this one shows after the provision time.
    surfaced=False,
)
