"""Pulumi components: the resources that a checked stack file leads to."""
