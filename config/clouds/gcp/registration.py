"""GKE, as the registry has it."""

from __future__ import annotations

from config.clouds.gcp.settings import Gcp, GcpNodes, GcpPins, GcpPool
from config.clouds.gcp.traits import gke
from config.clouds.registry import Registration

REGISTRATION = Registration(
    provider="gcp",
    settings=Gcp,
    traits=gke,
    rules="config.clouds.gcp.rules",
    machine_form=r"[a-z]{1,2}[0-9][a-z]?-.+",
    pool_options=GcpPool,
    system_pool_options=GcpNodes,
    pins=GcpPins,
    examples={
        "cloud": "{provider: gcp, project: my-project, location: europe-west4}",
        "systemPool": "{machine: e2-standard-4, maxNodes: 4}",
        "pools": "[{name: l4, machine: g2-standard-8, capacity: spot, maxNodes: 8}]",
        "imagePullSecrets": "[{name: registry-auth, server: registry.example.com, username: ..., password: ...}]",
    },
)
