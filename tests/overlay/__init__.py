"""The overlay of `kubeflow/` and `sandbox kubeflow`, on a small tree of ours that stands for Kubeflow's manifests."""
