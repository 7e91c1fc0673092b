"""Repeated requests: Azure needs seconds, sometimes minutes, until a new object is known
everywhere.

Until then an assignment does not find its role definition (hashicorp/terraform-provider-azurerm
issue 19916), and a federated credential does not find its identity
(openshift/cloud-credential-operator pull request 878, hashicorp/terraform-provider-azurerm issue
32179, Azure/Azure-Verified-Modules pull request 2673). azure-native repeats neither request
(provider/pkg/azure/client_azcore.go), so an error hook of the engine does
(pulumi.com/blog/handling-deployment-errors).
"""

from __future__ import annotations

import asyncio

import pulumi
from pulumi.runtime.proto import resource_pb2, resource_pb2_grpc
from pulumi.runtime.settings import get_monitor, monitor_supports_feature

PASSING = ("RoleDefinitionDoesNotExist", "ParentResourceNotFound", "MS Graph resource not found")
"""Parts of refusals that pass by themselves, because the missing object was created before."""

_LONGEST = 15.0
_MOST = 19
"""With these two a request is repeated for four minutes, as cloud-credential-operator does."""


def seconds(failures: int) -> float:
    """Return the wait after so many refusals, in seconds: short at first, since most pass soon."""
    return min(2.0 ** (failures - 1), _LONGEST)


async def repeat_request(args: pulumi.ErrorHookArgs) -> bool:
    """Wait, and return whether the engine is to send a refused request again."""
    failures = len(args.errors)
    if (
        args.failed_operation != "create"
        or failures > _MOST
        or not any(part in args.errors[0] for part in PASSING)
    ):
        return False
    await asyncio.sleep(seconds(failures))
    return True


def error_hooks(name: str) -> pulumi.ResourceHookBinding | None:
    """Return the hook for resources that name a new object; `name` is unique in a program.

    Return None with an engine older than 2026-02, which has no such hooks, under mocks, which call
    none, and in previews.
    """
    calls_hooks = isinstance(get_monitor(), resource_pb2_grpc.ResourceMonitorStub)
    known = monitor_supports_feature(resource_pb2.RESOURCE_MONITOR_FEATURE_ERROR_HOOKS)
    if pulumi.runtime.is_dry_run() or not (calls_hooks and known):
        return None
    return pulumi.ResourceHookBinding(
        on_error=[pulumi.ErrorHook(f"kubeflow-spot:azure:{name}", repeat_request)]
    )
