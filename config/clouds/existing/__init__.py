"""A Kubernetes cluster on any cloud or none, known by its kubeconfig."""
