"""The traits of a drawn cloud."""

from __future__ import annotations

from collections.abc import Mapping

from config.clouds.tables import Machine
from config.clouds.traits import Added, Cloud
from config.model.pool import Capacity, Taint

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
