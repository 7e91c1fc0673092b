"""The program `pulumi up` runs: read the stack's settings, declare the cluster, export the outputs."""

import gc

import pulumi

from components import settings
from components.cluster import KubeflowCluster

# The SDKs' modules are 200 000 objects that stay: by default a sixth of the run goes into searching them for garbage.
gc.set_threshold(100_000)

spec = settings.load()
cluster = KubeflowCluster(spec.name, spec)
for name, value in cluster.outputs.items():
    pulumi.export(name, value)
