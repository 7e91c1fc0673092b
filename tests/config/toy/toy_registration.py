"""A drawn cloud, as the registry has it."""

from __future__ import annotations

from config.clouds.registry import Registration
from tests.config.toy.settings import Toy, ToyKeys
from tests.config.toy.traits import Toybox

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
