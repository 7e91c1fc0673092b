"""The cloud's own loops in one emulated cluster: `python -m sandbox.cluster.autoscaler`, a process beside its control plane.

The autoscaler gives pending pods nodes and takes empty nodes away, as AKS' and GKE's cluster-autoscalers do; the kubelets'
device managers report GPUs once a device plugin runs on a node; the storage drivers make the volumes that claims wait for
(`volumes`, `provisioner`). `manners` is what differs between the clouds' autoscalers. Every decision is a line in
`logs/autoscaler.log`; `sandbox status` shows the last of those about pools.

Plain for now. It scans about every second, and at once after a decision: not every `scanInterval`, without the autoscaler's wait
of 2 s for a pod and of 30 s for a GPU pod, and without limits of unready nodes. Nodes that are in use are never emptied, and
machines that are late are not removed for it. Of a pod's constraints it knows requests, taints, node selector and required node
affinity; where another one keeps a pod pending, a volume in another zone for example, it makes at most one node for it.

`SANDBOX_CLOCK_FACTOR=60` in the environment of `sandbox up` makes minutes of the autoscaler's profile pass in seconds, but for
`maxNodeProvisionTime`.

Everything but `api`, `manners`, `loop`, `provisioner` and `__main__` is pure.
"""
