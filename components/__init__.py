"""What is declared: Pulumi components over `spec`."""
