"""Real control planes, the kubernetes provider over them, and the autoscaler beside them."""
