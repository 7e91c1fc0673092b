"""A drill without a control plane: hundreds of weeks in the time of one (docs/adr/0005).

The autoscaler, the clock, the machines, the kubelets and the faults are the drill's own. Replaced
here are the API server, the scheduler and the controllers, as far as a drill's work needs them.
`python -m bench.weeks agreement` measures how far both kinds of drill agree.
"""
