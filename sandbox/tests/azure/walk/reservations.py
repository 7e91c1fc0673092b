"""Rules about pools on reserved capacity."""

from __future__ import annotations

from typing import Any

from sandbox.azure.resources import azure_pool_rules, reservation_rules

from ..conftest import REGULAR, SPOT
from .grants import GROUP, OWN, both, granted
from .row import Put, Row, Step, cluster, pool

_RESERVED = f"{GROUP}/providers/Microsoft.Compute/capacityReservationGroups/gpus"
_CONTRIBUTOR = granted("b24988ac-6180-42a0-ab88-20f7382dd24c", _RESERVED)
_OWN = both(_CONTRIBUTOR, cluster(identity=OWN))


def _reserved(base: dict[str, Any] = REGULAR, group: str = _RESERVED, **changes: Any) -> Put:
    return pool(base, resourceName="two", capacityReservationGroupID=group, **changes)


def _given(*steps: Step) -> tuple[Step, ...]:
    return (_OWN, *steps)


ROWS = [
    Row(
        "capacity reservation group that is none",
        "page use-capacity-reservation-groups",
        reservation_rules.form,
        "InvalidParameter",
        "hostGroups/gpus is not the id of a capacity reservation group",
        confirmed=False,
        given=_given(),
        bad=_reserved(group=_RESERVED.replace("capacityReservationGroups", "hostGroups")),
        good=_reserved(),
    ),
    Row(
        "reserved spot",
        "page capacity-reservation-overview",
        reservation_rules.spot,
        "InvalidParameter",
        "Spot node pools cannot use a capacity reservation group.",
        confirmed=False,
        given=_given(),
        bad=_reserved(SPOT),
        good=_reserved(SPOT, scaleSetPriority="Regular"),
    ),
    Row(
        "reservation for a system-assigned identity",
        "page use-capacity-reservation-groups",
        reservation_rules.user_assigned,
        "BadRequest",
        "user-assigned identity",
        confirmed=False,
        given=(both(_CONTRIBUTOR, cluster()),),
        bad=_reserved(),
        good=pool(REGULAR, resourceName="two"),
    ),
    Row(
        "reservation the identity may not use",
        "Azure/karpenter-provider-azure pull request 1839",
        reservation_rules.permission,
        "LinkedAuthorizationFailed",
        "Microsoft.Compute/capacityReservationGroups/deploy/action",
        confirmed=False,
        given=_given(),
        bad=_reserved(group=_RESERVED.replace("/gpus", "/others")),
        good=_reserved(),
    ),
    Row(
        "reservation for a pool that exists",
        "Azure/AKS pull request 5913",
        azure_pool_rules.immutable_change,
        "PropertyChangeNotAllowed",
        "Changing property 'properties.capacityReservationGroupID' is not allowed.",
        confirmed=False,
        given=_given(pool(REGULAR, resourceName="two")),
        bad=_reserved(),
        good=pool(REGULAR, resourceName="two", nodeLabels={"a": "b"}),
    ),
]
