"""The order in which the autoscaler grows pools."""
