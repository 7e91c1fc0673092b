"""Emulated Google Cloud APIs behind the Pulumi `gcp` provider.

A second witness: it imports nothing of the program it runs and takes every rule from what is documented of the real cloud.
"""
