"""Settings of any existing cluster that another resource of a program may make
(`components.references`).

There are none: the cluster is read before anything is declared, so the kubeconfig must be known.
"""

from __future__ import annotations

REFERENCES: dict[str, str] = {}
