"""What each cloud adds to a node and forbids on it: facts that checks and placement need, free of any SDK."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from spec.catalog import Machine
from spec.model import Capacity, Taint


@dataclass(frozen=True)
class Added:
    """What every node of one capacity has, beside what the pool says."""

    labels: Mapping[str, str]
    """The cloud puts them on by itself."""
    taints: tuple[Taint, ...]
    """The cloud's, or where it sets none those that its pages use; the program declares them in any case."""


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
    added: Mapping[Capacity, Added]
    """By each capacity that vanishes and that the cloud has."""
    reserved_label_prefixes: tuple[str, ...]
    """Label keys under these domains (and their subdomains) are the cloud's."""
    reserved_labels: frozenset[str]
    machines: Mapping[str, Machine]
    """The catalogue, by lower-cased size."""
    spot_notice: int | None
    """Seconds between a spot machine's notice and its end; None where it is not known."""
    spot_grace: int
    """Seconds of those that a pod can count on."""
    accelerators: Mapping[str, str] = field(default_factory=dict)
    """The cloud's own names of GPU models -> the catalogue's."""
    brings_device_plugin: bool = False
    """Whether GPU nodes come with a device plugin."""
    makes_pools: bool = True
    """False where a pool of the stack file describes nodes that are there already."""

    def machine(self, size: str) -> Machine | None:
        """The catalogue's machine of that size, in whatever case it is written; None when there is none."""
        return self.machines.get(size.lower())

    def model(self, name: str) -> str:
        """The catalogue's name of a GPU model that is written in it or in the cloud's own."""
        return self.accelerators.get(name, name)

    @property
    def spot_taints(self) -> tuple[Taint, ...]:
        """Taints of nodes that vanish, of any capacity."""
        return tuple(taint for added in self.added.values() for taint in added.taints)

    @property
    def spot_labels(self) -> Iterator[tuple[str, str]]:
        """Labels by which such nodes are known."""
        for added in self.added.values():
            yield from added.labels.items()
