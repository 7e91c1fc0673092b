"""The layer inside a cluster, the same on every cloud. Never imports a cloud."""
