"""Rules about pools on reserved capacity."""

from __future__ import annotations

from typing import Any

from sandbox.azure.resources import azure_machine_rules, azure_pool_rules
from sandbox.tests.rule_walk import ABSENT, Row

from ..conftest import REGULAR, SPOT
from .requests import GROUP, OWN, Put, cluster, granted, pool

_RESERVED = f"{GROUP}/providers/Microsoft.Compute/capacityReservationGroups/gpus"
_CONTRIBUTOR = granted("b24988ac-6180-42a0-ab88-20f7382dd24c", _RESERVED)
_OWN = (_CONTRIBUTOR, cluster(identity=OWN))


def _reserved(base: dict[str, Any] = REGULAR, group: str = _RESERVED, **changes: Any) -> Put:
    return pool(base, resourceName="two", capacityReservationGroupID=group, **changes)


ROWS = [
    Row(
        "capacity reservation group that is none",
        azure_machine_rules.reservation_form,
        "page use-capacity-reservation-groups",
    )
    .assumes("InvalidParameter", "hostGroups/gpus is not the id of a capacity reservation group")
    .given(*_OWN)
    .tries(_reserved, group=(_RESERVED.replace("capacityReservationGroups", "hostGroups"), ABSENT)),
    Row("reserved spot", azure_machine_rules.reserved_spot, "page capacity-reservation-overview")
    .assumes("InvalidParameter", "Spot node pools cannot use a capacity reservation group.")
    .given(*_OWN)
    .tries(_reserved, SPOT, scaleSetPriority=(ABSENT, "Regular")),
    Row(
        "reservation for a system-assigned identity",
        azure_machine_rules.reservation_identity,
        "page use-capacity-reservation-groups",
    )
    .assumes("BadRequest", "user-assigned identity")
    .given(_CONTRIBUTOR, cluster())
    .refuses(_reserved())
    .accepts(pool(REGULAR, resourceName="two")),
    Row(
        "reservation the identity may not use",
        azure_machine_rules.reservation_permission,
        "Azure/karpenter-provider-azure pull request 1839",
    )
    .assumes("LinkedAuthorizationFailed", "Microsoft.Compute/capacityReservationGroups/deploy/action")
    .given(*_OWN)
    .tries(_reserved, group=(_RESERVED.replace("/gpus", "/others"), ABSENT)),
    Row("reservation for a pool that exists", azure_pool_rules.immutable_change, "Azure/AKS pull request 5913")
    .assumes("PropertyChangeNotAllowed", "Changing property 'properties.capacityReservationGroupID' is not allowed.")
    .given(*_OWN, pool(REGULAR, resourceName="two"))
    .refuses(_reserved())
    .accepts(pool(REGULAR, resourceName="two", nodeLabels={"a": "b"})),
]
