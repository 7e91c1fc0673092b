"""Kinds of other projects on the bed, by definitions that keep every field: what looks at no schema needs no more."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from config.placement.roles import WORKLOAD_OBJECTS, WorkloadObject
from sandbox.tests.api import Object, Refused
from sandbox.tests.stack import eventually
from tests.admission.bed import Bed
from tests.examples import crds

CLUSTER_WIDE = {"ClusterTrainingRuntime", "ClusterWorkflowTemplate"}
OF_KUBERNETES = "batch"
KINDS = {f"{kind.kind}.{kind.group}": kind for kind in WORKLOAD_OBJECTS}


def definition(group: str, kind: str, versions: Sequence[str] = ("v1",)) -> Object:
    """Return the CustomResourceDefinition of a kind, which takes any fields; the first version is stored."""
    any_fields = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    base = {"served": True, "schema": {"openAPIV3Schema": any_fields}}
    served = [{**base, "name": name, "storage": name == versions[0]} for name in versions]
    plural = f"{kind.lower()}s"
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


def an_object(kind: WorkloadObject, **metadata: str) -> Object:
    """Return the beginning of an object, in the profile where the kind has namespaces."""
    namespace = {} if kind.kind in CLUSTER_WIDE else {"namespace": "team-a"}
    return {"apiVersion": f"{kind.group}/v1", "kind": kind.kind, "metadata": {**metadata, **namespace}}


@contextmanager
def serving(bed: Bed, *names: str) -> Iterator[None]:
    """Serve kinds by their names in KINDS while the context lasts."""
    kinds = [KINDS[name] for name in names if KINDS[name].group != OF_KUBERNETES]
    wanted = [definition(kind.group, kind.kind) for kind in kinds]
    for body in wanted:
        bed.api.create(body)
    try:
        for kind in kinds:
            eventually(lambda kind=kind: _served(bed, kind), f"{kind.resource} are served")
        yield
    finally:
        crds.remove(bed.api, wanted)


def _served(bed: Bed, kind: WorkloadObject) -> bool:
    """Return whether a request for such an object is judged; the policies know a kind a little later than the API server."""
    try:
        return bool(bed.api.create(an_object(kind, generateName="probe-"), dry_run=True))
    except (Refused, json.JSONDecodeError):
        return False
