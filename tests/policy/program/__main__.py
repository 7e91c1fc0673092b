"""Declares what `resources.json` lists, by type: also what no other program of this repository would declare.

`{"unknown": true}` stands for a value that a preview does not know, `{"secret": value}` for a secret.
"""

import json
from pathlib import Path

import pulumi

later = pulumi.CustomResource(
    "azure-native:managedidentity:UserAssignedIdentity", "later", {"resourceGroupName": "group"}
)
cluster = pulumi.ProviderResource("kubernetes", "cluster", {"kubeconfig": later.id})


def value(written):
    if isinstance(written, dict):
        if set(written) == {"unknown"}:
            return later.id
        if set(written) == {"secret"}:
            return pulumi.Output.secret(value(written["secret"]))
        return {key: value(inner) for key, inner in written.items()}
    return [value(inner) for inner in written] if isinstance(written, list) else written


for resource in json.loads(Path(__file__).with_name("resources.json").read_text()):
    provider = cluster if resource["type"].startswith("kubernetes:") else None
    options = pulumi.ResourceOptions(protect=resource["protect"], provider=provider)
    pulumi.CustomResource(resource["type"], resource["name"], value(resource["inputs"]), options)
