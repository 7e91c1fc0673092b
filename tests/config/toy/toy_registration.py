"""A drawn cloud, for the test of the seam: its settings, its traits with two machines, and its registration."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from config.clouds.registry import Registration
from config.clouds.tables import Machine
from config.clouds.traits import Added, Cloud
from config.model.cluster import CloudSettings
from config.model.fields import Model
from config.model.pool import Capacity, Taint


class ToyPool(Model):
    """Settings of a pool that only the drawn cloud has."""

    colour: Literal["red", "blue"] = Field("red", description="The colour of the nodes.")


class ToyKeys(Model):
    """Keys of a pool."""

    toy: ToyPool | None = Field(None, description="Settings of a pool that only the drawn cloud has.")


class Toy(CloudSettings):
    """A drawn cloud, which only makes new clusters."""

    provider: Literal["toy"] = Field(description="The cloud.")
    shelf: int = Field(ge=1, description="The shelf it stands on.", examples=[1])


MACHINES = (Machine("toy-cpu", 4, 16, 0, ""), Machine("toy-gpu", 8, 32, 1, "nvidia-toy"))


class Toybox(Cloud):
    """The drawn cloud."""

    provider = "toy"
    title = "Toybox"
    article = "a"
    cluster_name = r"[a-z]+"
    cluster_name_words = "lower-case letters"
    pool_name = r"[a-z0-9]{1,10}"
    pool_name_words = "at most 10 lower-case letters and digits"
    pool_name_length = 10
    max_nodes = 9
    added: Mapping[Capacity, Added] = {
        Capacity.SPOT: Added({"toy.example/lent": "yes"}, (Taint(key="toy.example/lent", value="yes"),))
    }
    reserved_label_prefixes = ("toy.example",)
    machines: Mapping[str, Machine] = {machine.size: machine for machine in MACHINES}
    zone_form = r"top|bottom"
    zone_words = "top or bottom"
    spot_notice = 60
    spot_grace = 50
    cpu_machine = "toy-cpu"
    gpu_machine = "toy-gpu"


REGISTRATION = Registration(
    provider="toy",
    settings=Toy,
    traits=Toybox(),
    rules="tests.config.toy.rules",
    machine_form=r"toy-.+",
    pool_keys=ToyKeys,
    examples={
        "cloud": "{provider: toy, shelf: 1}",
        "systemPool": "{machine: toy-cpu, maxNodes: 2}",
        "pools": "[{name: toys, machine: toy-gpu, capacity: spot, maxNodes: 3}]",
    },
)
