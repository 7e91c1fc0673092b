"""An emulated Azure management API behind the Pulumi `azure-native` provider.

A second witness: it imports nothing of the program it runs and takes every rule from what is documented of the real cloud.
`AzureProvider` is in `provider`: it needs Pulumi's SDK, and whoever only works on the cloud does not.
"""

from sandbox.azure.cloud import AzureCloud
from sandbox.azure.clusters import ClusterRuntime

__all__ = ["AzureCloud", "ClusterRuntime"]
