"""GKE's questions before the first `up`."""
