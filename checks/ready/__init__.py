"""`ready`: whether a cluster is ready for Kubeflow on spot GPUs. It only reads (ADR 28)."""
