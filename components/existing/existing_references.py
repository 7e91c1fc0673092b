"""Settings of any existing cluster that another resource of a program may make (`components.references`).

None: the kubeconfig must be known, because the cluster is read before anything is declared.
"""

from __future__ import annotations

REFERENCES: dict[str, str] = {}
