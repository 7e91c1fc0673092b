"""One node pool in a request, as the rules about pools see it."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.cloud.rules import ResourceRequest
from sandbox.cloud.state import Body
from sandbox.gcp import gcp_ids
from sandbox.gcp.gcp_errors import GcpRefused
from sandbox.gcp.gcp_machines import Machine, machines


@dataclass
class PoolRequest(ResourceRequest):
    """A create or an update of a pool of `cluster`."""

    cluster: Body

    @property
    def name(self) -> str:
        return gcp_ids.last(self.id)

    @property
    def config(self) -> Body:
        config: Body = self.body["nodeConfig"]
        return config

    @property
    def zones(self) -> list[str]:
        zones: list[str] = self.body["nodeLocations"]
        return zones

    @property
    def machine(self) -> Machine:
        """Raises KeyError for a type that is not in the catalogue; the rule about it comes first."""
        return machines()[self.config["machineType"]]

    @property
    def accelerators(self) -> list[Body]:
        """The GPUs that were declared, without empty entries."""
        return [accelerator for accelerator in self.config.get("guestAccelerators") or [] if accelerator.get("count")]


Rule = Callable[[PoolRequest], GcpRefused | None]
