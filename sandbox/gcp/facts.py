"""Facts of Google Cloud and GKE that are no code: the tables of `data/facts.toml`."""

from __future__ import annotations

from pathlib import Path

from sandbox.cloud.facts import read

FACTS = read(Path(__file__).parent / "data" / "facts.toml")
