"""Pods that Karpenter must not move: those that may not run on spot.

Karpenter moves running pods to cheaper machines, also from one on-demand machine to another. A pod
that tolerates spot may be lost at any time anyway, and moves back to spot; every other pod of a
profile gets Karpenter's annotation (page node-auto-provisioning-disruption, "Pod controls").
"""

from __future__ import annotations

from string import Template

from components.layer import cel, names
from components.layer.part import Inside, Part
from components.layer.policies import Mutating, declare, mutating
from components.layer.scheduling import defaults
from config.clouds.traits import Cloud
from config.model.scheduling import Scheduling

ROLE = "kept-pods"

DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"

_KEY = cel.value(DO_NOT_DISRUPT)

_TOLERATES = Template("""\
(has(object.spec.tolerations) && object.spec.tolerations.exists(t,
   !has(t.key) || t.key == '' || t.key in $keys))""")

_ANNOTATED = f"""\
(!has(object.metadata.annotations) ?
   [JSONPatch{{op: 'add', path: '/metadata/annotations', value: {{{_KEY}: 'true'}}}}] :
   {_KEY} in object.metadata.annotations ? [] :
   [JSONPatch{{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey({_KEY}), value: 'true'}}])"""


def tolerates_spot(cloud: Cloud) -> str:
    """Return the test whether a pod has a toleration of spot nodes."""
    return _TOLERATES.substitute(keys=cel.value(sorted({t.key for t in cloud.spot_taints})))


def unless_on_spot(cloud: Cloud) -> str:
    """Return the patch of a pod that the default placement judges, in terms of its variables."""
    placed = "variables.placement in ['prefer-spot', 'require-spot']"
    return f"({placed} || {tolerates_spot(cloud)} ? [] :\n{_ANNOTATED})"


def policy(scheduling: Scheduling, cloud: Cloud, instance: str) -> Mutating:
    """Return the policy for pods that the default placement leaves alone, and its binding."""
    return mutating(
        names.object_name(instance, ROLE),
        instance,
        defaults.profiles(scheduling),
        conditions={
            "does-not-end": f"!({defaults.MAY_MOVE})",
            "stays-off-spot": f"!{tolerates_spot(cloud)}",
            "not-of-a-daemon-set": f"{cel.NOT_BY_DAEMON_SETS} && {cel.NOT_OF_A_DAEMON_SET}",
        },
        patch=_ANNOTATED,
    )


class KeptPods(Part):
    """The policy in the cluster. It changes no pod that exists, and no annotation that a pod has."""

    def __init__(self, name: str, scheduling: Scheduling, cloud: Cloud, inside: Inside) -> None:
        super().__init__("kubeflow-spot:addons:KeptPods", name, inside)
        declare(self, name, policy(scheduling, cloud, self.instance))
        self.register_outputs({})
