"""Checks that are about a cluster known by its kubeconfig only."""
