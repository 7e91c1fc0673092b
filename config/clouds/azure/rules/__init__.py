"""Checks that are about AKS only."""
