"""Azure's refusal of a larger scale set, as its SDK hands it to the autoscaler.

azure-sdk-for-go, sdk/azcore v1.22.0, internal/exported/response_error.go:119-165: the address comes first, then status and code,
then the body. The status shows 500 characters of that (kubernetes/autoscaler 1.36.1, clusterstate/clusterstate.go:51): of quota the
code alone is left.
"""

import json
import re

from sandbox.cloud.node_groups import NodeGroup

_RULE = "-" * 80
_REFUSED = re.compile(r"pool [^ :]+(?: stays at \d+ nodes)?: (?:([A-Z]\w+): )?(.+)", re.DOTALL)
_QUOTA = "OperationNotAllowed"
"""The code of quota (kubernetes/autoscaler #2607, Azure/AKS #1184); QuotaExceeded was seen too (openshift/release #33708)."""
_NOBODY = "00000000-0000-0000-0000-000000000000"


def answer(group: NodeGroup, refused: str) -> str:
    """Return the SDK's text of what the cloud refused; a text that is not the cloud's as it is."""
    found = _REFUSED.fullmatch(refused)
    code = (found[1] or (_QUOTA if "quota" in found[2] else "")) if found else ""
    if not found or not code:
        return refused
    body = json.dumps({"error": {"code": code, "message": found[2]}}, indent=2)
    return "\n".join(
        (f"PUT {_address(group)}", _RULE, "RESPONSE 409: 409 Conflict", f"ERROR CODE: {code}", _RULE, body, _RULE, "")
    )


def _address(group: NodeGroup) -> str:
    named = re.match(r"/subscriptions/([^/]+)/", group.pool_id)
    labels = (group.template.get("metadata") or {}).get("labels") or {}
    place = f"subscriptions/{named[1] if named else _NOBODY}/resourceGroups/{labels.get('kubernetes.azure.com/cluster', 'MC_')}"
    return f"https://management.azure.com/{place}/providers/Microsoft.Compute/virtualMachineScaleSets/{group.name}"
