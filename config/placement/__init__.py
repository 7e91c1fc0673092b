"""Pools -> labels, taints, tolerations, affinity, growth order, contract. Knows no cloud."""
