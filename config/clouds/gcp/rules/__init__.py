"""Checks that are about GKE only. Pages are docs.cloud.google.com/kubernetes-engine/docs/<...>/<page>."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

MODULES = tuple(import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__))
"""All that are here, by name."""
