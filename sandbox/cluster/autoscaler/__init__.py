"""The cloud's own loops in one emulated cluster: `python -m sandbox.cluster.autoscaler`, a process beside its control plane.

The autoscaler adds nodes for pending pods and removes empty nodes, as AKS' and GKE's cluster-autoscalers do; the kubelets'
device managers report GPUs once a device plugin runs on a node; the storage drivers make the volumes that claims wait for
(`volumes`, `provisioner`). `behaviour` has the differences between the clouds' autoscalers. Every decision is a line in
`logs/autoscaler.log`; `sandbox status` shows the last decisions about pools.

Simplified: it scans about every second, and at once after a decision: not every `scanInterval`, without the autoscaler's wait
of 2 s for a pod and of 30 s for a GPU pod, and without limits of unready nodes. It never drains nodes that are in use, and
does not remove late machines. Of a pod's constraints it knows requests, taints, node selector and required node affinity;
where another one keeps a pod pending, a volume in another zone for example, it adds at most one node for the pod.

`SANDBOX_CLOCK_FACTOR=60` in the environment of `sandbox up` turns minutes of the autoscaler's profile into seconds, but not
those of `maxNodeProvisionTime`.

Everything but `api`, `behaviour`, `loop`, `provisioner` and `__main__` is pure.
"""
