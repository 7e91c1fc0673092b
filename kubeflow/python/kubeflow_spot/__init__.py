"""Placement of pods by the contract of a kubeflow-spot cluster.

`Contract` reads it. `pipelines` applies it to tasks of Kubeflow Pipelines, `manifests` to manifests
of jobs and sweeps, and `models` turns it into objects of the official Kubernetes client.
"""

from kubeflow_spot.contract import Contract, Lines, Pool
from kubeflow_spot.errors import ContractError

__all__ = ["Contract", "ContractError", "Lines", "Pool"]
