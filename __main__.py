"""The program `pulumi up` runs: read the stack's settings, declare the cluster, export the outputs."""

import pulumi

from components import settings
from components.cluster import KubeflowCluster

spec = settings.load()
cluster = KubeflowCluster(spec.name, spec)
for name, value in cluster.outputs.items():
    pulumi.export(name, value)
