"""Rules of GKE on the Kubernetes labels and taints of a pool's nodes."""

import re

from sandbox.cloud import rules
from sandbox.gcp.gcp_errors import GcpRefused, bad_request
from sandbox.gcp.resources.gcp_pool_request import PoolRequest

# https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"(?=.{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/")

# GKE reserves its own prefixes (bitpoke/stack #86 for node-role), except the label that joins a pool to a ComputeClass (page
# about-custom-compute-classes). For prefixes other than node-role the refusal is UNCONFIRMED.
_RESERVED = ("kubernetes.io", "k8s.io", "cloud.google.com", "gke.io")
_ALLOWED = ("cloud.google.com/compute-class",)


def _well_formed(key: str) -> bool:
    match = _PREFIX.match(key)
    return bool(_NAME.fullmatch(key[match.end() :] if match else key))


def labels(request: PoolRequest) -> GcpRefused | None:
    for key, value in (request.config.get("labels") or {}).items():
        prefix = key.rpartition("/")[0]
        if key not in _ALLOWED and any(prefix == own or prefix.endswith(f".{own}") for own in _RESERVED):
            refused = bad_request(f"Applying kubernetes label is not allowed: {key}.")
            return refused if prefix == "node-role.kubernetes.io" else refused.as_read()
        if not _well_formed(key) or (value and not _NAME.fullmatch(value)):
            # Words UNCONFIRMED
            return bad_request(f"Invalid kubernetes label {key}={value}.").as_read()
    return None


@rules.as_read
def taints(request: PoolRequest) -> GcpRefused | None:
    # Kubernetes' validation of a node's taints; the words are UNCONFIRMED.
    seen = set()
    for taint in request.config.get("taints") or []:
        if not _well_formed(taint["key"]) or (taint.get("value") and not _NAME.fullmatch(taint["value"])):
            return bad_request(f"Invalid taint {taint['key']}={taint.get('value', '')}.")
        if (taint["key"], taint["effect"]) in seen:
            return bad_request(f"Taints must be unique by key and effect: {taint['key']} has {taint['effect']} twice.")
        seen.add((taint["key"], taint["effect"]))
    return None
