"""Checks that are about GKE only. Pages are docs.cloud.google.com/kubernetes-engine/docs/<...>/<page>."""
