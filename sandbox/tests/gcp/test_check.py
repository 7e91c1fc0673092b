"""The provider's checks: refused inputs, defaults and automatic names; and the kept shapes."""

import copy
import re
from importlib.metadata import version
from itertools import pairwise
from typing import Any

import pytest

from sandbox.cloud.provider import UNKNOWN, Resource
from sandbox.cloud.schema import Fields
from sandbox.gcp import gcp_catalogue, gcp_schema
from sandbox.gcp.gcp_catalogue import machines
from sandbox.gcp.resources.gcp_resource_type import READ_FOR, TABLE, GcpType
from sandbox.gcp.resources.gcp_table import TYPES
from sandbox.tests.engine_side import CheckFailed, Props
from sandbox.tests.rule_walk import ABSENT

from .conftest import (
    ACCOUNT,
    CLUSTER,
    CLUSTER_INPUTS,
    NETWORK,
    POOL,
    REGULAR,
    SPOT,
    SUBNETWORK,
    SUBNETWORK_INPUTS,
    Project,
    with_config,
)

BASES = {POOL: SPOT, CLUSTER: CLUSTER_INPUTS, SUBNETWORK: SUBNETWORK_INPUTS}


def with_value(inputs: Props, path: str, value: Any) -> Props:
    """Return inputs with a value at a path such as `nodeConfig.taints[0].effect`, or without one there."""
    result = copy.deepcopy(inputs)
    at: Any = result
    *steps, last = re.findall(r"\w+", path)
    for step, following in pairwise([*steps, last]):
        at = at[int(step)] if step.isdigit() else at.setdefault(step, [{}] if following == "0" else {})
    at.pop(last, None)
    at.update({} if value is ABSENT else {last: value})
    return result


@pytest.mark.parametrize(
    ("token", "path", "value", "reason"),
    [
        (POOL, "nodecount", 1, "Invalid or unknown key"),
        (POOL, "nodeConfig.spotMaxPrice", 1, "Invalid or unknown key"),
        (POOL, "cluster", ABSENT, "Missing required property"),
        (POOL, "nodeConfig.guestAccelerators[0].type", ABSENT, "Missing required property"),
        (POOL, "initialNodeCount", "1", "'initialNodeCount' should be of type integer but is of type string"),
        # 4.1: "expected node_config.0.taint.0.effect to be one of [..], got NoExecute"
        (
            *(POOL, "nodeConfig.taints[0].effect", "NoExecute"),
            'expected node_config.0.taint.0.effect to be one of ["NO_SCHEDULE" "PREFER_NO_SCHEDULE" "NO_EXECUTE"], got NoExecute',
        ),
        (
            *(POOL, "autoscaling.locationPolicy", "any"),
            'expected autoscaling.0.location_policy to be one of ["BALANCED" "ANY"], got any',
        ),
        (
            *(POOL, "autoscaling.totalMinNodeCount", -1),
            "expected autoscaling.0.total_min_node_count to be at least (0), got -1",
        ),
        (POOL, "nodeConfig.diskSizeGb", 9, "expected node_config.0.disk_size_gb to be at least (10), got 9"),
        (CLUSTER, "name", "a" * 41, '"name" cannot be longer than 40 characters'),
        (CLUSTER, "name", "mlDev", '"name" can only contain lowercase letters, numbers and hyphens'),
        (CLUSTER, "name", "1ml", '"name" must start with a letter'),
        (CLUSTER, "name", "ml-", '"name" must end with a number or a letter'),
        (
            *(CLUSTER, "privateClusterConfig.masterIpv4CidrBlock", "172.16.0.0/27"),
            'expected "private_cluster_config.0.master_ipv4_cidr_block" to contain a network Value with between 28 and 28 '
            "significant bits, got: 27",
        ),
        (
            *(CLUSTER, "masterAuthorizedNetworksConfig.cidrBlocks[0].cidrBlock", "10.0.0.1/8"),
            'expected "master_authorized_networks_config.0.cidr_blocks.0.cidr_block" to contain a valid network Value, expected '
            "10.0.0.0/8, got 10.0.0.1/8",
        ),
        (
            *(CLUSTER, "maintenancePolicy.dailyMaintenanceWindow.startTime", "2:00"),
            '"maintenance_policy.0.daily_maintenance_window.0.start_time" ("2:00") must be in the format HH:mm (RFC3399)',
        ),
        (NETWORK, "name", "Net", '"name" ("Net") doesn\'t match regexp "^(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)$"'),
        (
            *(ACCOUNT, "accountId", "short"),
            '"account_id" ("short") doesn\'t match regexp "^(?:[a-z](?:[-a-z0-9]{4,28}[a-z0-9]))$"',
        ),
        (
            *(SUBNETWORK, "ipCidrRange", "10.0.0.0"),
            '"ip_cidr_range" is not a valid IP CIDR range: invalid CIDR address: 10.0.0.0',
        ),
    ],
)
def test_check_refuses(project: Project, token: str, path: str, value: Any, reason: str) -> None:
    with pytest.raises(CheckFailed) as failed:
        project.check(token, with_value(BASES.get(token, {}), path, value))
    place = f"{token.rsplit(':', 1)[1].lower()}.{path}"
    missing = f"Missing required property '{path}'"
    assert str(failed.value) == (missing if value is ABSENT else f"{reason}. Examine values at '{place}'.")


def test_check_drops_nulls_and_lets_unknowns_pass(project: Project) -> None:
    checked = project.check(POOL, {**with_config(SPOT, serviceAccount=UNKNOWN), "cluster": UNKNOWN, "version": None})
    assert "version" not in checked
    assert checked["nodeConfig"]["serviceAccount"] == UNKNOWN


def test_check_adds_defaults_and_says_which(project: Project) -> None:
    checked = project.check(CLUSTER, {**CLUSTER_INPUTS, "network": None, "clusterAutoscaling": {"enabled": False}})
    assert checked["__defaults"] == ["deletionProtection", "enableShieldedNodes", "network"]
    assert (checked["deletionProtection"], checked["network"]) == (True, "default")
    assert checked["clusterAutoscaling"] == {
        "enabled": False,
        "autoscalingProfile": "BALANCED",
        "__defaults": ["autoscalingProfile"],
    }
    # A missing block gets no defaults, and empty defaults are not recorded (bridge #2618).
    assert "management" not in project.check(POOL, SPOT)
    assert "preemptible" not in project.check(POOL, SPOT)["nodeConfig"]


def test_automatic_name_is_kept_and_creates_before_it_deletes(ready: Project) -> None:
    unnamed = {name: value for name, value in REGULAR.items() if name != "name"}
    pool = ready.create(POOL, unnamed)
    assert re.fullmatch("nodepool-[0-9a-f]{7}", pool.old_inputs["name"])
    assert pool.old_inputs["__defaults"] == ["name"]
    assert ready.check(POOL, unnamed, pool.old_inputs)["name"] == pool.old_inputs["name"]
    # A refresh takes the marks away: then every old value serves again.
    refreshed = ready.refresh(pool)
    assert "__defaults" not in refreshed.old_inputs
    assert ready.check(POOL, unnamed, refreshed.old_inputs)["name"] == pool.old_inputs["name"]
    assert ready.diff(pool, {**unnamed, "maxPodsPerNode": 32}).delete_before_replace is False
    # A name from the program is replaced by a generated one.
    assert ready.check(POOL, unnamed, {**REGULAR, "__defaults": []})["name"] != "cpu"


def test_automatic_names_are_lower_case_but_of_clusters_and_pools(project: Project) -> None:
    def named(token: str) -> str:
        checked, failures = project.provider.check(
            Resource(token, "mlDev", "urn", inputs={"cluster": "c"} if token == POOL else {})
        )
        return str(checked.get("name")) + "".join(failure.reason for failure in failures)

    assert named(NETWORK).startswith("mldev-")
    assert named(POOL).startswith("mlDev-")
    assert "can only contain lowercase letters" in named(CLUSTER)


def test_an_automatic_account_name_may_be_too_long(project: Project) -> None:
    _, failures = project.provider.check(Resource(ACCOUNT, "a" * 23, "urn"))
    assert failures[0].reason == f"name '{'a' * 23}-' plus 7 random chars is longer than maximum length 30"


@pytest.mark.process
def test_the_kept_shapes_are_those_of_the_installed_sdk() -> None:
    """Imports the SDK, which takes seconds. `python -m sandbox.gcp.gcp_schema` writes them again."""
    assert gcp_schema.STORED.file.read_text(encoding="utf-8") == gcp_schema.written_from_the_sdk()


def test_what_replaces_and_what_is_computed_was_read_for_the_installed_sdk() -> None:
    """With another SDK, compare `data/terraform.csv` with the provider's schema, then write its version down."""
    assert ".".join(version("pulumi-gcp").split(".")[:2]) == READ_FOR


def test_every_emulated_type_has_its_shapes() -> None:
    assert set(TABLE) == set(TYPES)


def exists(fields: Fields, path: list[str]) -> bool:
    name, rest = path[0].removesuffix("[]"), path[1:]
    shape = fields.shapes.get(name)
    inner = shape.item if shape and path[0].endswith("[]") else shape
    if inner is None:
        return False
    return not rest or bool(inner.inside and exists(inner.inside(), rest))


@pytest.mark.parametrize("kind", TYPES.values(), ids=lambda kind: kind.token)
def test_every_property_that_a_type_speaks_of_is_one_of_its(kind: GcpType) -> None:
    named = kind.replaces | kind.computed | kind.sets | kind.links | kind.maps | {*kind.defaults, *kind.checks}
    fields = gcp_schema.STORED.inputs_of(kind.token)
    assert {path for path in named | kind.virtual if not exists(fields, path.split("."))} == set()


def test_the_offer_of_gpus_is_in_zones_that_exist() -> None:
    offers = {name: list(zones) for name, zones in gcp_catalogue.gpu_offers().items()}
    assert {
        zone for zones in offers.values() for zone in zones if zone != "*" and not gcp_catalogue.location_exists(zone)
    } == set()
    built_in = {machine.gpu_model for machine in machines().values() if machine.gpu_model}
    attachable = {model for machine in machines().values() for model in machine.attachable}
    assert built_in | attachable <= offers.keys()
    assert not offers["nvidia-tesla-k80"]
    assert not offers["nvidia-tesla-p100"]
