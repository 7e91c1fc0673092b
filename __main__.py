"""The program `pulumi up` runs: read the stack's settings, declare the cluster, export the outputs."""

import atexit
import gc

# Modules are 200 000 objects that stay. By default a sixth of the run goes into searching them for garbage, most of it while
# they are imported, hence before the imports.
gc.set_threshold(100_000)
# At its end the interpreter searches them several times more, to free memory that the process gives back anyway.
atexit.register(gc.freeze)

import pulumi  # noqa: E402

from components import settings  # noqa: E402
from components.cluster import KubeflowCluster  # noqa: E402

spec = settings.load()
cluster = KubeflowCluster(spec.name, spec)
for name, value in cluster.outputs.items():
    pulumi.export(name, value)
