"""Rules of GKE on a node pool, in order: one function a rule, each with its source.

`SENT` are rules on the body that was sent, before defaults are added; `RESULT` on the resulting body.
"""

import re

from sandbox.gcp.gcp_errors import GcpRefused, bad_request
from sandbox.gcp.resources import agent_rules, flex_rules, gcp_label_rules, gcp_machine_rules, gpu_rules, scale_rules
from sandbox.gcp.resources.gcp_pool_request import PoolRequest, Rule

_NAME = r"(?:[a-z](?:[-a-z0-9]{0,38}[a-z0-9])?)"


def name(request: PoolRequest) -> GcpRefused | None:
    # pulumi-gcp #1510
    if re.fullmatch(_NAME, request.name):
        return None
    return bad_request(
        f'Invalid value for field "node_pool.name": "{request.name}". Must be a match of regex \'{_NAME}\' (only alphanumerics '
        "and hyphens allowed, starting with a letter, ending with an alphanumeric, and no longer than 40 characters)."
    )


SENT: tuple[Rule, ...] = (name, gcp_machine_rules.version_served)

RESULT: tuple[Rule, ...] = (
    scale_rules.locations,
    scale_rules.both_limits_zero,
    scale_rules.two_kinds_of_limits,
    scale_rules.least_above_most,
    scale_rules.too_many_nodes,
    scale_rules.pods_per_node,
    scale_rules.pod_range,
    scale_rules.private_nodes,
    scale_rules.surge,
    scale_rules.management,
    # A missing GPU is refused before the machine types that have it built in.
    gpu_rules.in_zone,
    gcp_machine_rules.machine_type,
    gpu_rules.one_model,
    gpu_rules.attachable,
    gpu_rules.count,
    gpu_rules.declared,
    gpu_rules.sharing,
    gpu_rules.partition,
    gpu_rules.driver,
    gcp_machine_rules.spot_and_preemptible,
    flex_rules.bought_once,
    flex_rules.without_reservations,
    flex_rules.autoscaled,
    flex_rules.reservation,
    flex_rules.block_of_a_project,
    flex_rules.room_in_reservation,
    flex_rules.spot_reserved,
    gcp_machine_rules.provisioning,
    flex_rules.sold_so,
    flex_rules.flex_version,
    flex_rules.run_duration,
    gcp_machine_rules.too_old,
    gcp_machine_rules.boot_disk,
    gcp_machine_rules.boot_disk_key,
    agent_rules.boot_disk_key,
    gcp_machine_rules.image,
    gcp_machine_rules.shutdown_grace,
    gcp_machine_rules.service_account,
    gcp_machine_rules.scopes,
    gcp_machine_rules.workload_metadata,
    gcp_machine_rules.version,
    gcp_machine_rules.resource_labels,
    gcp_label_rules.labels,
    gcp_label_rules.taints,
)
