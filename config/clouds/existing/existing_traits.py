"""The traits of an existing cluster: only the stack file knows its nodes."""

from __future__ import annotations

from collections.abc import Mapping

from config.clouds.traits import Added, Cloud
from config.model.pool import Capacity


class ExistingCluster(Cloud):
    """Any cluster; a pool describes existing nodes, named by Kubernetes' rules."""

    provider = "existing"
    title = "existing cluster"
    article = "an"
    cluster_name = r".*"
    cluster_name_words = "any"
    pool_name = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
    pool_name_words = (
        "at most 63 lower-case letters, digits and -, first and last a letter or digit"
    )
    pool_name_length = 63
    max_nodes = 5000
    makes_pools = False
    added: Mapping[Capacity, Added] = {Capacity.SPOT: Added({}, ())}
    zone_form = r".*"
    zone_words = "any"
    # AKS' value: the shorter one of GKE would cut short what other clouds leave.
    spot_grace = 25
