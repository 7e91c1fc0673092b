"""Rights of users and service accounts in a bed."""

from sandbox.tests.api import Object


def cluster_role(user: str, *rights: tuple[str, str, str], kind: str = "User") -> list[Object]:
    """Return a ClusterRole and its binding to a user or group; each right is an API group, a resource and a verb."""
    group = "rbac.authorization.k8s.io"
    base = {"apiVersion": f"{group}/v1", "metadata": {"name": user}}
    rules = [{"apiGroups": [api], "resources": [resource], "verbs": [verb]} for api, resource, verb in rights]
    reference = {"apiGroup": group, "kind": "ClusterRole", "name": user}
    subject = {"apiGroup": group, "kind": kind, "name": user}
    return [
        {**base, "kind": "ClusterRole", "rules": rules},
        {**base, "kind": "ClusterRoleBinding", "roleRef": reference, "subjects": [subject]},
    ]


OPERATORS = (
    # kubeflow/trainer 1.9, ClusterRole training-operator, in whatever namespace it runs.
    *cluster_role("system:serviceaccount:training:training-operator", ("kubeflow.org", "mpijobs/status", "update")),
    *cluster_role("system:serviceaccount:kubeflow:training-operator", ("kubeflow.org", "mpijobs/status", "update")),
    # ray-project/kuberay, chart kuberay-operator, templates/_helpers.tpl.
    *cluster_role("system:serviceaccount:ray-system:kuberay-operator", ("ray.io", "rayclusters/status", "update")),
)
"""Rights by which the guard knows the operators of training jobs."""
