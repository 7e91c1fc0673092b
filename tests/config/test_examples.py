"""Values that our pages and examples show are refused in a stack that reaches a real cloud, all at once and by their paths."""

import re
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest
import yaml

from config.rules import examples
from config.stack_file import loader
from tests.config.stack import GOOD, good, on_gke
from tests.config.stack_files import settings
from tests.config.test_fields import fields
from tests.config.test_secrets import WHOLE

PROJECT = Path(__file__).parents[2]
PAGES = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
STACKS = sorted([*PROJECT.glob("Pulumi.*.yaml"), *(PROJECT / "examples" / "stacks").glob("*.yaml")])
ZERO = "00000000-0000-0000-0000-000000000000"
IMAGE = f"registry.example.com/plugin:v1@sha256:{'0123456789abcdef' * 4}"
REAL_DIGEST = "sha256:0f5b26b9518d002b6173fd61daad821fa340635ebfec5bba471013f9ca114579"
REAL_IMAGE = f"nvcr.io/nvidia/k8s-device-plugin:v1@{REAL_DIGEST}"


def registry_id(subscription: str) -> str:
    return f"/subscriptions/{subscription}/resourceGroups/shared/providers/Microsoft.ContainerRegistry/registries/ours"


def found(raw: dict[str, Any], accepts: bool | None) -> dict[str, bool]:
    """Return the paths of example values, and whether they only warn."""
    problems = loader.read_stack(raw, "live", accepts_examples=accepts)[1]
    return {problem.path: problem.warning for problem in problems if "which examples show" in problem.what}


COPIED = good(
    cloud=dict(
        **GOOD["cloud"],
        registry={"id": registry_id(ZERO)},
        access={"adminGroups": ["2b0f5c1e-8f0e-4d3a-9c57-1f6f1f0a7c11"], "authorizedRanges": ["203.0.113.7/32"]},
        ssh={"publicKey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILwf25YCRkhL4liB4388rDxhWoGhRZDbHy8V/RKKvQ0H"},
        encryption={"kms": {"keyId": "https://ours.vault.azure.net/keys/etcd/0123456789abcdef0123456789abcdef"}},
    ),
    overrides=[{"pin": "devicePluginImage", "value": IMAGE, "reason": "from our mirror"}],
    imagePullSecrets=[{"name": "a", "server": "example.azurecr.io", "username": "u", "password": "p"}],
    workloads={"checkpoints": {"existing": registry_id("11111111-1111-4111-8111-111111111111")}},
)
"""A stack file whose owner copied from our pages."""

PATHS = [
    *("cloud.registry.id", "cloud.access.adminGroups[0]", "cloud.access.authorizedRanges[0]", "cloud.ssh.publicKey"),
    *("cloud.encryption.kms.keyId", "overrides[0].value"),
    *("imagePullSecrets[0].server", "workloads.checkpoints.existing"),
]

TAINT = {"key": "example.com/a", "value": "b"}
OWN = good(
    cloud=dict(
        **GOOD["cloud"],
        registry={"id": registry_id("6f0f6d24-59c4-4f0c-8f3b-2f6c0a3b9b57")},
        access={"adminGroups": ["9d1d6c0a-7f43-4b0e-b2e9-5f1f0c6f2f0d"], "authorizedRanges": ["20.61.10.0/28"]},
        ssh={"publicKey": WHOLE[0]},
        encryption={"kms": {"keyId": "https://ours.vault.azure.net/keys/etcd/3c6e0b8a9c15224a8228b9a98ca1531d"}},
    ),
    cluster={"name": "ml-test", "tags": {"contact": "ml@example.com"}},
    overrides=[
        {
            "pin": "devicePluginImage",
            "value": REAL_IMAGE,
            "reason": "see example.com",
        }
    ],
    imagePullSecrets=[{"name": "a", "server": "example-team.azurecr.io", "username": "u", "password": "p"}],
    pools=[{**GOOD["pools"][0], "labels": {"example.com/team": "a"}, "taints": [TAINT]}, *GOOD["pools"][1:]],
)
"""One whose values are its owner's; what looks alike is right where it stands."""


def test_every_copied_value_is_refused_at_once_and_warned_of_where_examples_are_accepted() -> None:
    assert found(COPIED, accepts=False) == dict.fromkeys(PATHS, False)
    assert found(COPIED, accepts=True) == dict.fromkeys(PATHS, True)
    # Where nobody knows, an address that no caller has is a warning, as it always was.
    assert found(COPIED, accepts=None) == {"cloud.access.authorizedRanges[0]": True}


@pytest.mark.parametrize("network", ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "198.18.0.0/15"])
def test_every_range_for_documentation_and_benchmarks_is_refused(network: str) -> None:
    """RFC 5737 and RFC 2544."""
    copied = good(cloud={**GOOD["cloud"], "access": {"authorizedRanges": [network]}})
    assert found(copied, accepts=False) == {"cloud.access.authorizedRanges[0]": False}


def test_values_of_ones_own_are_taken() -> None:
    assert found(OWN, accepts=False) == {}


def test_a_message_names_the_value_and_what_to_write_instead() -> None:
    problems = {p.path: f"{p.what}; {p.remedy}" for p in loader.read_stack(COPIED, "live", accepts_examples=False)[1]}
    assert ZERO in problems["cloud.registry.id"]
    assert "your own subscription" in problems["cloud.registry.id"]
    assert "0123456789abcdef" in problems["overrides[0].value"]
    assert "the digest of your own image" in problems["overrides[0].value"]


GKE = {
    "project": "example-ml",
    "access": {"authorizedRanges": ["198.18.4.0/24"], "securityGroup": "gke-security-groups@example.com"},
    "registries": [{"project": "my-project", "location": "europe", "repository": "images"}],
    "serviceAccount": "nodes@my-project.iam.gserviceaccount.com",
    "encryption": {"secretsKey": "projects/example-keys/locations/europe-west4/keyRings/ml/cryptoKeys/secrets"},
}


GKE_PATHS = [
    *("cloud.project", "cloud.access.authorizedRanges[0]", "cloud.access.securityGroup"),
    *("cloud.registries[0].project", "cloud.serviceAccount", "cloud.encryption.secretsKey"),
]


def test_those_of_google_are_refused_too() -> None:
    assert found(on_gke(**GKE), accepts=False) == dict.fromkeys(GKE_PATHS, False)
    account, access = "n@ml-4711.iam.gserviceaccount.com", {"authorizedRanges": ["20.61.10.0/28"]}
    assert found(on_gke(project="ml-4711", access=access, serviceAccount=account), accepts=False) == {}


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.name)
def test_our_own_stack_files_are_taken_where_examples_are_accepted(path: Path) -> None:
    if path.name.endswith(".cloud.yaml"):
        return
    spec, problems = loader.read_stack(settings(path), path.stem.removeprefix("Pulumi."), accepts_examples=True)
    assert spec is not None, problems


def test_of_our_own_stacks_those_with_example_values_are_refused_elsewhere() -> None:
    stacks = {path.stem.removeprefix("Pulumi."): path for path in PROJECT.glob("Pulumi.*.yaml")}
    assert {name: [*found(settings(path), accepts=False)] for name, path in stacks.items()} == {
        "dev": [],
        "staging": ["cloud.project"],
        "prod": ["cloud.access.authorizedRanges[0]"],
    }


# What the pages show, read from the pages themselves.

GUID = re.compile(r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
DIGEST = re.compile(r"\b[0-9a-f]{64}\b|/keys/\w+/([0-9a-f]{32})\b")
SSH = re.compile(r"ssh-(?:rsa|ed25519) [A-Za-z0-9+/=]{20,}")
RANGE = re.compile(r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}/[0-9]{1,2}\b")
GOOGLE = re.compile(r"\bproject: ([a-z][-a-z0-9]{4,28}[a-z0-9])\b")
HOST = re.compile(r"\b[a-z0-9-]+\.(?:azurecr\.io|vault\.azure\.net)\b|\bregistry\.[a-z]+\.[a-z]+\b")

LISTED: dict[str, str] = {
    "0.0.0.0/0": "everybody, and refused as a list of callers",
    "corp-images": "the name of a project that a reader must have; nothing tells it from one",
    "corp-network": "likewise",
    "corp-keys": "likewise",
    "29e5e3425e2e0f5a4e97c9fb4695ba4887cd78210a43cf94c3bcafc6ab01c5e6": "a real image of NVIDIA's, to be run as it is",
    "quotas": "no value: a word of a sentence",
    "manifest": "likewise",
}
"""Values of the pages that pass, and why."""


def shown(form: re.Pattern[str]) -> set[str]:
    texts = [path.read_text() for path in (*PAGES, *STACKS)]
    texts += [yaml.safe_dump([field.examples for field in fields().values()], width=10_000)]
    return {match[match.lastindex or 0] for text in texts for match in form.finditer(text)} - LISTED.keys()


def public(text: str) -> bool:
    return (
        any(IPv4Network(text, strict=False).subnet_of(kept) for kept in examples.RANGES)
        or IPv4Address(text.split("/")[0]).is_global
    )


@pytest.mark.parametrize(
    ("form", "finds"),
    [
        (GUID, examples.guid),
        (DIGEST, examples.digest),
        (SSH, examples.public_key),
        (GOOGLE, examples.project),
        (HOST, examples.host),
    ],
)
def test_every_value_of_the_pages_is_known_as_an_example(
    form: re.Pattern[str], finds: Callable[[str], str | None]
) -> None:
    values = shown(form)
    assert values
    assert {value for value in values if not finds(value)} == set()


def test_every_public_range_of_the_pages_is_known_as_an_example() -> None:
    values = {value for value in shown(RANGE) if public(value)}
    assert values
    assert {value for value in values if not examples.caller(value)} == set()


def test_a_template_in_a_tag_is_a_warning_and_other_values_of_tags_are_free() -> None:
    tags = {"stage": "${stage}", "owner": "00000000-0000-0000-0000-000000000000", "note": " a "}
    spec, problems = loader.read_stack(good(cluster={"name": "ml-test", "tags": tags}), accepts_examples=False)
    assert spec is not None
    assert [problem.path for problem in problems] == ["cluster.tags.stage"]
