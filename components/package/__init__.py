"""The component package: `KubeflowCluster` for programs in any language (docs/reference/library.md)."""
