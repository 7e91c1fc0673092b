"""Refresh: new inputs from a fresh GET, as azure-native makes them.

Old and new outputs are reduced to what inputs could hold; only where these two differ, the old inputs change. Defaults the
service added at creation are in both and cause no drift; an autoscaled count is in one and does.

Source: `Read` and `applyDiff` in pulumi-azure-native provider/pkg/provider (provider.go, diff.go).
"""

from typing import Any

from sandbox.cloud.provider import Props


def apply_difference(inputs: Props, old: Props, new: Props) -> Props:
    """`inputs` with what changed from `old` to `new`."""
    result = {name: value for name, value in inputs.items() if name not in old or new.get(name) is not None}
    for name, value in new.items():
        if old.get(name) is None:
            result[name] = value
        elif value != old[name]:
            result[name] = _changed(inputs[name], old[name], value) if name in inputs else value
    return result


def _changed(base: Any, old: Any, new: Any) -> Any:
    if isinstance(base, dict) and isinstance(old, dict) and isinstance(new, dict):
        return apply_difference(base, old, new)
    if isinstance(base, list) and isinstance(old, list) and isinstance(new, list):
        known = min(len(base), len(old))
        return [_changed(base[i], old[i], item) if i < known else item for i, item in enumerate(new)]
    return new
