"""Rights of users and service accounts in a bed."""

from sandbox.tests.api import Object


def cluster_role(user: str, *rights: tuple[str, str, str], kind: str = "User") -> list[Object]:
    """A ClusterRole and its binding to a user or group; each right is an API group, a resource and a verb."""
    group = "rbac.authorization.k8s.io"
    base = {"apiVersion": f"{group}/v1", "metadata": {"name": user}}
    rules = [{"apiGroups": [api], "resources": [resource], "verbs": [verb]} for api, resource, verb in rights]
    reference = {"apiGroup": group, "kind": "ClusterRole", "name": user}
    subject = {"apiGroup": group, "kind": kind, "name": user}
    return [
        {**base, "kind": "ClusterRole", "rules": rules},
        {**base, "kind": "ClusterRoleBinding", "roleRef": reference, "subjects": [subject]},
    ]
