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

# Pulumi's Python host says of this exit code that the user was told (sdk/python/cmd/pulumi-language-python-exec); of any other the
# engine adds "an unhandled error occurred: program exited with non-zero exit code".
TOLD = 32

try:
    spec = settings.load()
    cluster = KubeflowCluster(spec.name, spec)
    for name, value in cluster.outputs.items():
        pulumi.export(name, value)
except pulumi.RunError as refused:
    pulumi.log.error(str(refused))
    raise SystemExit(TOLD) from refused
