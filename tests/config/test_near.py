"""Names that remedies propose."""

import pytest

from config.base.near import with_form
from tests.config.stack import good, warnings

FORM = r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?"
"""At most 40 characters, no - at the end."""


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a" * 47, "it has 47 characters, 7 too many; "),
        ("a" * 39 + "-" + "b" * 5, "it has 45 characters, 5 too many; "),
        ("a" * 39 + "-", f"write for example {'a' * 39}; "),
        ("ML Dev", "write for example ml-dev; "),
        ("-", ""),
    ],
)
def test_a_name_without_the_form_is_cut_counted_or_respelled(name: str, said: str) -> None:
    assert with_form(name, FORM) == said


def test_a_pool_that_is_proposed_has_a_name_that_no_pool_has() -> None:
    machine = {"machine": "Standard_D4ds_v5", "capacity": "spot", "maxNodes": 2}
    names = ["t4"]
    for _ in range(6):
        (found,) = [
            each for each in warnings(good(pools=[{"name": n, **machine} for n in names])) if each.path == "pools"
        ]
        names.append(found.remedy.partition("{name: ")[2].partition(",")[0])
    assert len(set(names)) == len(names)
