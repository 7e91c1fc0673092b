"""Requests that are repeated because Azure does not know everywhere what the program has just made.

For seconds, at times minutes, a new role definition does not exist for an assignment (hashicorp/terraform-provider-azurerm issue
19916), and a new identity does not exist for its federated credentials (openshift/cloud-credential-operator pull request 878,
hashicorp/terraform-provider-azurerm issue 32179, Azure/Azure-Verified-Modules pull request 2673). azure-native repeats neither
(provider/pkg/azure/client_azcore.go), so the engine does, by an error hook (pulumi.com/blog/handling-deployment-errors).
"""

from __future__ import annotations

import asyncio

import pulumi
from pulumi.runtime.proto import resource_pb2, resource_pb2_grpc
from pulumi.runtime.settings import get_monitor, monitor_supports_feature

PASSING = ("RoleDefinitionDoesNotExist", "ParentResourceNotFound", "MS Graph resource not found")
"""Parts of refusals that pass by themselves, where what they miss was made before."""

_LONGEST = 15.0
_MOST = 19
"""With these two a request is repeated for four minutes, as cloud-credential-operator does."""


def seconds(failures: int) -> float:
    """The wait after so many refusals: short at first, since most pass soon."""
    return min(2.0 ** (failures - 1), _LONGEST)


async def again(args: pulumi.ErrorHookArgs) -> bool:
    """Whether the engine is to send a refused request again, after a wait."""
    failures = len(args.errors)
    if (
        args.failed_operation != "create"
        or failures > _MOST
        or not any(part in args.errors[0] for part in PASSING)
    ):
        return False
    await asyncio.sleep(seconds(failures))
    return True


def hooks(name: str) -> pulumi.ResourceHookBinding | None:
    """The hook for resources that name what was just made; `name` is unique in a program.

    None with an engine of before 2026-02, which has no such hooks; under mocks, which say that they have, and call none; and in
    previews, which send nothing.
    """
    calls_hooks = isinstance(get_monitor(), resource_pb2_grpc.ResourceMonitorStub)
    known = monitor_supports_feature(resource_pb2.RESOURCE_MONITOR_FEATURE_ERROR_HOOKS)
    if pulumi.runtime.is_dry_run() or not (calls_hooks and known):
        return None
    return pulumi.ResourceHookBinding(
        on_error=[pulumi.ErrorHook(f"kubeflow-spot:azure:{name}", again)]
    )
