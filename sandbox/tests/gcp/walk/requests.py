"""Requests of the walk's rows."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from sandbox.cloud.provider import Resource
from sandbox.gcp.resources.gcp_resource_type import Settings
from sandbox.gcp.resources.gcp_table import TYPES
from sandbox.tests.engine_side import Props

from ..conftest import CLUSTER, CLUSTER_INPUTS, POOL, PROJECT, Project, with_config


@dataclass(frozen=True)
class Make:
    """A create of a resource, or an update where it exists; `last` are the earlier inputs if a key was removed."""

    token: str
    inputs: Props
    last: Props | None = None

    def __call__(self, project: Project) -> None:
        inputs = project.check(self.token, self.inputs)
        id = TYPES[self.token].id(inputs, Settings(PROJECT))
        if project.cloud.get(id) is None or TYPES[self.token].shared:
            project.provider.create(Resource(self.token, "it", "urn:it", inputs=inputs))
            return
        last = inputs if self.last is None else project.check(self.token, self.last)
        resource = project.refresh(Resource(self.token, "it", "urn:it", id, old_inputs=last))
        # The provider's own outputs are not in the cloud; only the pool's cluster stays as it was sent.
        own = TYPES[self.token].virtual - {"cluster"}
        outputs = {name: value for name, value in resource.old_outputs.items() if name not in own}
        project.provider.update(dataclasses.replace(resource, inputs=inputs, old_inputs=last, old_outputs=outputs))


@dataclass(frozen=True)
class Again:
    """A create of a resource that exists."""

    token: str
    inputs: Props

    def __call__(self, project: Project) -> None:
        project.create(self.token, self.inputs)


@dataclass(frozen=True)
class Delete:
    id: str

    def __call__(self, project: Project) -> None:
        project.cloud.delete(self.id)


def key_granted(key: str, agent: str) -> Make:
    """Give a service agent the right to encrypt with a key."""
    role = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
    grant = {"cryptoKeyId": key, "role": role, "member": f"serviceAccount:{agent}"}
    return Make("gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember", grant)


def _some(inputs: Props) -> Props:
    return {name: value for name, value in inputs.items() if value is not None}


def ranges(services: str) -> Props:
    return {"clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": services}


def cluster(**changes: Any) -> Make:
    """Make a new cluster `two` beside `gke`, with a range of its own for Services."""
    own = {"name": "two", "ipAllocationPolicy": ranges("more-services")}
    return Make(CLUSTER, _some({**CLUSTER_INPUTS, **own, **changes}))


def pool(base: Props, **changes: Any) -> Make:
    return Make(POOL, _some({**base, **changes}))


def nodes(base: Props, **changes: Any) -> Make:
    """Make a pool with changes of its nodes."""
    return Make(POOL, with_config(base, **changes))
