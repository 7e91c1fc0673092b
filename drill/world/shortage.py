"""How a shortage of spot machines is told: one of three signals (`scenario.Shortage`).

On Azure the autoscaler's request returns before its outcome; a
failure is logged and drops caches, and no error reaches the loop (cluster-autoscaler 1.36.1, azure_scale_set.go 686-714; fast
deletion of failed machines is off by default, azure_config.go 110). So users wait for the provision time (Azure/AKS #4405, 20
minutes; kubernetes/autoscaler #8323, open). AKS' own fork seems to have fast deletion on: its tests call "off" the self-hosted
case, and #5589 says that pools back off, except with `Deallocate`. A design draft of the fork (Azure/autoscaler, March 2026) says
when: a failed allocation is known after 1 to 10 minutes, since states of machines are cached for about 5, and at worst after the
provision time.
UNCONFIRMED on a cluster: the stricter end is played. On Google errors of instances reach the loop (cloudprovider/gce; GKE's event
scale.up.error.out.of.resources).
"""

from drill.world.scenario import Shortage
from sandbox.cloud.spot import SpotFacts

FAILED_AFTER = 20.0
"""Seconds after which a machine that cannot be made is known to have failed, by the signal `20s` (autoscaler PR 5548)."""


def signal(facts: SpotFacts) -> Shortage:
    """The signal that is assumed of a cloud."""
    return "at-once" if facts.surfaced else "provision-time"
