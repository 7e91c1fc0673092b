"""Names of objects inside a cluster, from stack names of any form."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.layer import names

# Characters of a stack's name in Pulumi: pkg/backend, "may only contain alphanumeric, hyphens, underscores, or periods".
stacks = st.from_regex(r"[A-Za-z0-9_.-]{1,100}", fullmatch=True)


@given(stacks)
def test_any_stack_name_gives_a_legal_object_name_and_label(stack: str) -> None:
    instance = names.instance(stack)
    assert re.fullmatch(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", instance)
    assert len(names.object_name(instance, "device-plugin")) <= 63


@given(st.lists(stacks, min_size=2, max_size=8, unique=True))
def test_stacks_of_different_names_never_mean_the_same_object(given: list[str]) -> None:
    assert len({names.instance(stack) for stack in given}) == len(given)


@pytest.mark.parametrize("stack", ["dev", "team-a-prod", "2", "a" * 30])
def test_a_name_that_is_legal_stays_as_it_is(stack: str) -> None:
    assert names.instance(stack) == stack


@pytest.mark.parametrize(
    "alike", [("Dev", "dev", "DEV"), ("a.b", "a_b", "a-b", "a--b"), ("a" * 31, "a" * 32), ("_", ".", "-")]
)
def test_names_that_look_alike_once_made_legal_stay_apart(alike: tuple[str, ...]) -> None:
    assert len({names.instance(stack) for stack in alike}) == len(alike)
