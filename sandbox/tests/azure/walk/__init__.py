"""The rules of AKS, one row each: a request that is refused, and a near neighbour that is taken."""
