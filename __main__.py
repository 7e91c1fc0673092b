"""The program that `pulumi up` runs: it reads the stack's settings, declares the cluster and exports the outputs."""

import atexit
import gc

# Modules are 200 000 objects that stay. By default the collector searches them for a sixth of the run, mostly during the imports:
# hence before them.
gc.set_threshold(100_000)
# The interpreter searches them again at its exit, to free memory that the process returns anyway.
atexit.register(gc.freeze)

import pulumi  # noqa: E402

from components import settings  # noqa: E402
from components.cluster import KubeflowCluster  # noqa: E402

spec = settings.load()
cluster = KubeflowCluster(spec.name, spec)
for name, value in cluster.outputs.items():
    pulumi.export(name, value)
