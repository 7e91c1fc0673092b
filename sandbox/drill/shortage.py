"""How a shortage of spot machines is told: one of three signals (`scenario.Shortage`).

On Azure the autoscaler's request returns before its outcome; a
failure is logged and drops caches, and no error reaches the loop (cluster-autoscaler 1.36.1, azure_scale_set.go 686-714; fast
deletion of failed machines is off by default, azure_config.go 110). So users wait for the provision time (Azure/AKS #4405, 20
minutes; kubernetes/autoscaler #8323, open). Azure/AKS #5589 implies that the managed autoscaler backs off sooner, except with
`Deallocate`: UNCONFIRMED. The stricter reading is played. On Google errors of instances reach the loop (cloudprovider/gce; GKE's
event scale.up.error.out.of.resources).
"""

from sandbox.cloud.spot import SpotFacts
from sandbox.drill.scenario import Shortage

FAILED_AFTER = 20.0
"""Seconds after which a machine that cannot be made is known to have failed, by the signal `20s` (autoscaler PR 5548)."""


def signal(facts: SpotFacts) -> Shortage:
    """The signal that is assumed of a cloud."""
    return "at-once" if facts.surfaced else "provision-time"
