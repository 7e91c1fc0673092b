"""The reference of the stack file is what the models give, and covers every key."""

import copy
import re
from typing import Any

import pytest
import yaml

from config.clouds import registry
from config.model.release import Override
from config.model.spec import ClusterSpec
from config.reference import __main__ as command
from config.reference import keys, page
from config.stack_file import loader
from tests.config.stack_files import HAPPY, settings
from tests.config.test_fields import below
from tests.docs import pages

PAGE = pages.DOCS / "reference" / "stack-file.md"


def documented() -> dict[str, dict[str, dict[str, str]]]:
    """Return rows of the page by the heading above them and the key: the cells by the head of their column.

    Keys "as in" another table have its cells.
    """
    tables: dict[str, dict[str, dict[str, str]]] = {}
    for part in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        title, _, rest = part.partition("\n")
        head, *rows = next(pages.tables_of(rest), [[]])
        tables[title] = {
            re.findall(r"`([^`]+)`", cells[0])[0]: _cells(head, cells) for cells in rows if "`" in cells[0]
        }
        for other, same in re.findall(r"^As in \[(.+)\]\(#.+\): (.+)\.$", rest, re.MULTILINE):
            tables[title] |= {key: tables[other][key] for key in re.findall(r"`([^`]+)`", same)}
    return tables


def _cells(head: list[str], cells: list[str]) -> dict[str, str]:
    return {**dict(zip(head, cells, strict=True)), "required": str("**" in cells[0])}


def test_the_page_and_the_schema_are_what_the_models_give() -> None:
    assert command.regenerated(PAGE.read_text()) == PAGE.read_text(), "python -m config.reference"
    assert command.schema_file() == command.SCHEMA.read_text(), "python -m config.reference"


def test_every_key_of_every_object_is_in_the_page() -> None:
    shown = documented()
    by_model = {
        section.model: {key: shown[page.heading(section)][key] for key, *_ in page.fields(section)}
        for section in keys.sections()
        if page.is_root(section)
    }
    reached = {model for section in keys.sections() if page.is_root(section) for _, model, _ in page.fields(section)}
    # A release is one text in the file.
    found = {model for cloud in registry.registrations() for model in below(cloud.settings)}
    found |= {*below(registry.pool_model()), *below(registry.system_pool_model()), Override}
    for name in ClusterSpec.model_fields.keys() - {"release", "overrides", "cloud", "system_pool", "pools"}:
        found |= {*below(ClusterSpec.model_fields[name].annotation)}
    assert reached == found
    for rows in by_model.values():
        assert len({(key, cells["meaning"]) for key, cells in rows.items()}) == len(rows)


def test_every_key_has_a_meaning_and_says_what_to_write() -> None:
    for heading, rows in documented().items():
        for key, cells in rows.items():
            if "value" in cells:
                assert cells["meaning"], (heading, key)
                below_it = [other for other in rows if other.startswith((f"{key}.", f"{key}[]."))]
                assert (
                    below_it
                    or re.search(r"`|such as|\]\(#|number|true|^(list: each )?(a|an|whole) ", cells["value"])
                    or cells["value"].startswith(("list", "text", "map", "the ", "at most", "lower-case", "letters"))
                ), (
                    heading,
                    key,
                    cells["value"],
                )


EXAMPLE = re.compile(r"such as `([^`]+)`$")


def test_an_example_is_a_value_that_the_key_takes() -> None:
    """Held against every good file that has the key's object: some file takes the value without a problem at that key."""
    shown, refused = documented(), []
    for section in keys.sections():
        if not page.is_root(section):
            continue
        for path in section.paths:
            for key, *_ in page.fields(section):
                found = EXAMPLE.search(shown[page.heading(section)][key]["value"].replace("\\|", "|"))
                place = f"{path.partition(' ')[0]}.{key}".replace("[]", "[0]")
                if not found or "secure:" in found[1]:
                    continue  # Pulumi decrypts a secret before the program reads it.
                if not taken(
                    place,
                    yaml.safe_load(found[1].replace(".../", ID).replace("vaults/example", "vaults/ml-keys")),
                    path,
                ):
                    refused.append((place, found[1]))
    assert refused == []


ID = "/subscriptions/2b0f5c1e-8f0e-4d3a-9c57-1f6f1f0a7c11/resourceGroups/shared/providers/"


def taken(place: str, value: object, path: str) -> bool:
    """Return whether the loader takes a value at a place, in some good file of the place's cloud that has its object."""
    (provider,) = re.findall(r" \((\w+)\)$", path) or [None]
    *above, last = [int(part) if part.isdigit() else part for part in re.findall(r"\w+", place)]
    tried = False
    for raw in GOOD:
        for at in range(len(raw.get("pools", []))) if above[0] == "pools" else [0]:
            whole: Any = copy.deepcopy(raw)
            here = whole
            try:
                for part in above:
                    here = here[at if part == 0 and here is whole.get("pools") else part]
                here[last] = value
            except (KeyError, IndexError, TypeError):
                continue
            if provider not in (None, raw["cloud"]["provider"]):
                continue
            tried = True
            said = f"pools[{at}]{place.removeprefix('pools[0]')}" if above[0] == "pools" else place
            if not any(problem.path == said for problem in loader.read_stack(whole)[1]):
                return True
    return not tried


GOOD = [settings(path) for path in HAPPY]


def test_the_top_keys_are_those_that_the_loader_takes() -> None:
    _, problems = loader.read_stack({"cloud": {"provider": "azure", "location": "westeurope"}, "nonsense": 1})
    (remedy,) = (problem.remedy for problem in problems if problem.path == "nonsense")
    assert sorted(remedy.removeprefix("keys here: ").split(", ")) == sorted(documented()["Top keys"])


@pytest.mark.parametrize(
    ("heading", "key", "cell", "shown"),
    [
        ("`pools[]`", "spot.maxPrice", "value", "decimal number; **`-1`**"),
        ("`pools[]`", "machine", "required", "True"),
        (
            "`pools[]`",
            "azure",
            "meaning",
            "AKS only. Secure Boot and virtual TPM of the nodes, and further properties of the pool.",
        ),
        ("`cloud` (GKE)", "project", "required", "True"),
        ("`cloud` (AKS)", "tier", "value", "**`Free`**, `Standard`, `Premium`"),
        ("`imagePullSecrets[]`", "password", "value", 'secret text, such as `{secure: "v1:..."}`'),
        ("`scheduling`", "guard.mode", "value", "**`enforce`**, `warn`, `audit`"),
        ("`pools[]`", "gcp.secureBoot", "value", "true, **false**"),
    ],
)
def test_a_row_says_value_default_and_cloud(heading: str, key: str, cell: str, shown: str) -> None:
    assert documented()[heading][key][cell].startswith(shown)


def test_a_key_missing_from_the_page_is_detected() -> None:
    less = PAGE.read_text().replace("| `spot.maxPrice` |", "| `spot.maximumPrice` |", 1)
    assert command.regenerated(less) != less
