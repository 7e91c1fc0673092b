"""What is declared inside a cluster, the same on every cloud. Never imports a cloud."""
