"""The page on retries has the endings that are tried with Argo's controller, with its own words."""

from tests.apiserver.steps import ENDINGS
from tests.docs import pages

PAGE = pages.DOCS / "retries.md"


def test_the_page_says_what_argo_makes_of_each_ending_and_what_starts_again() -> None:
    (rows,) = [rows[1:] for rows in pages.tables(PAGE) if rows[0][0] == "how the pod ends"]
    wanted = [[f"`{each.phase}`: `{each.message}`", "yes" if each.machine else "no"] for each in ENDINGS.values()]
    assert [row[1:] for row in rows] == wanted
