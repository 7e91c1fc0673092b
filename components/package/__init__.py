"""The component package: `KubeflowCluster` for programs in any of Pulumi's languages
(docs/library.md).
"""
