"""A cluster known by its kubeconfig alone: nothing is declared outside it."""
