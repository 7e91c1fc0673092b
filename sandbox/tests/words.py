"""Words of the corpus on another cloud: golden pods use the labels and names of the dev stack, on AKS.

Only whole texts are replaced, never parts of a text.
"""

from collections.abc import Mapping
from typing import Any

from sandbox.tests.subjects import DEV, Subject


class Words:
    """Translation between the texts of the corpus and those of a stack."""

    def __init__(self, subject: Subject) -> None:
        (corpus_key, corpus_value), (key, value) = DEV.taint, subject.taint
        self._written = {
            corpus_key: key,
            DEV.spot: subject.spot,
            DEV.twin: subject.twin,
            DEV.accelerator: subject.accelerator,
        }
        self._read = {actual: written for written, actual in self._written.items()}
        self._keys, self._values = (corpus_key, key), (corpus_value, value)

    def write(self, thing: Any) -> Any:
        """An object, or a part of one, in the words of the stack under test."""
        return self._exchanged(thing, self._written, 0)

    def read(self, thing: Any) -> Any:
        """An object of the stack in the words of the corpus."""
        return self._exchanged(thing, self._read, 1)

    def _exchanged(self, thing: Any, texts: Mapping[str, str], old: int) -> Any:
        if isinstance(thing, dict):
            replaced = {texts.get(key, key): self._exchanged(value, texts, old) for key, value in thing.items()}
            return replaced | self._value(replaced, old)
        if isinstance(thing, list):
            return [self._exchanged(item, texts, old) for item in thing]
        return texts.get(thing, thing) if isinstance(thing, str) else thing

    def _value(self, item: Mapping[str, Any], old: int) -> dict[str, str]:
        """The value of the spot taint, in a taint or a toleration of it, and of the spot label in a selector."""
        names = [name for name in item if name in self._keys or (name == "value" and item.get("key") in self._keys)]
        return {name: self._values[1 - old] for name in names if item[name] == self._values[old]}
