"""Kinds of other projects on the bed, by definitions that keep every field: what looks at no schema needs no more."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from config.placement.roles import WORKLOAD_OBJECTS, WorkloadObject
from sandbox.tests.api import Object, Refused
from sandbox.tests.stack import eventually
from tests.admission.bed import Bed

CLUSTER_WIDE = {"ClusterTrainingRuntime", "ClusterWorkflowTemplate"}
OF_KUBERNETES = "batch"
KINDS = {f"{kind.kind}.{kind.group}": kind for kind in WORKLOAD_OBJECTS}


def definition(group: str, kind: str, plural: str, versions: Sequence[str] = ("v1",)) -> Object:
    """Return the CustomResourceDefinition of a kind, which takes any fields; the first version is stored."""
    any_fields = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    base = {"served": True, "schema": {"openAPIV3Schema": any_fields}}
    served = [{**base, "name": name, "storage": name == versions[0]} for name in versions]
    names = {"kind": kind, "singular": kind.lower(), "plural": plural}
    scope = "Cluster" if kind in CLUSTER_WIDE else "Namespaced"
    # Without this word the API server takes no kind of Kubernetes' own domain.
    approved = {"api-approved.kubernetes.io": "unapproved, for a test"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}", "annotations": approved},
        "spec": {"group": group, "names": names, "scope": scope, "versions": served},
    }


def collection(kind: WorkloadObject) -> str:
    """Return the path of a kind's objects, in the profile where it has namespaces."""
    namespace = "" if kind.kind in CLUSTER_WIDE else "namespaces/team-a/"
    return f"/apis/{kind.group}/v1/{namespace}{kind.resource}"


@contextmanager
def serving(bed: Bed, *names: str) -> Iterator[None]:
    """Serve kinds by their names in KINDS while the context lasts."""
    kinds = [KINDS[name] for name in names if KINDS[name].group != OF_KUBERNETES]
    wanted = [definition(kind.group, kind.kind, kind.resource) for kind in kinds]
    for body in wanted:
        eventually(lambda body=body: not bed.api.exists(body), "an earlier definition is gone")
        bed.api.create(body)
    try:
        for kind in kinds:
            eventually(lambda kind=kind: _served(bed, kind), f"{kind.resource} are served")
        yield
    finally:
        for body in wanted:
            bed.api.delete(body)


def _served(bed: Bed, kind: WorkloadObject) -> bool:
    """Return whether a request for such an object is judged; the policies know a kind a little later than the API server."""
    body = {"apiVersion": f"{kind.group}/v1", "kind": kind.kind, "metadata": {"generateName": "probe-"}}
    try:
        return bool(bed.api.request("POST", f"{collection(kind)}?dryRun=All", body))
    except (Refused, json.JSONDecodeError):
        return False
