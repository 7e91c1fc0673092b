"""Quantities are read as Kubernetes' own client reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity

from sandbox.autoscaler.resources import quantity

SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-2", "e+1"]
NUMBERS = st.one_of(st.integers(-1000, 10**9).map(str), st.decimals(0, 1000, places=3).map(str))


@given(NUMBERS, st.sampled_from(SUFFIXES))
def test_a_quantity_is_what_the_client_library_makes_of_it(number: str, suffix: str) -> None:
    assert quantity(number + suffix) == parse_quantity(number + suffix)


@pytest.mark.parametrize("text", ["", "Gi", "1Xi", "one", "1mm"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no quantity"):
        quantity(text)
