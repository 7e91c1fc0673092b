"""An emulated Azure management API behind the Pulumi `azure-native` provider.

A second witness: it imports nothing of the program it runs and takes every rule from what is documented of the real cloud.
"""
