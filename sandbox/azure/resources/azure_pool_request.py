"""One agent pool in a request, as the rules about pools see it."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.azure.azure_errors import NAMING_RULES, AzureRefused, aks
from sandbox.azure.azure_machines import Machine, machines
from sandbox.azure.resources.azure_cluster_path import POOL
from sandbox.azure.resources.azure_resource_type import type_named
from sandbox.cloud.state import Body, Resources

POOL_NAME: str = type_named(POOL).facts["names"]["agentPoolName"]["pattern"]

SPOT_LABEL = ("kubernetes.azure.com/scalesetpriority", "spot")
SPOT_TAINT = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"


@dataclass
class PoolRequest:
    """One pool in a PUT. `wanted` is what was sent, `body` what would result (defaults added for `check_result`)."""

    name: str
    wanted: Body
    current: Body | None
    body: Body
    cluster: Body
    resources: Resources
    inline: bool
    first: bool

    @property
    def machine(self) -> Machine | None:
        return machines().get(self.body["vmSize"])

    @property
    def spot(self) -> bool:
        return self.body.get("scaleSetPriority") == "Spot"

    @property
    def system(self) -> bool:
        return self.body.get("mode") == "System"

    @property
    def section(self) -> str:
        return "agentPoolProfile" if self.inline else "properties"


Rule = Callable[[PoolRequest], AzureRefused | None]


def invalid(parameter: str, details: str = "") -> AzureRefused:
    """`InvalidParameter` in the words AKS uses for parameters."""
    more = f" Error details: {details}." if details else ""
    return aks("InvalidParameter", f"The value of parameter {parameter} is invalid.{more} {NAMING_RULES}", parameter)
