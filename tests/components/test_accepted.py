"""Every happy stack is accepted by its emulated cloud, which does not know our rules, and again after `destroy`.

Storage of checkpoints stays, and the stack file then says `existing` (docs/workloads.md).
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from checks.preflight.azure import azure_declared as azure_declared
from checks.preflight.demand import demand
from checks.preflight.gcp import gcp_declared as gcp_declared
from sandbox.cloud.provider import Resource
from tests.components.emulated import EmulatedAzure
from tests.components.emulated_google import EmulatedGoogle
from tests.components.emulation import Emulated
from tests.components.gpu_agents import spec_of
from tests.components.own_properties import not_refused
from tests.components.pools import pools
from tests.components.program import PROJECT, Declared, Registration, declare, stack_config

# An existing cluster has an API server with no objects that matter here.
pytestmark = [pytest.mark.program, pytest.mark.usefixtures("contents")]

STACKS = sorted(
    path
    for pattern in ("tests/configs/*.happy.yaml", "examples/stacks/*.yaml", "Pulumi.*.yaml")
    for path in PROJECT.glob(pattern)
    # A cloud file, which describes an existing cluster to the sandbox, is no stack file.
    if not path.name.endswith(".cloud.yaml")
)
CLOUDS: Mapping[str, Callable[[Path, Mapping[str, Any]], EmulatedAzure | EmulatedGoogle]] = {
    "azure": lambda state, cloud: EmulatedAzure(state, cloud.get("location", "westeurope")),
    "gcp": lambda state, cloud: EmulatedGoogle(state),
}
DECLARED = {"azure": azure_declared, "gcp": gcp_declared}
IN_A_CLOUD = [path for path in STACKS if stack_config(path)["kubeflow-spot:cloud"]["provider"] in CLOUDS]


def deleted(declared: Declared) -> Iterator[Registration]:
    """Yield the resources that `pulumi destroy` deletes by a request of their own, in its order."""
    kept = {r.name for r in declared.resources if r.options.get("retainOnDelete")}
    for resource in reversed(declared.resources):
        gone_with = resource.options.get("deletedWith", "").rpartition("::")[2]
        if not resource.options.get("retainOnDelete") and (not gone_with or gone_with in kept):
            yield resource


def destroy(declared: Declared, cloud: Emulated) -> None:
    """Delete what a run has declared."""
    for resource in deleted(declared):
        if resource.type.startswith(cloud.prefix):
            id, outputs = cloud.created[resource.type, resource.name]
            cloud.provider.delete(
                Resource(resource.type, resource.name, "urn", id, old_inputs=resource.inputs, old_outputs=outputs)
            )


def by_preflight(settings: dict[str, Any], cloud: Emulated) -> set[str]:
    """Return the types of the cloud's resources for which `make preflight` looks for rights."""
    spec = spec_of(settings)
    return {f"{cloud.prefix}{type}" for type, _ in DECLARED[spec.cloud.provider].resources(demand(spec))}


def with_kept_storage(settings: dict[str, Any], cloud: Emulated) -> None:
    """Name the storage that an earlier update of the stack has made, as one that exists."""
    workloads = settings.get("kubeflow-spot:workloads", {})
    if name := workloads.get("checkpoints", {}).get("name"):
        accounts = [id for (type, _), (id, _) in cloud.created.items() if type.endswith(":StorageAccount")]
        workloads["checkpoints"] = {"existing": accounts[0] if accounts else name}


@pytest.mark.parametrize("path", IN_A_CLOUD, ids=lambda path: path.name.removesuffix(".yaml"))
def test_a_happy_stack_is_accepted_by_its_cloud_and_again_after_destroy(path: Path, tmp_path: Path) -> None:
    settings = stack_config(path)
    # The teardown of a protected cluster begins with an `up` without protection.
    settings.get("kubeflow-spot:cluster", {}).pop("protect", None)
    described = settings["kubeflow-spot:cloud"]
    cloud = CLOUDS[described["provider"]](tmp_path / "cloud.json", described)
    cloud.seed(settings)
    declared = declare(settings, cloud=cloud)
    assert {pool["name"] for pool in declared.outputs["pools"]} == set(pools(declared))
    assert by_preflight(settings, cloud) == {r.type for r in declared.resources if r.type.startswith(cloud.prefix)}
    assert not_refused(declared, settings) == set()
    destroy(declared, cloud)
    with_kept_storage(settings, cloud)
    again = declare(settings, cloud=cloud)
    assert again.outputs | {"remembered": {}} == declared.outputs | {"remembered": {}}
