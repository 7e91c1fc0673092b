"""Kinds of other projects on the bed, by definitions that keep every field: what looks at no schema needs no more."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from config.placement.roles import WORKLOAD_OBJECTS, WorkloadObject
from sandbox.tests.api import Object, Refused
from sandbox.tests.stack import eventually
from tests.admission.bed import Bed

CLUSTER_WIDE = {"ClusterTrainingRuntime", "ClusterWorkflowTemplate"}
OF_KUBERNETES = "batch"
KINDS = {f"{kind.kind}.{kind.group}": kind for kind in WORKLOAD_OBJECTS}


def _definition(kind: WorkloadObject) -> Object:
    names = {"kind": kind.kind, "listKind": f"{kind.kind}List", "plural": kind.resource, "singular": kind.kind.lower()}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    # Without this word the API server takes no kind of Kubernetes' own domain.
    approved = {"api-approved.kubernetes.io": "unapproved, for a test"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.resource}.{kind.group}", "annotations": approved},
        "spec": {
            "group": kind.group,
            "scope": "Cluster" if kind.kind in CLUSTER_WIDE else "Namespaced",
            "names": names,
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def collection(kind: WorkloadObject) -> str:
    """Return the path of a kind's objects, in the profile where it has namespaces."""
    namespace = "" if kind.kind in CLUSTER_WIDE else "namespaces/team-a/"
    return f"/apis/{kind.group}/v1/{namespace}{kind.resource}"


@contextmanager
def serving(bed: Bed, *names: str) -> Iterator[None]:
    """Serve kinds by their names in KINDS while the context lasts."""
    kinds = [KINDS[name] for name in names if KINDS[name].group != OF_KUBERNETES]
    for kind in kinds:
        eventually(lambda kind=kind: not _defined(bed, kind), "an earlier definition is gone")
        bed.api.create(_definition(kind))
    try:
        for kind in kinds:
            eventually(lambda kind=kind: _served(bed, kind), f"{kind.resource} are served")
        yield
    finally:
        for kind in kinds:
            bed.api.delete(_definition(kind))


def _defined(bed: Bed, kind: WorkloadObject) -> bool:
    found = bed.api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    return any(body["metadata"]["name"] == f"{kind.resource}.{kind.group}" for body in found)


def _served(bed: Bed, kind: WorkloadObject) -> bool:
    """Return whether a request for such an object is judged; the policies know a kind a little later than the API server."""
    body = {"apiVersion": f"{kind.group}/v1", "kind": kind.kind, "metadata": {"generateName": "probe-"}}
    try:
        return bool(bed.api.request("POST", f"{collection(kind)}?dryRun=All", body))
    except (Refused, json.JSONDecodeError):
        return False
