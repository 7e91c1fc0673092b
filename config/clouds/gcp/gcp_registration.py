"""The registration of GKE."""

from __future__ import annotations

from config.clouds import tables
from config.clouds.gcp.gcp_autoscaler import GcpPins
from config.clouds.gcp.gcp_pool import GkePool, GkeSystemPool
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.gcp.gcp_traits import Gke
from config.clouds.registry import Registration

REGISTRATION = Registration(
    provider="gcp",
    settings=Gcp,
    traits=Gke(),
    rules="config.clouds.gcp.rules",
    machine_form=r"([a-z]+[0-9]+[a-z]*|custom)-.+",
    pool_keys=GkePool,
    system_pool_keys=GkeSystemPool,
    pins=GcpPins,
    also_called=("gke", "google", "google-cloud", "gcloud"),
    foreign_keys=lambda: tables.read_foreign_keys(__file__),
    examples={
        "cloud": "{provider: gcp, project: my-project, location: europe-west4}",
        "systemPool": "{machine: e2-standard-4, maxNodes: 4}",
        "pools": "[{name: l4, machine: g2-standard-8, capacity: spot, maxNodes: 8}]",
        "imagePullSecrets": "[{name: registry-auth, server: registry.example.com, username: ..., password: ...}]",
    },
)
