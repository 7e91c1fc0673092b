"""Toleration and affinity from the cluster's contract: the same file on AKS and GKE, also below Kubernetes 1.36.

    KUBEFLOW_SPOT_CONTRACT=contract.json kfp dsl compile --py by_contract.py --output by_contract.yaml

Inside the cluster the variable is not needed: the contract is read from it.
"""

from base import fetch, merge
from kfp import dsl
from kubeflow_spot import Contract, pipelines
from spot_by_default import fit


@dsl.pipeline(name="by-contract")
def by_contract(url: str = "") -> float:
    contract = Contract.find()
    table = merge(archive=fetch(url=url).outputs["archive"]).outputs["table"]
    for placement in ("prefer-spot", "require-spot", "on-demand"):
        trained = pipelines.gpus(fit(table=table).set_display_name(placement))
        pipelines.find_driver(trained)
        pipelines.place(trained, contract.lines(placement))
        pipelines.retry(trained)
    return trained.outputs["Output"]
