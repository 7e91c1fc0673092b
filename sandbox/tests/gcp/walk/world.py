"""The walk over the rules of Google Cloud: its tables, its rows, and the project in which they begin."""

from sandbox.cloud.provider import InitFailed, Refused
from sandbox.gcp.resources import bucket, gcp_cluster_rules, gcp_identity, gcp_network, gcp_pool_rules, router
from sandbox.tests.rule_walk import Refusal, Walk, marked

from ..conftest import ACCOUNT, NAT, NAT_INPUTS, POOL, REGULAR, ROUTER, ROUTER_INPUTS, Project
from . import buckets, clusters, gpus, maintenance, networks, pools

MODULES = (networks, clusters, maintenance, pools, gpus, buckets)
TABLES = [
    *((module, table) for module in (gcp_cluster_rules, gcp_pool_rules) for table in ("SENT", "RESULT")),
    (gcp_network, "SUBNET_RULES"),
    (router, "NAT_RULES"),
    (gcp_identity, "GRANT_RULES"),
    *((bucket, f"{part}_RULES") for part in ("BUCKET", "MEMBER", "FOLDER", "FOLDER_MEMBER")),
]


def build(project: Project) -> None:
    """Make a network with its NAT, an account, and a cluster `gke` with a pool `general`."""
    project.network()
    project.network(name="other")
    project.subnetwork()
    project.subnetwork(name="elsewhere", region="us-central1", ipCidrRange="10.9.0.0/20", secondaryIpRanges=[])
    project.subnetwork(name="others", network="other", secondaryIpRanges=[])
    project.create(ROUTER, ROUTER_INPUTS)
    project.create(NAT, NAT_INPUTS)
    project.create(ACCOUNT, {"accountId": "ml-nodes"})
    project.cluster()
    project.create(POOL, {**REGULAR, "name": "general"})


def refusal(error: Exception) -> Refusal:
    """Read a refusal, as the user sees it."""
    text = str(error) if isinstance(error, (Refused, InitFailed)) else f"{type(error).__name__}: {error}"
    return Refusal("", text, marked(text))


WALK = Walk("gcp", TABLES, [row for module in MODULES for row in module.ROWS], Project, build, refusal)
