"""Programs to compare with: a small cluster on each cloud as people write one, by the SDKs' classes.

They have the shape of Pulumi's public examples (pulumi/examples, azure-py-aks and gcp-py-gke) and are written anew here.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Peer:
    """A program beside `__main__.py` of this project. Its only stack has its name."""

    name: str
    package: str
    """Of the cloud's provider."""

    @property
    def folder(self) -> Path:
        return Path(__file__).parent / self.name

    @property
    def stack_file(self) -> Path:
        return self.folder / f"Pulumi.{self.name}.yaml"


PEERS = {"dev": Peer("aks", "azure-native"), "staging": Peer("gke", "gcp")}
"""The peers by the stacks that are compared with them."""
