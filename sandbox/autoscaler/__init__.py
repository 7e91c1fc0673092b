"""The cloud's own loops in one emulated cluster: `python -m sandbox.autoscaler`, a process beside its control plane.

The autoscaler adds nodes for pending pods and removes nodes that are not needed, as AKS' and GKE's cluster-autoscalers do; the
kubelets' device managers report GPUs once a device plugin runs on a node; the storage drivers make the volumes that claims wait for
(`volumes`, `provisioner`). `behaviour` has the differences between the clouds' autoscalers. Every decision is a line in
`logs/autoscaler.log`; `sandbox status` shows the last decisions about pools.

`scaler.Autoscaler` decides with the real program's timing (cluster-autoscaler 1.36.1), on any clock. In a live sandbox (`loop`) it
scans about every second, waits for no pod to grow older and drains no node (`options.Options.live` says why).

Simplified: of a pod's constraints it knows requests, taints, node selector, required affinity to nodes and pods, spread with
`DoNotSchedule` over any label of nodes, and ports of hosts (`neighbours`). Where another one keeps a pod pending, a volume in
another zone for example, it adds nodes that do not help, at most until the pool is full. A pod whose controller is gone does not
keep its node. Nodes that take a waiting pod are not looked at for removal. It sets no taint DeletionCandidate, so the scheduler
does not prefer other nodes. Evicted pods that their controllers have not made again yet are not counted. Instances never report
an error of their own: the cloud refuses a request at once, or its machines do not register. Limits of cores and memory of the
whole cluster are not known.

`SANDBOX_CLOCK_FACTOR=60` in the environment of `sandbox up` turns minutes of the autoscaler's profile into seconds, but not
those of `maxNodeProvisionTime`.

Everything but `api`, `live`, `loop`, `provisioner` and `__main__` is pure.
"""
