"""Placeholders of templates, which Pulumi passes on as they are: it replaces nothing in a stack file."""

from __future__ import annotations

import re

_WHOLE = (
    # Pipelines, shells and Terraform, Helm, documentation, Windows. Three letters at least: `%C3%A4` is an encoded letter.
    r"\$\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$\([^()]*\)|\{\{[^{}]*\}\}|<[^<>]*>|%[A-Za-z_]\w{2,}%"
)

ONLY = re.compile(rf"\s*({_WHOLE})\s*")
"""A text that is nothing else. A password may have any of their characters in it."""

ANYWHERE = re.compile(rf"{_WHOLE}|\$\{{[^}}]*\}}?|\$\([^)]*\)?|\$[A-Za-z_]\w*|(?<=/)\.\.\.(?=/|$)")
"""One inside of a text, also one that is cut, a shell's without brackets, and the dots of our own remedies."""
