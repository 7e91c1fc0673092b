"""The loader and the emulated clouds, which share no code, take the same files: the two sets of rules against each other."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from components.existing import existing_credentials
from components.layer import discovery
from config.stack_file import loader
from sandbox.cloud.provider import Refused
from tests.components.emulation import Emulated
from tests.components.program import KUBECONFIG, declare
from tests.components.test_accepted import CLOUDS
from tests.fuzz import corpus, files
from tests.fuzz.files import File

pytestmark = pytest.mark.program

QUICK, ALL = 30, 2_000
"""Accepted files of `make test`, and of `make test-slow`: to declare one takes a seventh of a second."""

_THE_CLOUD_ALONE_KNOWS = (
    "Unknown region",
    "LocationNotAvailable",
    "K8sVersionNotSupported",
    "No valid versions with the prefix",
)
"""Words of refusals of what comes and goes."""
_OF_AN_EXISTING_CLUSTER = "InsufficientSubnetSize"
"""Its ranges are not in the stack file."""
_WARNED = {
    # Offers of machines change, so the loader warns (config/clouds/gcp/README.md).
    "does not exist in zone": ".zones",
    # No source says which number of a pool that scales has to have room for 30 pods.
    "InsufficientAgentPoolMaxPodsPerAgentPool": ".maxPods",
    # What other people report of a family's disks.
    "disk type cannot be used by": ".gcp.diskType",
    # A cluster hangs on such a key (page encrypting-secrets), but no source has the words of a refusal.
    "Database_encryption.key_name": ".encryption.secretsKey",
    "Node_config.boot_disk_kms_key": ".encryption.bootDiskKey",
    # AKS has both in preview.
    "maxSurge and maxUnavailable cannot both be set": ".upgrade",
}
"""Words of refusals of which the loader warns, and the end of the warning's path."""


def accepted(folder: Path, numbers: Iterable[int]) -> Iterator[tuple[File, dict[str, Any]]]:
    """Yield the files that the loader accepts and in which the mutation means something, with their settings."""
    bases = {stack.name: loader.read_stack(stack.settings)[0] for stack in corpus.stacks()}
    for number in numbers:
        file = files.mutated(number)
        raw = files.delivered(file, folder)
        spec = loader.read_stack(raw)[0] if raw else None
        if raw and spec and spec != bases[file.base] and _machines_are_known(raw):
            yield file, raw


def _machines_are_known(raw: Mapping[str, Any]) -> bool:
    """Return whether the catalogue has all machines. It is no list of all: the cloud alone knows whether another one exists."""
    catalogue = corpus.machines(raw["cloud"]["provider"])
    pools = (*(raw.get("pools") or ()), raw.get("systemPool"))
    return not catalogue or all(pool["machine"] in catalogue for pool in pools if pool)


def refusal(raw: Mapping[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return why the cloud, or the program while it declares, refuses settings that the loader accepts; empty if neither does."""
    settings = {f"{corpus.PREFIX}{key}": value for key, value in raw.items()}
    described = raw["cloud"]
    monkeypatch.setattr(
        discovery, "read_contents", lambda kubeconfig, what, compute_class=None: discovery.Contents("1.36.2")
    )
    monkeypatch.setattr(existing_credentials, "kubeconfig", lambda spec: f"{KUBECONFIG}users: []\n")
    cloud: Emulated | None = None
    if described["provider"] in CLOUDS:
        cloud = CLOUDS[described["provider"]](folder / "cloud.json", described)
    try:
        if cloud:
            cloud.seed(settings)
    except Refused:
        # What cannot exist, such as a cluster called 10.0.0.0/33, is not there: the cloud says so when the program asks for it.
        return ""
    try:
        declare(settings, monkeypatch, cloud=cloud)
    except Exception as refused:
        # The SDK hands a provider's refusal on as an exception of several kinds.
        warned = [problem.path for problem in loader.read_stack(raw)[1]]
        known = any(words in str(refused) and path.endswith(end) for words, end in _WARNED.items() for path in warned)
        known |= "existingCluster" in described and _OF_AN_EXISTING_CLUSTER in str(refused)
        return (
            ""
            if known or any(words in str(refused) for words in _THE_CLOUD_ALONE_KNOWS)
            else f"{type(refused).__name__}: {refused}"
        )
    return ""


def declare_all(found: Iterable[tuple[File, dict[str, Any]]], folder: Path) -> int:
    """Return the number of files; fail with all that are refused."""
    count, wrong = 0, []
    for file, raw in found:
        count += 1
        (folder / "cloud.json").unlink(missing_ok=True)
        with pytest.MonkeyPatch.context() as monkeypatch:
            if why := refusal(raw, folder, monkeypatch):
                wrong.append(f"{why}\n{file}")
    if wrong:
        pytest.fail(
            "\n\n".join([f"{len(wrong)} of {count} files are accepted by the loader only", *wrong]), pytrace=False
        )
    return count


def test_what_the_loader_accepts_the_cloud_accepts(tmp_path: Path) -> None:
    found = itertools.islice(accepted(tmp_path, itertools.count()), QUICK)
    assert declare_all(found, tmp_path) == QUICK


@pytest.mark.slow
def test_the_cloud_accepts_the_rest_too(tmp_path: Path) -> None:
    found = itertools.islice(accepted(tmp_path, itertools.count()), QUICK, ALL)
    assert declare_all(found, tmp_path) == ALL - QUICK
