"""The emulated clouds of one home, each with a memory of its own.

A home may have resources in any of them, so every command has all at hand.
"""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.base.home import Home
from sandbox.cloud.emulated_cloud import EmulatedCloud
from sandbox.cloud.node_groups import PoolStatus
from sandbox.cloud.plugin import Plugin
from sandbox.cloud.provider import Provider
from sandbox.cluster import plugins
from sandbox.cluster.clusters import LocalClusters


def by_package() -> dict[str, Plugin]:
    """Return the plugins of all clouds, by the names of their Pulumi packages."""
    return {plugin.package: plugin for plugin in map(plugins.plugin, plugins.NAMES)}


def plugin_of(type: str) -> Plugin:
    """Return the plugin of a resource type; a type of no emulated cloud is for the first cloud to refuse."""
    known = by_package()
    return known.get(type.partition(":")[0]) or next(iter(known.values()))


@dataclass(frozen=True)
class Clouds:
    """The opened clouds by the names of their Pulumi packages."""

    opened: Mapping[str, EmulatedCloud]

    def __iter__(self) -> Iterator[EmulatedCloud]:
        return iter(self.opened.values())

    def provider(self, package: str) -> Provider:
        """Return a provider over the cloud of this package, such as `gcp`. Raises KeyError for another."""
        return by_package()[package].provider(self.opened[package])

    def holding(self, id: str) -> EmulatedCloud:
        """Return the cloud that has a resource of this id; the first one where none has."""
        return next((cloud for cloud in self if cloud.get(id) is not None), next(iter(self)))

    def pools(self) -> list[PoolStatus]:
        return [pool for cloud in self for pool in cloud.pools()]


def opened(home: Home, programs: Callable[[], Mapping[str, Path]], report: Callable[[str], None]) -> Clouds:
    """Return the emulated clouds of a home; `programs` is asked only when a control plane is to start."""
    clouds = {}
    for package, plugin in by_package().items():
        state = home.cloud / plugin.state_file
        runtime = LocalClusters(home.clusters, plugin.name, programs, report, state)
        clouds[package] = plugins.opened(plugin.name, home.cloud, runtime)
    return Clouds(clouds)


def furnish(folder: Path, clusters: Path, environment: MutableMapping[str, str]) -> None:
    """Put every cloud's client programs into a folder, and that into an environment, for the clusters below another folder."""
    for plugin in by_package().values():
        plugin.furnish(folder, clusters, environment)
