"""`python -m config.reference` writes the reference page and the JSON Schema of the stack file."""

from __future__ import annotations

import json
from pathlib import Path

from config.reference.page import page
from config.reference.schema import schema

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "reference" / "stack-file.md"
SCHEMA = DOCS / "stack-file.schema.json"
BEGIN = "<!-- begin: written by python -m config.reference -->"
END = "<!-- end -->"


def regenerated(text: str) -> str:
    """Return the page with a new generated part."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{page()}\n\n{END}{rest.partition(END)[2]}"


def schema_file() -> str:
    """Return the schema as the file has it."""
    return json.dumps(schema(), indent=1) + "\n"


if __name__ == "__main__":
    PAGE.write_text(regenerated(PAGE.read_text()))
    SCHEMA.write_text(schema_file())
