"""The errors of pydantic as problems of a stack file, with remedies in words."""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic_core import ErrorDetails

from config.base.hiding import hidden, secret_in
from config.base.near import HINT, nearest, with_form
from config.base.problems import Problem
from config.model import repairs
from config.model.counterparts import counterpart
from config.model.fields import FORMS, KINDS, RANGE, Model
from config.model.structure import Place
from config.model.units import number_without_unit
from config.model.wrong_shape import not_a_list, not_an_object, shown, type_in_words

NOT_A_KEY = "is not a key of this object"
"""The problem of an unknown key."""
NO_TEMPLATE = "which nothing replaces here"
ITSELF = (
    "write the value itself: each environment has a stack file of its own, and a pipeline can set "
    "one value by `pulumi config set --path`"
)
"""Problem and remedy of a template's variable."""
NO_SUCH_SETTING = "this program has no such setting"
"""The remedy for one that means nothing here."""
OF_AN_EXAMPLE = "which examples show and nobody has"
"""The end of the problem of a value that only its author can know."""


KEY_ALONE = "is a key without a value"
"""The problem of `key:value` without a space."""


def problem_of_error(error: ErrorDetails, model: type[Model], path: str) -> Problem:
    """Return the problem of one error in the object of this model at `path`."""
    place = Place(model, error["loc"])
    where = path + place.path
    given = error["input"]
    context = error.get("ctx", {})
    is_it = f"is {type_in_words(given) if place.secret else shown(given)}"
    if repairs.means_off(given) and place.may_be_left_out and error["type"] in _OF_OFF:
        return Problem(where, is_it, place.left_out)
    match error["type"]:
        case "missing":
            if place.secret:
                remedy = f"set it: `pulumi config set --secret --path 'kubeflow-spot:{where}'`"
                also = f"; {place.around.lacking}" if place.around.lacking else ""
                return Problem(where, "is missing", remedy + also)
            about = "" if place.example or place.model else _meaning(place, "")
            also = f", {about}" if about and error["loc"][-1] != "machine" else ""
            return Problem(where, "is missing", f"add `{error['loc'][-1]}{place.example}`{also}")
        case "model_type" | "model_attributes_type" | "dict_type":
            return Problem(where, *not_an_object(given, place.model))
        case "tuple_type":
            return Problem(where, *not_a_list(given, model=place.model))
        case "string_type" if error["loc"][-1] == "matchExpressions":
            what = f"is {type_in_words(given)}, not text"
            return Problem(where, what, "write labels and values, such as `app: batch-scorer`")
        case "string_type" if given is None and re.search("[:=]", str(error["loc"][-1])):
            name, sign, text = re.split(r"\s*([:=])\s*", str(error["loc"][-1]), maxsplit=1)
            text = text.strip("\"'")
            value = json.dumps(text) if "labels" in where or "tags" in where else text
            how = "with a space after the colon" if sign == ":" else "with a colon"
            return Problem(where, KEY_ALONE, f"write `{name}: {value}`, {how}")
        case "string_type" if given is None or isinstance(given, dict | list):
            what = f"is {type_in_words(given)}, not text"
            form = next((_form(form, place, given) for form in place.forms), None)
            held = given if isinstance(given, dict) else {}
            fitting = [key for key, each in held.items() if _fits(each, place)]
            fitting = fitting if len(fitting) == 1 else [key for key in fitting if key == "name"]
            if isinstance(given, list) and error["loc"][-1] == "machine" and given:
                others = "each other one is a pool of its own, named under `fallback`"
                return Problem(where, what, f"write `machine: {given[0]}`; {others}")
            if isinstance(given, list) and given and _fits(given[0], place):
                return Problem(where, what, f"write one: `{error['loc'][-1]}: {given[0]}`")
            if fitting:
                remedy = f"write the value of `{fitting[0]}` alone, without any key and {{ }}"
                if place.forms:  # another text may be a secret
                    remedy = f"write {held[fitting[0]]}, without any key and {{ }}"
                if fitting == ["name"]:  # the value of another key may be a secret
                    remedy = f"write `{error['loc'][-1]}: {held['name']}`"
                return Problem(where, what, remedy)
            return Problem(where, what, form or "write one value, without [ ] or { } around it")
        case "string_type" if isinstance(given, float) and place.forms and not place.secret:
            what = f"{is_it}: YAML reads it as a number, and drops a last 0"
            for text in (str(given), f"{given}0"):
                if _matches(text, place):
                    return Problem(where, what, f'write "{text}", with quotes')
            return Problem(where, what, _form(place.forms[0], place, given))
        case "string_type":
            return Problem(
                where, f"{is_it}, which YAML does not read as text", _as_text(given, place)
            )
        case "string_pattern_mismatch" if repairs.is_placeholder(given):
            form = _form(context["pattern"], place, given)
            return Problem(where, f"{is_it}, {NO_TEMPLATE}", f"{ITSELF}: {form}")
        case "int_type" | "float_type" | "bool_type" if repairs.is_placeholder(given):
            return Problem(where, f"{is_it}, {NO_TEMPLATE}", ITSELF)
        case "string_pattern_mismatch" if (
            isinstance(error["loc"][-1], int)
            and len(parts := str(given).split()) > 1
            and all(re.search(context["pattern"], part) for part in parts)
        ):
            return Problem(where, is_it, f"a comma is missing: write `{', '.join(parts)}`")
        case "string_pattern_mismatch" if repaired := repairs.repaired(given, context["pattern"]):
            before, _, after = given.strip().partition(repaired)
            without = f", without {' and '.join(filter(None, (before, after)))}"
            whole = before + repaired + after == given.strip() and (before or after)
            if repaired == repairs.MIDNIGHT:
                return Problem(where, is_it, f'write "{repaired}", at which the day begins')
            return Problem(where, is_it, f'write "{repaired}"{without if whole else ""}')
        case "string_pattern_mismatch" if kind := secret_in(given):
            form = _form(context["pattern"], place, given)
            return Problem(
                where,
                f"holds {kind}, which is not shown",
                f"{form}; make a new one if others may have read it",
            )
        case "string_pattern_mismatch" if "authorizedRanges" in where and not _is_address(given):
            return Problem(where, is_it, "write your callers' public address, as ADDRESS/32")
        case "string_pattern_mismatch" if context["pattern"] == RANGE and _is_address(given):
            return Problem(where, is_it, f"add a length: {given}/32 is this address alone")
        case "string_pattern_mismatch" if error["loc"][-1] == "location" and (
            near := counterpart(given, context["pattern"])
        ):
            cloud = f"{is_it}, a region of {near[0]}" if near[0] else is_it
            return Problem(
                where, cloud, f"write `location: {near[1]}`{', which is near' * bool(near[0])}"
            )
        case "string_pattern_mismatch":
            return Problem(where, is_it, _form(context["pattern"], place, given))
        case "enum" | "literal_error":
            return Problem(
                where, is_it, repairs.one_of(given, re.findall("'([^']*)'", context["expected"]))
            )
        case "int_type" | "float_type" if isinstance(given, str) and _NUMBER.fullmatch(given):
            return Problem(where, f"{is_it}, in quotes", f"write {given}, without quotes")
        case "float_type" if price := repairs.price(given):
            dash = (
                ", with a long dash" if str(given).translate(repairs.DASHES) != str(given) else ""
            )
            return Problem(where, is_it + dash, f"write {price}")
        case "float_type" if share := re.fullmatch(r"(\d+(?:\.\d+)?) ?%", str(given)):
            return Problem(where, is_it, f"write {float(share[1]) / 100:g}, a share of 1")
        case "less_than_equal" if context.get("le") == 1 and 1 < given <= 100:
            return Problem(where, is_it, f"write {given / 100:g}, a share of 1")
        case "greater_than_equal" if given == 0 and where.endswith(".maxNodes"):
            nothing = "; to pay for nothing, `pulumi destroy`"
            if where.startswith("systemPool"):
                remedy = f"write 1 or more: no cluster is without system nodes{nothing}"
            elif ".onDemand." in where:
                remedy = "write 1 or more, or remove `onDemand` for none"
            else:
                remedy = (
                    f"write 1 or more: unused nodes go by themselves with `minNodes: 0`{nothing}"
                )
            return Problem(where, is_it, remedy)
        case "int_type" if isinstance(given, dict):
            remedy = "write one number, without what stands beside it"
            if error["loc"][-1] == "gpus":
                remedy = (
                    "a number alone, and for an n1 of GKE only, with `gpuModel`: any other machine "
                    "brings its GPUs, if it has some; slices are `mig: 1g`, shares `gpuSharing`"
                )
            return Problem(where, "is an object, not a number", remedy)
        case "int_type" if number := repairs.without_letters(given):
            return Problem(
                where, f"{is_it}, with a letter that looks like a digit", f"write {number}"
            )
        case "int_type" if counted := number_without_unit(str(error["loc"][-1]), given):
            return Problem(where, is_it, counted)
        case "bool_type" if str(given).lower() in repairs.YES_OR_NO:
            wanted = repairs.YES_OR_NO[given.lower()]
            return Problem(
                where, f"{is_it}, which YAML reads as text", f"write {wanted}, without quotes"
            )
        case "bool_type" if word := repairs.on_or_off(given):
            return Problem(where, is_it, f"write {word}")
        case "bool_type" if word := nearest(str(given), ["true", "false"], HINT):
            return Problem(where, is_it, f"did you mean {word}?")
        case "int_from_float" if where.endswith(".replicas") and given in repairs.PARTS:
            # A share of a GPU is told as the number of its pods.
            return Problem(where, is_it, f"{_meaning(place)}write {repairs.PARTS[given]}")
        case "int_from_float" if where.endswith(".gpus") and 0 < given < 1:
            pods = repairs.PARTS.get(given, 4)
            sharing = f"`gpuSharing: {{strategy: time-slicing, replicas: {pods}}}` in its place"
            return Problem(where, is_it, f"a machine has whole GPUs: to share one, write {sharing}")
        case known if known in _REMEDIES:
            return Problem(where, is_it, _meaning(place) + _REMEDIES[known].format(**context))
        case _:
            return Problem(where, is_it, error["msg"][:1].lower() + error["msg"][1:])


def _matches(text: str, place: Place) -> bool:
    return bool(place.forms) and all(re.search(form, text) for form in place.forms)


def _fits(value: Any, place: Place) -> bool:
    if not isinstance(value, str) or place.secret or secret_in(value):
        return False
    forms = place.forms or [r"^\d{1,3}(\.\d{1,3}){3}(/\d+)?$"]
    return all(re.search(form, value) for form in forms)


def _is_address(given: Any) -> bool:
    return isinstance(given, str) and re.fullmatch(r"\d{1,3}(\.\d{1,3}){3}", given) is not None


def _as_text(given: Any, place: Place) -> str:
    """Return the remedy for a number, true or false in place of a text."""
    clock = f"{given // 60:02}:{given % 60:02}" if type(given) is int and 0 <= given < 1440 else ""
    if clock and not place.secret and _matches(clock, place):
        return f'put it in quotes: "{clock}", which YAML reads as a number of minutes'
    quoted = "put it in quotes" + ("" if place.secret else f': "{shown(given)}"')
    form = next((form for form in place.forms if not re.search(form, str(given))), None)
    units = [f"{given}{unit}" for unit in "smh" if form and re.search(form, f"{given}{unit}")]
    if units and not place.secret:
        # Other tools' numbers are seconds: a Go duration, azurerm's and Karpenter's.
        minutes = f"{given // 60}m" if type(given) is int and given >= 60 and not given % 60 else ""
        if minutes not in units and minutes and re.search(form or "", minutes):
            return f"add a unit: {minutes} if these are seconds, {' or '.join(units)} if not"
        return f"add a unit: {' or '.join(units)}"
    # In quotes it would be refused for its form.
    return quoted if form is None or place.secret else _form(form, place, given)


def _form(pattern: str, place: Place, given: Any) -> str:
    """Return the remedy for a text that does not match."""
    for other, remedy in () if place.secret else KINDS.get(pattern, ()):
        if re.fullmatch(other, str(given)):
            return remedy.format(hidden(str(given)))
    if pattern in FORMS:
        named = "lower-case letters" in FORMS[pattern] and "user" not in FORMS[pattern]
        return (with_form(str(given).partition("@")[0], pattern) if named else "") + FORMS[pattern]
    example = "".join(f"write for example {example!r}; " for example in place.examples[:1])
    meaning = _meaning(place, "; ")
    # Words and an example say more to most people than a pattern.
    return (
        f"{example}{meaning}".removesuffix("; ")
        if example and meaning
        else f"{example}{meaning}it must match {pattern}"
    )


def _meaning(place: Place, end: str = ": ") -> str:
    """Return the first sentence of a key's description, which says what it is; empty without one."""
    meaning = (place.description or "").partition(". ")[0].rstrip(".")
    if meaning[1:2].islower():
        meaning = meaning[0].lower() + meaning[1:]
    return f"{meaning}{end}" if meaning else ""


_OF_OFF = ("string_type", "string_pattern_mismatch", "model_type", "literal_error", "enum")
"""Errors of false, or of a word such as none, in place of a text, a word or an object."""

_NUMBER = re.compile(r"-?\d+(\.\d+)?")

_REMEDIES = {
    "greater_than_equal": "{ge:g} or more",
    "greater_than": "more than {gt:g}",
    "less_than_equal": "{le:g} or less",
    "string_too_short": "at least {min_length} characters",
    "string_too_long": "at most {max_length} characters",
    "too_short": "at least {min_length} entries",
    "int_type": "write a whole number",
    "int_parsing": "write a whole number",
    "int_from_float": "write a whole number",
    "float_type": "write a number",
    "finite_number": "write a finite number",
    "bool_type": "write true or false",
}
