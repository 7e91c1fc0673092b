"""Rules of GKE. Pages are docs.cloud.google.com/kubernetes-engine/docs/<...>/<page>."""
