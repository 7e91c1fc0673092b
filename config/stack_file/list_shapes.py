"""Lists in place of other values, and what each means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args, get_origin

import yaml
from pydantic.fields import FieldInfo

from config.base.near import bare
from config.model.fields import Model
from config.model.structure import by_key
from config.model.wrong_shape import shown
from config.stack_file.written_out import inside

STEPS = ({"pool"}, {"onDemand"})
"""Keys of the two kinds of steps."""


def chain_of(value: Any, file: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return index and name of the pools that a list of steps is for, which stands where it has no
    place: the first spot pool that is no step itself, or all of them for steps on demand alone;
    none for other lists.
    """
    if not isinstance(value, list) or not value:
        return []
    if not all(isinstance(each, dict) and {*each} in STEPS for each in value):
        return []
    steps = [each["pool"] for each in value if "pool" in each]
    pools = file.get("pools")
    found = [
        (index, shown(pool.get("name")))
        for index, pool in enumerate(pools if isinstance(pools, list) else ())
        if isinstance(pool, dict)
        and pool.get("capacity") == "spot"
        and "fallback" not in pool
        and pool.get("name") not in steps
    ]
    return found[:1] if steps else found


def of_single_keys(value: list[Any], fields: Mapping[str, FieldInfo]) -> dict[str, Any] | None:
    """Return the object that a list of objects with one of its keys each means; None for others."""
    whole = {key: one for each in value if isinstance(each, dict) for key, one in each.items()}
    alone = all(isinstance(each, dict) and len(each) == 1 for each in value)
    return (
        whole if alone and len(whole) == len(value) > 1 and whole.keys() <= fields.keys() else None
    )


def of_pairs(value: list[Any], fields: Mapping[str, FieldInfo]) -> dict[str, Any] | None:
    """Return the object that a list of texts `--scan-interval=20s` means; None for others."""
    spelled = {bare(key): key for key in fields}
    pairs = [re.fullmatch(r"-*([\w-]+)\s*[=:]\s*(\S+)", str(each)) for each in value]
    known = {spelled.get(bare(pair[1]), ""): yaml.safe_load(pair[2]) for pair in pairs if pair}
    return known if known and len(known) == len(value) and "" not in known else None


def of_words(value: list[Any], model: type[Model]) -> dict[str, Any] | None:
    """Return the object that a list in place of it means: its words are those of the object's only
    list, each perhaps in an object of another tool; None for others.
    """
    fields = by_key(model)
    lists = {
        key: {*get_args(get_args(field.annotation)[0])}
        for key, field in fields.items()
        if get_origin(field.annotation) is tuple
    }
    for key, words in lists.items() if len(lists) == 1 else ():
        texts = [[*each.values()] if isinstance(each, dict) else [each] for each in value]
        named = [
            next((text for text in each if isinstance(text, str) and text in words), None)
            for each in texts
        ]
        if value and all(named):
            units = {"days": inside(value, "days")}
            numbers = {
                name: units["days"]
                for name in fields
                if name.endswith("Days") and type(units["days"]) is int
            }
            return {key: named, **numbers}
    return None


_ADDRESS = ("cidrblock", "cidr", "iprange", "ipprefix", "addressprefix", "range")
"""What other tools call an address in an object with its name, in lower case without _ and -."""


def addresses(value: list[Any]) -> list[str]:
    """Return the addresses of a list of objects that hold one each; none for other lists."""
    found = [
        [str(one) for key, one in each.items() if bare(str(key)) in _ADDRESS]
        for each in value
        if isinstance(each, dict)
    ]
    whole = len(found) == len(value) and all(len(each) == 1 for each in found)
    return [each[0] for each in found] if whole else []
