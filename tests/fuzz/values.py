"""Values for a place: ones that its schema allows, and ones that nobody should survive by luck."""

import copy
from collections.abc import Callable
from random import Random
from typing import Any

from tests.fuzz import corpus

ZONES = {"azure": ["1", "2", "3"], "gcp": [f"europe-west4-{letter}" for letter in "abc"], "existing": ["a"]}
LOCATIONS = {
    "azure": ["westeurope", "swedencentral", "eastus", "eastus2", "westus3"],
    "gcp": ["europe-west4", "us-central1", "us-east4", "europe-west4-a", "us-central1-a"],
    "existing": ["here"],
}
RANGES = [f"10.{second}.0.0/{size}" for second in (0, 8, 16, 128, 244) for size in (8, 14, 16, 20, 24, 28, 30)] + [
    *("10.8.16.0/20", "10.8.32.0/24", "172.16.0.0/16", "192.168.0.0/24", "100.64.0.0/14", "203.0.113.0/24"),
    *("172.30.0.0/16", "169.254.0.0/24", "0.0.0.0/0", "198.18.4.1/32", "224.0.0.0/8", "240.0.0.0/16"),
]
# fmt: off
WORDS = [
    "a", "gpu", "team", "t4", "od", "spot", "system", "default", "kube-system", "kubeflow", "prod", "ml-dev", "Team",
    "a-b", "a_b", "a.b", "example.com/team", "kubernetes.io/os", "1", "0", "true",
] + ["x" * length for length in (12, 13, 63, 64)]
# fmt: on

Draw = Callable[[Random, str, dict[str, Any]], Any]
"""A value for a key, of a provider, in a file with these settings."""


def _pool_name(random: Random, provider: str, settings: dict[str, Any]) -> Any:
    pools = settings.get("pools")
    names = [pool.get("name") for pool in pools if isinstance(pool, dict)] if isinstance(pools, list) else []
    return random.choice([*names, random.choice(WORDS)])


def _list_of(draw: Draw) -> Draw:
    return lambda random, provider, settings: [draw(random, provider, settings) for _ in range(random.randint(0, 3))]


def _one_of(choices: dict[str, list[str]]) -> Draw:
    return lambda random, provider, settings: random.choice(choices.get(provider, choices["existing"]))


_BY_KEY: dict[str, Draw] = {
    "machine": lambda random, provider, settings: random.choice(corpus.machines(provider) or ("any",)),
    "zones": _list_of(_one_of(ZONES)),
    "location": _one_of(LOCATIONS),
    "kubernetesVersion": lambda random, provider, settings: random.choice(
        ["1.33", "1.34", "1.35", "1.36", "1.36.2", "1.37"]
    ),
    "pool": _pool_name,
    "order": _list_of(_pool_name),
    "subnet": lambda random, provider, settings: random.choice(["gpu", "nodes", "aks-nodes", "system", "a"]),
    "reason": lambda random, provider, settings: random.choice(["because of Istio", "x" * 8, "ü" * 300]),
}


def allowed(place: corpus.Place, provider: str, settings: dict[str, Any], random: Random) -> Any:
    """Return a value that the schema allows at the place; None where it knows no such place."""
    node = corpus.node(place, provider)
    return None if node is None else _drawn(node, place, provider, settings, random)


def _drawn(node: dict[str, Any], place: corpus.Place, provider: str, settings: dict[str, Any], random: Random) -> Any:
    node = corpus.resolved(node)
    key = next((part for part in reversed(place) if isinstance(part, str)), "")
    if key in _BY_KEY and (isinstance(place[-1], str) or key not in ("zones", "order")):
        return _BY_KEY[key](random, provider, settings)
    known = corpus.suiting(place, provider)
    if known and random.random() < 0.3:
        return copy.deepcopy(random.choice(known))
    if "const" in node:
        return node["const"]
    if "enum" in node:
        return random.choice(node["enum"])
    match node.get("type"):
        case "boolean":
            return random.random() < 0.5
        case "integer" | "number":
            return _number(node, random)
        case "array":
            count = random.choice((0, 1, 1, 2, 3))
            return [_drawn(node["items"], (*place, 0), provider, settings, random) for _ in range(count)]
        case "object":
            return _object(node, place, provider, settings, random)
        case _:
            return _text(node, random)


def _number(node: dict[str, Any], random: Random) -> float:
    least = node.get("minimum", node.get("exclusiveMinimum", 0))
    most = node.get("maximum", least + random.choice((3, 10, 100, 5000)))
    if node["type"] == "number":
        return round(random.uniform(least, most), random.choice((1, 3, 5, 7)))
    return random.choice((least, least, most, random.randint(least, most), min(least + random.randint(0, 4), most)))


def _text(node: dict[str, Any], random: Random) -> str:
    examples = node.get("examples", [])
    pattern = node.get("pattern", "")
    if pattern.endswith("/[0-9]{1,2}$"):
        return random.choice(RANGES)
    for unit in "smh":
        if pattern.startswith("^") and pattern.endswith(f"{unit}$") and len(pattern) < 30:
            return f"{random.choice((1, 5, 10, 90, 600, 100_000))}{unit}"
    if pattern.startswith("^(0|["):
        return random.choice(("0", "1", "2", "10", "33%", "100%", "0%", "1%", "5000"))
    return str(random.choice([*examples, *examples, *examples, random.choice(WORDS)]))


def _object(node: dict[str, Any], place: corpus.Place, provider: str, settings: dict[str, Any], random: Random) -> Any:
    inner = node.get("properties", {})
    if not inner:
        names = random.sample(WORDS, random.randint(0, 2))
        pattern = next(iter(node.get("patternProperties", {}).values()), {"type": "string"})
        return {name: _drawn(pattern, (*place, name), provider, settings, random) for name in names}
    chance = random.choice((0, 0.2, 0.6))
    wanted = [key for key in inner if key in node.get("required", []) or random.random() < chance]
    return {key: _drawn(inner[key], (*place, key), provider, settings, random) for key in wanted}


def _deep(depth: int) -> Any:
    value: Any = "x"
    for step in range(depth):
        value = [value] if step % 2 else {"a": value}
    return value


# fmt: off
NUMBERS = [
    0, -0.0, -1, 1, 2, 3, 7, 9, 10, 29, 31, 100, 101, 250, 251, 999, 1000, 1001, 5000, 2**31 - 1, 2**31, 2**53, 2**63, 10**19,
    10**310, -(10**310), 1e308, 1e-308, 0.1, 0.5, 4.0, 4.5, 1.35, 0.000001, float("inf"), float("nan"),
]
CHARACTERS = [
    "", " ", "\n", "\t", "\x00", "\x07", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u202e", "\ufeff", "\ud800", "a\udfff", "\uffff",
    "\uff11", "\u0663", "\U0001f600", "\u00e9", "e\u0301", "\u00df", "\u0130", "\ufb01", "\u2167", "'", '"', "\\", "a\\b", "%s%n",
]
TEXTS = [
    *CHARACTERS, "x", "null", "~", "true", "yes", "1", "01", "1.0", "1e3", "1_000", "0x10", "0o17", "-1", "nan",
    "2026-11-01", "1:30:00", "${AZURE_SUB}", "{{x}}", "<b>", "../..", "`", "#", "[]", "{", r"(?<=a)b", r"(a)\1",
    r"[", r"*", r"a**", r"(a+)+$", r"\C", r"^$", r".*", r"a{99999999999}", r"https://", r"a@b", r"-a", r"a-", r"A",
    r"kubernetes.io/a", r"kubeflow-spot.dev/x", "cloud.google.com/gke-spot", '{"a":1}', "999.999.999.999/99",
    "10.0.0.0/33", "10.0.0.1/8", "::/0", "/subscriptions//resourceGroups//x", "a" * 63, "x" * 300, "x" * 5000,
    "9" * 400, "9" * 4400, "9" * 4400 + "%", "1" + "0" * 350 + "s", "(" * 493 + ")" * 493,
]
OTHERS: list[Any] = [
    None, True, False, [], {}, [[]], [{}], {"": ""}, {"x": 1}, [None], {"a": None}, ["x", {}, 1], _deep(30),
]
# fmt: on


def nasty(random: Random) -> Any:
    """Return a value that is wrong nearly everywhere."""
    kind = random.random()
    if kind < 0.45:
        return random.choice(TEXTS)
    if kind < 0.75:
        return random.choice(NUMBERS)
    if kind < 0.8:
        return [random.choice(TEXTS)] * random.choice((1, 2, 200))
    return copy.deepcopy(random.choice(OTHERS)) if kind < 0.99 else _deep(random.choice((100, 300)))
