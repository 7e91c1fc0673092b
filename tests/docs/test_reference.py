"""The reference of the stack file is what the models give, and covers every key."""

import re

import pytest
import yaml

from config.clouds import registry
from config.model.release import Override
from config.model.spec import ClusterSpec
from config.reference import __main__ as command
from config.reference import keys, page
from config.stack_file import loader
from tests.config.test_fields import below
from tests.docs import pages

PAGE = pages.DOCS / "stack-file.md"


def documented() -> dict[str, dict[str, dict[str, str]]]:
    """Return rows of the page by the heading above them and the key's name: the cells by the head of their column."""
    tables: dict[str, dict[str, dict[str, str]]] = {}
    for part in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        head, _, *rows = (
            [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
            for row in re.findall(r"^\|.+\|$", rest, re.MULTILINE)
        )
        tables[title] = {cells[0].strip("`"): dict(zip(head, cells, strict=True)) for cells in rows}
    return tables


def test_the_page_and_the_schema_are_what_the_models_give() -> None:
    assert command.regenerated(PAGE.read_text()) == PAGE.read_text(), "python -m config.reference"
    assert command.schema_file() == command.SCHEMA.read_text(), "python -m config.reference"


def test_every_key_of_every_object_is_in_the_page() -> None:
    shown = documented()
    by_model = {section.model: shown[page.heading(section)] for section in keys.sections()}
    # A release is one text in the file.
    found = {model for cloud in registry.registrations() for model in below(cloud.settings)}
    found |= {*below(registry.pool_model()), *below(registry.system_pool_model()), Override}
    for name in ClusterSpec.model_fields.keys() - {"release", "overrides", "cloud", "system_pool", "pools"}:
        found |= {*below(ClusterSpec.model_fields[name].annotation)}
    assert by_model.keys() == found
    for model, rows in by_model.items():
        assert list(rows) == [str(field.alias) for field in model.model_fields.values()]


def test_every_key_has_a_meaning_and_an_example_that_is_yaml_or_a_type_or_default_that_shows_what_to_write() -> None:
    for heading, rows in documented().items():
        for key, cells in rows.items():
            assert cells["meaning"], (heading, key)
            shown = cells.get("example", "").strip("`").replace("\\|", "|")
            if shown:
                assert yaml.safe_load(shown)[key] is not None, (heading, key)
            elif heading != "Top keys" and not cells.get("default", "").startswith("`"):
                assert re.match(r"(list of )?(`|\[object\]\(#)", cells["type"]) or "such as" in cells["type"], (
                    heading,
                    key,
                )


def test_the_top_keys_are_those_that_the_loader_takes() -> None:
    _, problems = loader.read_stack({"cloud": {"provider": "azure", "location": "westeurope"}, "nonsense": 1})
    (remedy,) = (problem.remedy for problem in problems if problem.path == "nonsense")
    assert sorted(remedy.removeprefix("keys here: ").split(", ")) == sorted(documented()["Top keys"])


@pytest.mark.parametrize(
    ("heading", "key", "cell", "shown"),
    [
        ("`pools[].spot` (AKS)", "maxPrice", "default", "`-1`"),
        ("`pools[]`", "machine", "default", "**required**"),
        ("`pools[]`", "gcp", "meaning", "GKE only. Settings of GKE's node pools."),
        ("`cloud` (GKE)", "project", "default", "**required**"),
        ("`imagePullSecrets[]`", "password", "type", "secret text"),
        ("`scheduling.guard`", "mode", "type", "`enforce`, `warn`, `audit`"),
    ],
)
def test_a_row_says_type_default_and_cloud(heading: str, key: str, cell: str, shown: str) -> None:
    assert documented()[heading][key][cell] == shown


def test_a_key_missing_from_the_page_is_detected() -> None:
    less = PAGE.read_text().replace("| `maxPrice` |", "| `maximumPrice` |", 1)
    assert command.regenerated(less) != less
