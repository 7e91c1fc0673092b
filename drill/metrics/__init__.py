"""Metrics of a drill: kube-state-metrics beside its API server, and the alerts judged by promtool."""
