"""Pools that are objects inside the cluster, which Karpenter makes machines for."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi
import pulumi_kubernetes as k8s

from components.layer.part import Inside, Part, metadata
from components.target import PoolObject


class PoolObjects(Part):
    """The objects of all pools. Those of one pool come one after the other, and go in reverse.

    It deliberately installs no CRDs: the cloud does, with Karpenter itself.
    """

    def __init__(self, name: str, objects: Sequence[PoolObject], inside: Inside) -> None:
        super().__init__("kubeflow-spot:addons:PoolObjects", name, inside)
        before: dict[str, pulumi.Resource] = {}
        for each in objects:
            first = [before[each.pool]] if each.pool in before else []
            before[each.pool] = k8s.apiextensions.CustomResource(
                f"{name}-{each.pool}-{each.kind.lower()}",
                api_version=each.api_version,
                kind=each.kind,
                metadata=metadata(each.pool, self.instance, annotations=each.annotations),
                spec=each.spec,
                opts=self.after(*first),
            )
        self.register_outputs({})
