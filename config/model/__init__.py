"""The vocabulary of a stack file, in Kubernetes' words. Knows no cloud."""
