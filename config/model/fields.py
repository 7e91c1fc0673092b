"""Parts of the models: the base of all objects, texts with a fixed form, references."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    ValidationInfo,
    field_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticKnownError, core_schema

FORMS: dict[str, str] = {}
"""The remedy for a text that does not match, by the pattern."""


KINDS: dict[str, tuple[tuple[str, str], ...]] = {}
"""Remedies for texts of another kind, such as a mail address, by the pattern that they miss."""

MAIL = r"[\w.+-]+@[\w-]+(\.[\w-]+)+"


def form(pattern: str, shown: str, *kinds: tuple[str, str]) -> StringConstraints:
    """Return the constraint of a text that must match; `shown` says the form, with an example.

    `kinds`: what a text of another form is, as an expression, and the remedy, where {} is the text.
    """
    KINDS[pattern] = kinds
    if FORMS.setdefault(pattern, shown) != shown:
        raise ValueError(f"two forms with the pattern {pattern}: {FORMS[pattern]!r} and {shown!r}")
    return StringConstraints(pattern=pattern)


def worded(pattern: str, shown: str) -> str:
    """Return a field's pattern; `shown` says in words what matches, if the description does not."""
    FORMS[pattern] = shown
    return pattern


_NAME = r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
_DNS = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"


def optional(default: Any, description: str, example: Any = None, **bounds: Any) -> Any:
    """Return the field of a key that a stack file may omit; `bounds` are pydantic's.

    `days: int = optional(14, "Days for which deleted objects can be restored.", ge=7)`
    """
    examples = None if example is None else [example]
    return Field(default, description=description, examples=examples, **bounds)


LabelKey = Annotated[
    str,
    form(
        rf"^({_DNS}(\.{_DNS})*/)?{_NAME}$",
        "a label key: at most 63 letters, digits, -, _ and ., such as team or example.com/team",
    ),
]

"""kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set"""

LabelValue = Annotated[
    str,
    form(
        rf"^({_NAME})?$", "at most 63 letters, digits, -, _ and ., first and last a letter or digit"
    ),
]
"""Same page as `LabelKey`: at most 63 characters, may be empty."""

GpuModel = Annotated[
    str,
    form(
        r"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$",
        "leave it out if the machine says which GPUs it has; else a name such as nvidia-tesla-t4",
    ),
]
"""A GPU's name as a label's value."""

RANGE = r"^[0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9]{1,2}$"

Cidr = Annotated[str, form(RANGE, "an IPv4 range, such as 10.8.0.0/16")]
"""An IPv4 range such as `10.0.0.0/16`; `config.rules` checks that it is one."""

Namespace = Annotated[
    str,
    form(
        rf"^{_DNS}$",
        "a namespace's name: at most 63 lower-case letters, digits and -, such as team-a",
    ),
]
"""https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/"""

DeviceClass = Annotated[
    str,
    form(
        rf"^{_DNS}(\.{_DNS})*$",
        "a device class' name: lower-case letters, digits, - and ., such as gpu.nvidia.com",
    ),
]
"""https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/device-class-v1/"""

Zone = Annotated[
    str,
    form(
        r"^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$",
        'a zone\'s name, such as europe-west4-a; of Azure "1", "2" or "3"',
    ),
]
"""Any cloud's zone; `Cloud.zone_form` is narrower, and a rule checks it."""
Seconds = Annotated[
    str, form(r"^[1-9][0-9]{0,5}s$", "whole seconds of at most six digits, such as 10s")
]
"""Such as `10s`."""
Minutes = Annotated[
    str, form(r"^[1-9][0-9]{0,5}m$", "whole minutes of at most six digits, such as 10m")
]
"""Such as `10m`."""
Duration = Annotated[
    str,
    form(
        r"^(0|[1-9][0-9]{0,5})(s|m|h)$",
        "a whole number with a unit of s, m or h, such as 30s, 5m or 24h (a day)",
        (
            r"(?i)un-?limited|no limit|for ?ever|never|infinit\w*|always|indefinite\w*",
            "no time is endless: write hours, such as 24h",
        ),
    ),
]
"""Such as `30s`, `5m` or `1h`."""


class Unreadable(Exception):
    """A question for a field that the stack file lacks, or has in a form that cannot be read."""


class Some(tuple[Any, ...]):
    """The readable items of a list that has others as well: their number is no answer."""


class Model(BaseModel):
    """A frozen object with camelCase keys; an unknown key is an error.

    A faulty object lacks its unreadable fields (`config.stack_file.objects`).
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        strict=False,
        field_title_generator=lambda name, _: name.replace("_", " "),
    )

    absent: ClassVar[Mapping[str, str]] = {}
    """Remedies for keys that one may expect here and that do not exist."""

    lacking: ClassVar[str] = ""
    """What people who leave out required keys may want instead."""

    off: ClassVar[str] = ""
    """The object that false in its place means, if its keys do not tell."""

    one_key: ClassVar[bool] = False
    """Whether each entry of a list has one of its keys alone."""

    plain: ClassVar[str] = ""
    """Remedy for a text, a number, true or false in place of the object; empty: name its keys."""

    @classmethod
    def meant_by(cls, text: str) -> dict[str, Any] | None:
        """Return the object that a text in its place means; None if unknown."""
        return None

    @field_validator("*", mode="before")
    @classmethod
    def _is_a_number(cls, value: Any, field: ValidationInfo) -> Any:
        return cls.number(field.field_name or "")(value)

    @classmethod
    @cache
    def number(cls, name: str) -> Callable[[Any], Any]:
        """Return a check of a field's value: true and false are no number, and a text is neither a
        number nor true or false, as in the published schema.
        """
        annotation = cls.model_fields[name].annotation
        kinds = set(alternatives(annotation))
        numbers = kinds & {int, float}

        def check(value: Any) -> Any:
            if numbers and isinstance(value, bool):
                raise PydanticKnownError("float_type" if float in kinds else "int_type")
            if numbers and isinstance(value, str) and str not in kinds:
                raise PydanticKnownError("float_type" if float in kinds else "int_type")
            if bool in kinds and value is not None and not isinstance(value, bool):
                raise PydanticKnownError("bool_type")
            return value

        return check

    if not TYPE_CHECKING:  # a type checker is to know every field

        def __getattr__(self, name: str) -> Any:
            if name in type(self).model_fields:
                raise Unreadable(name)
            return super().__getattr__(name)


def alternatives(annotation: Any) -> Iterator[Any]:
    """Yield the types that a value may have."""
    if get_origin(annotation) is Annotated:
        yield from alternatives(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, UnionType):
        for inner in get_args(annotation):
            yield from alternatives(inner)
    else:
        yield annotation


def given(thing: Model, *names: str) -> list[str]:
    """Return the fields that the stack file sets, readable or not; ignore keys without a value."""
    return [
        name
        for name in names
        if name in thing.model_fields_set and thing.__dict__.get(name, "") is not None
    ]


@dataclass(frozen=True)
class Reference:
    """A setting that another resource of a program may make: `Reference("ml-network")`.

    Settings are checked as plain values before anything is declared. A program that uses the
    component package may pass another resource's output: rules read its text, and resources take
    the output (`components.references`). It cannot be formatted: the text would lose its output, and
    show a made-up value in a preview.
    """

    text: str
    """The value, for rules and messages; made up if the output was never known."""
    made_up: bool = False
    source: Any = field(default=None, compare=False)
    """The output; None for a plain value."""

    @property
    def known(self) -> str | None:
        """The text; None while it is made up."""
        return None if self.made_up else self.text

    def __format__(self, spec: str) -> str:
        raise TypeError(
            f"{self!r} cannot be formatted: write its `text`, or a resource's input by "
            "`components.references`"
        )

    def __str__(self) -> str:
        return format(self)


@dataclass(frozen=True)
class Text:
    """The form of a reference's text, for `Annotated[Reference, Text(NetworkName)]`."""

    annotation: Any

    @property
    def pattern(self) -> str | None:
        """The regular expression of the text, as in `pydantic.StringConstraints`."""
        return next(
            (getattr(item, "pattern", None) for item in get_args(self.annotation)[1:]), None
        )

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_after_validator_function(
            Reference, handler.generate_schema(self.annotation)
        )
