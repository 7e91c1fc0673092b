"""The drill: takes spot machines away from a copy of a stack's cluster, and records where the work goes."""
