"""Rules of checkpoints and profiles: names of accounts, credentials of identities."""

from __future__ import annotations

import re
from collections.abc import Iterator

from config.base.near import with_form
from config.base.problems import Problem
from config.clouds.azure.azure_settings import MOST_OF_GROUP_NAME, Azure, kept_group
from config.clouds.azure.azure_tables import other_cloud
from config.clouds.azure.rules import azure_id_rules
from config.clouds.traits import Cloud
from config.model.reading import of_each
from config.rules.draft import Draft
from config.rules.workload_rules import checkpoints, profiles

_ACCOUNT = r"[a-z0-9]{3,24}"
"""learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-storage-account-name"""

_MOST_CREDENTIALS = 20
"""learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations"""


_NO_CREDENTIALS = {"malaysiasouth", "newzealandnorth"}
"""Regions whose identities take no federated credentials
(learn.microsoft.com/entra/workload-id/workload-identity-federation-considerations). The page is
dated February 2024 and its list has changed since: hence a warning."""


def _other_cloud(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if checkpoints(draft) and azure.location and other_cloud(azure.location):
        what = f"is set in {azure.location}: only Azure's public cloud is supported"
        yield Problem(
            "workloads.checkpoints",
            what,
            "remove it; make account and identities with that cloud's own tools",
        )


def _new_region(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    if profiles(draft) and azure.location in _NO_CREDENTIALS:
        what = f"need federated credentials, which identities in {azure.location} did not take"
        remedy = (
            "take another region, or see workload-identity-federation-considerations, "
            '"Unsupported regions"'
        )
        yield Problem("workloads.profiles", what, remedy, warning=True)


def _name(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    wanted = checkpoints(draft)
    name = wanted.name if wanted else None
    if name is not None and not re.fullmatch(_ACCOUNT, name):
        what = f"{name!r} is not a valid name for a storage account"
        yield Problem(
            "workloads.checkpoints.name",
            what,
            with_form(name, _ACCOUNT) + "3 to 24 lower-case letters and digits",
        )


def _group(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    wanted = checkpoints(draft)
    own = azure.resource_group or (draft.cluster.name if draft.cluster else None)
    if wanted is None or not wanted.name or not own or azure.existing_resource_group:
        return
    whole = kept_group(own, wanted.name)
    if len(whole) > MOST_OF_GROUP_NAME:
        what = f"its resource group would be {whole!r}, {len(whole)} characters long"
        yield Problem(
            "workloads.checkpoints.name",
            what,
            f"shorten it or `cloud.resourceGroup` until it has at most {MOST_OF_GROUP_NAME}",
        )


def _existing(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    wanted = checkpoints(draft)
    id = wanted.existing if wanted else None
    path = "workloads.checkpoints.existing"
    if id is None:
        return
    if not id.startswith("/"):
        remedy = (
            "/subscriptions/.../resourceGroups/.../providers/Microsoft.Storage/storageAccounts/NAME"
        )
        yield Problem(path, f"{id!r} is not the resource id of a storage account", remedy)
        return
    yield from azure_id_rules.check_id_type(
        path, id, "Microsoft.Storage/storageAccounts", "a storage account"
    )


def _credentials(azure: Azure, draft: Draft, cloud: Cloud) -> Iterator[Problem]:
    for path, count in of_each(
        profiles(draft), lambda pair: (pair[0], len(pair[1].service_accounts))
    ):
        if count > _MOST_CREDENTIALS:
            what = (
                f"has {count} service accounts; an identity takes {_MOST_CREDENTIALS} credentials"
            )
            yield Problem(f"{path}.serviceAccounts", what, f"name at most {_MOST_CREDENTIALS}")


NEW_CLUSTER_RULES = (_other_cloud, _new_region, _name, _group, _existing, _credentials)
