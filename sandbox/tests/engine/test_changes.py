"""Changes of a report from the engine's events."""

from typing import Any

import pytest
from pulumi.automation.events import EngineEvent

from sandbox.engine.changes import Change, Op, Property, at, change

POOL = "azure-native:containerservice:AgentPool"


def event(op: str, old: dict[str, Any] | None, new: dict[str, Any] | None, **more: Any) -> EngineEvent:
    def state(inputs: dict[str, Any] | None) -> dict[str, Any] | None:
        outputs = more.get("outputs", inputs)
        return None if inputs is None else {"custom": more.get("custom", True), "inputs": inputs, "outputs": outputs}

    metadata = {
        "op": op,
        "urn": "urn:pulumi:dev::kubeflow-spot::kubeflow-spot:index:KubeflowCluster$pool::ml-dev-t4",
        "type": more.get("type", POOL),
        "old": state(old),
        "new": state(new),
        "keys": more.get("keys"),
        "detailedDiff": more.get("diff"),
    }
    return EngineEvent.from_json({"sequence": 1, "timestamp": 0, "resourcePreEvent": {"metadata": metadata}})


def diff(kind: str = "update") -> dict[str, Any]:
    return {"diffKind": kind, "inputDiff": True}


def test_an_update_has_its_properties_with_old_and_new_values() -> None:
    update = event(
        "update",
        {"maxCount": 8, "nodeLabels": {"team": "nlp"}, "mode": "User"},
        {"maxCount": 9, "nodeLabels": {"team": "nlp", "example.com/a": "b"}, "mode": "User"},
        diff={"maxCount": diff(), 'nodeLabels["example.com/a"]': diff("add")},
    )
    assert change(update) == Change(
        op=Op.UPDATE,
        type=POOL,
        name="ml-dev-t4",
        properties=(
            Property(path="maxCount", before="8", after="9"),
            Property(path='nodeLabels["example.com/a"]', before=None, after='"b"'),
        ),
    )


def test_a_replacement_is_one_change_with_the_property_that_is_the_reason() -> None:
    states = ({"vmSize": "A", "maxCount": 8}, {"vmSize": "B", "maxCount": 9})
    details = {"diff": {"vmSize": diff("update-replace"), "maxCount": diff()}}
    changes = [change(event(op, *states, **details)) for op in ("create-replacement", "replace", "delete-replaced")]
    assert [part and part.op for part in changes] == [None, Op.REPLACE, None]
    assert changes[1]
    assert {(part.path, part.replaces) for part in changes[1].properties} == {("vmSize", True), ("maxCount", False)}


def test_a_reason_that_the_engine_names_as_a_key_counts_as_well() -> None:
    """`replace_on_changes` of the program, where the provider itself would update."""
    sent = event(
        "replace", {"spotMaxPrice": -1}, {"spotMaxPrice": 0.5}, keys=["spotMaxPrice"], diff={"spotMaxPrice": diff()}
    )
    replacement = change(sent)
    assert replacement
    assert [part.replaces for part in replacement.properties] == [True]


@pytest.mark.parametrize("op", ["same", "read", "refresh", "create-replacement", "delete-replaced", "discard"])
def test_a_step_without_effect_is_no_change(op: str) -> None:
    assert change(event(op, {}, {})) is None


def test_a_component_is_no_change() -> None:
    assert change(event("create", None, {}, custom=False)) is None
    assert change(event("create", None, {})) is not None


def test_a_value_that_only_the_cloud_has_is_shown_as_the_old_value() -> None:
    sent = event("update", {}, {"count": 2}, outputs={"count": 5}, diff={"count": diff()})
    update = change(sent)
    assert update
    assert update.properties == (Property(path="count", before="5", after="2"),)


def test_a_value_known_only_after_the_update_is_not_shown() -> None:
    unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"  # pulumi, sdk/go/common/resource/plugin, UnknownStringValue
    sent = event(
        "replace",
        {"principalId": "a", "ids": ["a"]},
        {"principalId": unknown, "ids": [unknown]},
        diff={"principalId": diff("update-replace"), "ids": diff()},
    )
    replacement = change(sent)
    assert replacement
    assert [(part.path, part.after) for part in replacement.properties] == [
        ("ids", '["known after the update"]'),
        ("principalId", None),
    ]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a", '{"b": [1, {"c.d": "e"}]}'),
        ("a.b[0]", "1"),
        ('a.b[1]["c.d"]', '"e"'),
        ("a.b[7]", None),
        ("a.b.c", None),
        ("x.y", None),
        ("a.b[0].c", None),
    ],
)
def test_a_property_path_of_the_engine_leads_to_a_value_or_to_nothing(path: str, value: str | None) -> None:
    assert at({"a": {"b": [1, {"c.d": "e"}]}}, path) == value
