"""Alerts of a stack: Prometheus rules that follow from its pools, prices and accepted waits."""
