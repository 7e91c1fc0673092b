"""Settings of a stack: the vocabulary, its checks, and everything derived from a pool. Pure Python; imports no Pulumi."""
