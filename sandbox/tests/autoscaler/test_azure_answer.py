"""What the autoscaler's status on AKS leaves of a refusal."""

from dataclasses import replace

import yaml

from sandbox.autoscaler.azure_answer import answer
from sandbox.autoscaler.status_map import document, dump
from sandbox.autoscaler.world import Failure
from sandbox.tests.autoscaler.objects import group

QUOTA = (
    "Operation could not be completed as it results in exceeding approved LowPriorityCores quota. Additional details"
)
SUBSCRIPTION = "12345678-1234-1234-1234-123456789012"


def shown(refused: str) -> str:
    """Return the message of the status, as the ConfigMap has it."""
    of = replace(group("t4", 3), pool_id=f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/x")
    of.template["metadata"]["labels"]["kubernetes.azure.com/cluster"] = "MC_rg-ml-dev_ml-dev_westeurope"
    failure = Failure("cloudProviderError", f"failed to increase node group size: {answer(of, refused)}")
    text = dump(document([of], [], {of.name: failure}))
    # Line by line, so that `grep` and `awk` find what the real one's status has.
    message = str(yaml.safe_load(text)["nodeGroups"][0]["scaleUp"]["backoffInfo"]["errorMessage"])
    lines = {line.strip() for line in text.splitlines()}
    assert "\n" not in message or {line.strip() for line in message.splitlines()} <= lines
    return message


def test_the_code_is_left_and_the_name_of_the_quota_is_cut_off() -> None:
    text = shown(f"pool t4 stays at 0 nodes: {QUOTA}")
    assert "\nERROR CODE: OperationNotAllowed\n" in text
    assert text.endswith("<truncated>")
    assert "quota" not in text.lower()


def test_a_code_of_the_clouds_own_is_kept() -> None:
    assert "\nERROR CODE: SkuNotAvailable\n" in shown(
        "pool t4: SkuNotAvailable: The requested VM size is not available"
    )


def test_a_refusal_of_the_autoscaler_itself_is_not_azures() -> None:
    assert shown("pool t4 takes 0 to 8 nodes, not 9").endswith("size: pool t4 takes 0 to 8 nodes, not 9")
