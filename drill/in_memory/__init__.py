"""A drill without a control plane: the same drill over objects in memory, for hundreds of weeks in place of one (docs/adr/0005).

The autoscaler, the clock, the machines, the kubelets and the faults are the drill's own. What stands in for the API server, the
scheduler and the controllers is here, and does no more than a drill's work needs; how far it agrees with a drill over the real
ones is measured by `python -m bench.weeks agreement`.
"""
