"""One node pool in a request, as the rules about pools see it."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.cloud.rules import ResourceRequest
from sandbox.cloud.state import Body
from sandbox.gcp import ids
from sandbox.gcp.errors import GcpRefused
from sandbox.gcp.machines import Machine, machines


@dataclass
class PoolRequest(ResourceRequest):
    """A create or an update of a pool of `cluster`."""

    cluster: Body

    @property
    def name(self) -> str:
        return ids.last(self.id)

    @property
    def config(self) -> Body:
        found: Body = self.body["nodeConfig"]
        return found

    @property
    def zones(self) -> list[str]:
        found: list[str] = self.body["nodeLocations"]
        return found

    @property
    def machine(self) -> Machine:
        """Raises KeyError for a type that is not in the catalogue; the rule about it comes first."""
        return machines()[self.config["machineType"]]

    @property
    def accelerators(self) -> list[Body]:
        """The GPUs that were declared, without empty entries."""
        return [one for one in self.config.get("guestAccelerators") or [] if one.get("count")]


Rule = Callable[[PoolRequest], GcpRefused | None]
