"""The drill: evicts spot machines of a copy of a stack's cluster, and reports what happens."""
