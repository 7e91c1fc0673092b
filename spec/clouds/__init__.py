"""What each cloud adds to a node and forbids on it: facts that checks and placement need, free of any SDK."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spec.catalog import Machine
from spec.model import Taint


@dataclass(frozen=True)
class Cloud:
    """The traits of a cloud that placement and the rules depend on."""

    title: str
    pool_name: str
    """Regular expression of a node pool's name."""
    pool_name_words: str
    """The same in words."""
    pool_name_length: int
    max_nodes: int
    """Most nodes of one pool."""
    spot_taints: tuple[Taint, ...]
    """Taints the cloud itself puts on every spot node."""
    spot_labels: Mapping[str, str]
    """Labels the cloud itself puts on every spot node."""
    reserved_label_prefixes: tuple[str, ...]
    """Label keys under these domains (and their subdomains) are the cloud's."""
    reserved_labels: frozenset[str]
    machines: Mapping[str, Machine]
    """The catalogue, by lower-cased size."""
    spot_notice: int | None
    """Seconds between a spot machine's notice and its end; None where it is not known."""
    spot_grace: int
    """Seconds of those that a pod can count on."""
    makes_pools: bool = True
    """False where a pool of the stack file describes nodes that are there already."""

    def machine(self, size: str) -> Machine | None:
        """The catalogue's machine of that size, in whatever case it is written; None when there is none."""
        return self.machines.get(size.lower())
