"""Grafana's dashboards of a stack, from the series that its alerts record (config/alerts/series.py).

Only `python -m dashboards` imports this package: the SDK of Grafana is there for development.
"""
