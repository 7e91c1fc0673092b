"""The traits of an existing cluster: only the stack file knows its nodes."""

from __future__ import annotations

from functools import cache

from config.clouds.traits import Added, Cloud
from config.model.pool import Capacity


@cache
def existing() -> Cloud:
    """Any cluster. A pool is then a description of existing nodes: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/."""
    return Cloud(
        provider="existing",
        title="existing cluster",
        article="an",
        cluster_name=r".*",
        cluster_name_words="any",
        pool_name=r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?",
        pool_name_words="at most 63 lower-case letters, digits and -, first and last a letter or digit",
        pool_name_length=63,
        max_nodes=5000,
        added={Capacity.SPOT: Added({}, ())},
        reserved_label_prefixes=(),
        reserved_labels=frozenset(),
        machines={},
        zone_form=r".*",
        zone_words="any",
        spot_notice=None,
        # AKS' value: the shorter one of GKE would cut short what other clouds leave.
        spot_grace=25,
        makes_pools=False,
        other_clouds_keys={"reservation": "remove it: these nodes exist already"},
    )
