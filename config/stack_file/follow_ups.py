"""Problems that only follow from others: they would vanish with them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from config.base.problems import Problem
from config.model.wording import NOT_A_KEY
from config.stack_file.objects import Reading

_OF_A_CHAIN = re.compile(
    r"pools(\[\d+\])?(\.(gcp\.)?(fallback|machine|gpus|gpuModel|capacity|maxNodes)\b.*)?$"
)
_FROM_CHAINS = re.compile(
    r"(pools\[\d+\]\.fallback$|growth|cloud\.fallback|cloud\.autoscaler\.maxNodeProvisionTime"
    r"|scheduling\.profiles)"
)
"""Warnings that follow from all pools: false while one of them cannot be read."""


def independent(of_rules: Sequence[Problem], reading: Reading) -> Iterator[Problem]:
    """Yield the problems of rules that do not follow from those of reading."""
    read = reading.problems()
    unknown = " ".join(each.path for each in read if each.what == NOT_A_KEY)
    errors = [*read, *(each for each in of_rules if not each.warning)]
    chains_unclear = any(_OF_A_CHAIN.match(each.path) for each in errors)
    for each in of_rules:
        if reading.follows_a_guess(each):
            continue
        if each.what == "says nothing" and f"{each.path}." in unknown:
            continue
        if not (chains_unclear and each.warning and _FROM_CHAINS.match(each.path)):
            yield each
