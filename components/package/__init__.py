"""The component package: `KubeflowCluster` for programs in any language (docs/library.md)."""
