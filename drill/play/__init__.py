"""The run of a drill: clock, nodes, kubelets, faults and the real programs."""
