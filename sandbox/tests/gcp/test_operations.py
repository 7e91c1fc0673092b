"""Work that a killed process leaves, and its completion by the next process.

`sandbox/tests/cloud/test_emulated_cloud.py` has deletions that fail or are killed.
"""

import dataclasses

import pytest

from sandbox.cloud.cluster_runtime import Endpoint
from sandbox.cloud.provider import Refused
from sandbox.gcp.gcp_quotas import UNLIMITED
from sandbox.tests.engine_side import Props

from .conftest import (
    CLUSTER,
    CLUSTER_ID,
    MEMBER,
    NETWORK,
    POOL,
    PROJECT,
    READER,
    REGULAR,
    SUBNETWORK,
    SUBNETWORK_INPUTS,
    TWO,
    Project,
)


def go_on(project: Project) -> None:
    """Start a later process, which repairs the state it reads."""
    project.limit(UNLIMITED)
    project.cloud.reconcile()


def test_a_cluster_that_was_being_made_is_taken_back(ready: Project) -> None:
    ready.runtime.fails(KeyboardInterrupt(), "start")
    with pytest.raises(KeyboardInterrupt):
        ready.create(CLUSTER, TWO)
    two = CLUSTER_ID.replace("gke", "two")
    assert (ready.cloud.get(two) or {})["status"] == "PROVISIONING"
    go_on(ready)
    assert ready.cloud.get(two) is None
    assert ("stop", two) in ready.runtime.calls
    assert (ready.cloud.get(CLUSTER_ID) or {})["status"] == "RUNNING"


def test_a_pool_that_was_being_made_is_finished(ready: Project) -> None:
    ready.runtime.fails(KeyboardInterrupt(), "apply_nodes")
    with pytest.raises(KeyboardInterrupt):
        ready.create(POOL, REGULAR)
    go_on(ready)
    assert (ready.cloud.get(f"{CLUSTER_ID}/nodePools/cpu") or {})["status"] == "RUNNING"
    assert len(ready.runtime.names()) == 3


def test_a_cluster_that_was_being_deleted_takes_no_pool(ready: Project) -> None:
    ready.runtime.fails(KeyboardInterrupt(), "stop")
    with pytest.raises(KeyboardInterrupt):
        ready.cloud.delete(CLUSTER_ID)
    with pytest.raises(Refused, match=f"Not found: {CLUSTER_ID}"):
        ready.create(POOL, REGULAR)


def test_an_address_that_changes_with_a_restart_is_known(ready: Project) -> None:
    """A port that was taken meanwhile is another after the next start."""
    ready.runtime.endpoint = lambda cluster_id: Endpoint("127.0.0.1:7443", "bmV3")  # type: ignore[method-assign]
    ready.cloud.reconcile()
    body = ready.cloud.get(CLUSTER_ID) or {}
    assert body["endpoint"] == body["controlPlaneEndpointsConfig"]["dnsEndpointConfig"]["endpoint"] == "127.0.0.1:7443"
    assert body["masterAuth"]["clusterCaCertificate"] == "bmV3"


@pytest.mark.parametrize(
    ("token", "inputs"),
    [
        (NETWORK, {"name": "more", "autoCreateSubnetworks": False}),
        (SUBNETWORK, {**SUBNETWORK_INPUTS, "name": "more", "ipCidrRange": "10.99.0.0/24", "secondaryIpRanges": []}),
        (POOL, REGULAR),
        (MEMBER, {"project": PROJECT, "role": "roles/viewer", "member": "user:a@example.com"}),
        (
            READER,
            {"repository": "images", "location": "europe", "role": "roles/viewer", "member": "user:a@example.com"},
        ),
    ],
)
def test_a_killed_create_leaves_a_resource_that_its_inputs_identify(ready: Project, token: str, inputs: Props) -> None:
    """`sandbox.engine.interrupted` asks so."""
    resource = ready.create(token, inputs)
    assert ready.provider.id_of(token, resource.old_inputs) == resource.id
    refreshed = ready.refresh(dataclasses.replace(resource, old_outputs={}))
    assert refreshed.old_outputs == resource.old_outputs
    assert ready.diff(refreshed, inputs).changes == {}


@pytest.mark.parametrize("going", [f"{CLUSTER_ID}/nodePools/cpu", CLUSTER_ID])
def test_what_could_not_be_deleted_is_no_longer_being_deleted(ready: Project, going: str) -> None:
    ready.create(POOL, REGULAR)
    ready.runtime.fails(OSError("no route to host"))
    with pytest.raises(Refused, match=r"deleting GKE .*: no route to host"):
        ready.cloud.delete(going)
    go_on(ready)
    # No second deletion was requested: the pool and its nodes exist.
    assert (len(ready.runtime.names()), (ready.cloud.get(going) or {})["status"]) == (3, "RUNNING")
