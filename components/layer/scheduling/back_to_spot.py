"""The descheduler that moves pods back to spot if they ask for it (docs/adr/0023).

It evicts a pod; the scheduler then chooses the new node.

Upstream: kubernetes-sigs/descheduler v0.36.0, kubernetes/deployment and kubernetes/base.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pulumi_kubernetes as k8s

from components.layer import names
from components.layer.part import Inside, Part, metadata, only_where, service_account
from config.model.pool import Capacity
from config.placement.node_pools import CAPACITY_LABEL, CRITICAL_ADDONS_TAINT
from config.placement.pods import BACK_TO_SPOT

ROLE = "back-to-spot"
NAMESPACE = "kube-system"

_PLUGIN = "RemovePodsViolatingNodeAffinity"

_FILE = "policy.json"


def policy() -> dict[str, Any]:
    """Return the descheduler's policy.

    The plugin evicts a pod if any node suits its preference better, even a full one, so a full spot
    node would move pods between on-demand nodes for ever (kubernetes-sigs/descheduler issues 1410
    and 1707). The evictor's `nodeSelector` says where a pod must fit: it names spot alone, so a pod
    is evicted only while a spot node has room for it.
    """
    evictor = {
        "nodeFit": True,
        "nodeSelector": f"{CAPACITY_LABEL}={Capacity.SPOT.value}",
        # Each move makes a new pod, so none moves twice within an hour.
        "minPodAge": "1h",
        # Pods of Kubeflow have emptyDir volumes, of sidecars and for /dev/shm; one with the label
        # keeps its state elsewhere.
        "podProtections": {"defaultDisabled": ["PodsWithLocalStorage"]},
    }
    mover = {
        "nodeAffinityType": ["preferredDuringSchedulingIgnoredDuringExecution"],
        "labelSelector": {"matchLabels": dict(BACK_TO_SPOT)},
    }
    profile = {
        "name": ROLE,
        "pluginConfig": [
            {"name": "DefaultEvictor", "args": evictor},
            {"name": _PLUGIN, "args": mover},
        ],
        "plugins": {"deschedule": {"enabled": [_PLUGIN]}},
    }
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        # Two pods evicted at once may count on the same free machine, and one would lose its work
        # for nothing.
        "maxNoOfPodsToEvictTotal": 1,
        "profiles": [profile],
    }


def rules() -> list[k8s.rbac.v1.PolicyRuleArgs]:
    """Return the descheduler's rights: those of upstream without which this policy fails."""
    rule = k8s.rbac.v1.PolicyRuleArgs
    return [
        rule(
            api_groups=[""],
            resources=["nodes", "pods", "persistentvolumeclaims"],
            verbs=["list", "watch"],
        ),
        rule(api_groups=[""], resources=["pods/eviction"], verbs=["create"]),
        rule(api_groups=["events.k8s.io"], resources=["events"], verbs=["create", "patch"]),
    ]


def deployment_spec(image: str, instance: str) -> k8s.apps.v1.DeploymentSpecArgs:
    """Return the Deployment: one pod, never on spot, that looks every two minutes."""
    selector = {"app.kubernetes.io/name": f"{names.PROGRAM}-{ROLE}", names.INSTANCE: instance}
    called = names.object_name(instance, ROLE)
    container = k8s.core.v1.ContainerArgs(
        name="descheduler",
        image=image,
        command=["/bin/descheduler"],
        args=[
            f"--policy-config-file=/policy/{_FILE}",
            "--descheduling-interval=2m",
            "--leader-elect=false",
            "--v=2",
        ],
        resources=k8s.core.v1.ResourceRequirementsArgs(
            requests={"cpu": "20m", "memory": "64Mi"}, limits={"memory": "256Mi"}
        ),
        liveness_probe=k8s.core.v1.ProbeArgs(
            http_get=k8s.core.v1.HTTPGetActionArgs(path="/healthz", port=10258, scheme="HTTPS"),
            initial_delay_seconds=5,
            period_seconds=20,
        ),
        security_context=k8s.core.v1.SecurityContextArgs(
            allow_privilege_escalation=False,
            capabilities=k8s.core.v1.CapabilitiesArgs(drop=["ALL"]),
            read_only_root_filesystem=True,
            run_as_non_root=True,
        ),
        volume_mounts=[
            k8s.core.v1.VolumeMountArgs(name="policy", mount_path="/policy", read_only=True)
        ],
    )
    elsewhere = k8s.core.v1.NodeSelectorRequirementArgs(
        key=CAPACITY_LABEL, operator="NotIn", values=[Capacity.SPOT.value]
    )
    digest = hashlib.sha256(_content().encode()).hexdigest()
    return k8s.apps.v1.DeploymentSpecArgs(
        replicas=1,
        # Two deschedulers would evict two pods for one free machine.
        strategy=k8s.apps.v1.DeploymentStrategyArgs(type="Recreate"),
        selector=k8s.meta.v1.LabelSelectorArgs(match_labels=selector),
        template=k8s.core.v1.PodTemplateSpecArgs(
            metadata=k8s.meta.v1.ObjectMetaArgs(
                labels={**names.labels(instance), **selector},
                annotations={f"{ROLE}.kubeflow-spot.dev/policy": digest[:16]},
            ),
            spec=k8s.core.v1.PodSpecArgs(
                service_account_name=called,
                priority_class_name="system-cluster-critical",
                security_context=k8s.core.v1.PodSecurityContextArgs(
                    run_as_user=1000,
                    seccomp_profile=k8s.core.v1.SeccompProfileArgs(type="RuntimeDefault"),
                ),
                affinity=only_where(elsewhere),
                tolerations=[
                    k8s.core.v1.TolerationArgs(key=CRITICAL_ADDONS_TAINT.key, operator="Exists")
                ],
                containers=[container],
                volumes=[
                    k8s.core.v1.VolumeArgs(
                        name="policy", config_map=k8s.core.v1.ConfigMapVolumeSourceArgs(name=called)
                    )
                ],
            ),
        ),
    )


def _content() -> str:
    return json.dumps(policy(), indent=2, sort_keys=True)


class BackToSpot(Part):
    """The descheduler in kube-system, with its policy and its rights; pods without the label are
    deliberately never evicted.
    """

    def __init__(self, name: str, image: str, inside: Inside) -> None:
        super().__init__("kubeflow-spot:addons:BackToSpot", name, inside)
        called = names.object_name(self.instance, ROLE)
        own = metadata(called, self.instance, NAMESPACE)
        before = (
            k8s.core.v1.ConfigMap(
                f"{name}-policy", metadata=own, data={_FILE: _content()}, opts=self.child
            ),
            *service_account(self, name, called, NAMESPACE, rules()),
        )
        k8s.apps.v1.Deployment(
            name, metadata=own, spec=deployment_spec(image, self.instance), opts=self.after(*before)
        )
        self.register_outputs({})
