"""Kubeflow's manifests, with the components of the folder `kubeflow/` over them, on the control
plane of a stack."""
