"""The autoscaler's counter of scale-ups that failed, from a drill's events.

kube-state-metrics knows nothing of it, and the sandbox's autoscaler has no page of metrics, so the
drill's back-offs stand in: the program counts one failure for each (kubernetes/autoscaler 1.36.1,
clusterstate/clusterstate.go:407-412). Its reason is the error's code
(observers/nodegroupchange/scale_state_observer.go:139). On Azure:

- `cloudProviderError`: the request was refused at once, for quota or because there is no such
  machine (core/scaleup/orchestrator/executor.go:172-176);
- `timeout`: no node registered in time, whatever the cause (clusterstate/clusterstate.go:363-367);
- `provisioning-state-failed`: Azure could not make a machine that it had promised, whatever the
  cause (cloudprovider/azure/azure_scale_set_instance_cache.go:248-252).

So no reason tells quota from missing machines. What AKS' own build of the program writes is
UNCONFIRMED. On Google Cloud it would write QUOTA_EXCEEDED or RESOURCE_POOL_EXHAUSTED
(cloudprovider/gce/autoscaling_gce_client.go:574-588), but GKE shows nobody that page: it offers
metrics of the API server, the scheduler and the controller manager (page control-plane-metrics).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable

from drill.world import record

NAME = "cluster_autoscaler_failed_scale_ups_total"
_FROM_THE_START = ("cloudProviderError", "apiCallError", "timeout")
"""Reasons that are there with 0 before anything fails (metrics/metrics.go:606-608)."""
_GPU = 'gpu_name="not-listed",gpu_resource_name="nvidia.com/gpu",'
"""Labels of a pool with GPUs since 1.36 (metrics/metrics.go:373-378): AKS labels its nodes with the
maker alone, which is no type that the program knows (cloudprovider/azure/azure_template.go:372,
utils/gpu/gpu.go:109-129)."""
_CODE = re.compile(r"\w+/([\w-]+)")
"""The class and the code of the error, as the program logs a back-off (clusterstate.go:404)."""


def failed_scale_ups(
    events: Iterable[record.Event], with_gpus: Collection[str]
) -> dict[str, float]:
    """Return the counter's series; `with_gpus` are the pools that have GPUs."""
    counts = Counter({_series(reason): 0 for reason in _FROM_THE_START})
    for event in events:
        if event.kind == "backoff" and (code := _CODE.match(event.text)):
            counts[_series(code[1], _GPU if event.pool in with_gpus else "")] += 1
    return {series: float(count) for series, count in counts.items()}


def _series(reason: str, labels: str = "") -> str:
    return f'{NAME}{{{labels}reason="{reason}"}}'
