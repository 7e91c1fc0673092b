"""The checks of `ready`: functions from a cluster to findings, in the order of the report."""
