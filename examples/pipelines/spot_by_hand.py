"""Toleration and affinity written out, as the tutorials do it: for AKS. `by_contract.py` is the same on any cloud.

    kfp dsl compile --py spot_by_hand.py --function required --output required.yaml
    kfp dsl compile --py spot_by_hand.py --function preferred --output preferred.yaml

A toleration only allows a pod on spot nodes. Required affinity then keeps it off all others: it waits while there is no spot.
Preferred affinity takes another node meanwhile; which pool grows for it is the autoscaler's choice, which does not read it.
"""

from base import fetch, merge
from kfp import dsl, kubernetes
from spot_by_default import fit

SPOT = "kubernetes.azure.com/scalesetpriority"


def tolerate_spot(task: dsl.PipelineTask) -> dsl.PipelineTask:
    """Was: task.add_toleration(V1Toleration(key=SPOT, operator="Equal", value="spot", effect="NoSchedule"))."""
    return kubernetes.add_toleration(task, key=SPOT, operator="Equal", value="spot", effect="NoSchedule")


def on_spot(task: dsl.PipelineTask, weight: int | None = None) -> dsl.PipelineTask:
    """Was: task.add_affinity(V1Affinity(node_affinity=...)). Without a weight it is required."""
    return kubernetes.add_node_affinity(
        task, match_expressions=[{"key": SPOT, "operator": "In", "values": ["spot"]}], weight=weight
    )


def gpu(task: dsl.PipelineTask) -> dsl.PipelineTask:
    """Was: task.set_gpu_limit(1). The type is needed: without it no GPU is asked for.

    The variable is for GKE, where a slim image does not look for the driver's libraries (docs/workloads.md).
    """
    task.set_env_variable("LD_LIBRARY_PATH", "/usr/local/nvidia/lib64")
    return task.set_accelerator_type("nvidia.com/gpu").set_accelerator_limit(1)


@dsl.pipeline(name="spot-required")
def required(url: str = "") -> float:
    table = merge(archive=fetch(url=url).outputs["archive"]).outputs["table"]
    # Was: set_retry(num_retries=5, backoff_dureation="5m"). With kfp's own factor of 2 there would
    # be three: Argo gives up when the next pause would pass an hour from the first start (docs/workloads.md).
    trained = fit(table=table).set_retry(num_retries=5, backoff_duration="5m", backoff_factor=1)
    on_spot(tolerate_spot(gpu(trained)))
    return trained.outputs["Output"]


@dsl.pipeline(name="spot-preferred")
def preferred(url: str = "") -> float:
    table = merge(archive=fetch(url=url).outputs["archive"]).outputs["table"]
    trained = fit(table=table).set_retry(num_retries=5, backoff_duration="5m", backoff_factor=1)
    on_spot(tolerate_spot(gpu(trained)), weight=100)
    return trained.outputs["Output"]
