"""Checks by reading: of a cluster (`checks.ready`) and of a cloud account (`checks.preflight`)."""
