"""Settings of a stack: the vocabulary, its rules, and what is derived from a pool. No Pulumi."""
