"""GKE and what surrounds it, as the rules see it."""
