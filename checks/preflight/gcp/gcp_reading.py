"""The questions to Google Cloud, by its own clients, answered as its REST documentation shows.

Every request reads; `testIamPermissions` and the capacity advice are POSTs that change nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from checks.findings import Unasked, line
from checks.preflight.answers import Answers, Reading
from checks.preflight.demand import Demand
from checks.preflight.gcp import capacity_advice, gcp_identity
from checks.preflight.gcp.gcp_declared import BUCKET_GRANTS
from checks.preflight.gcp.gcp_reservations import reservation_named
from checks.preflight.gcp.gcp_rights import answer_of, permissions, services
from checks.preflight.gcp.machines import groups, last_part, offered_zones
from checks.preflight.settings import Settings
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.gcp.gcp_tables import accelerator

_STORAGE = "https://storage.googleapis.com"
_COMPUTE = "https://compute.googleapis.com"

_ONCE: dict[str, Any] = {"timeout": 30.0, "retry": None}
"""Seconds for each answer. The clients' own retries last ten minutes if nothing answers."""

_MAY_BE_MISSING = ("region", "cluster", "network", "bucket", "bucketGranted")
"""Parts that a project may lack, besides machines and GPUs of a zone. It has the others."""

_NO_PROJECT = re.compile(
    r"permission denied on resource project|project \S+ not found or permission denied",
    re.IGNORECASE,
)
"""Messages of the 403 for a project that is missing, or not for these credentials (tensorflow/tpu
859, google-gemini/gemini-cli 1808: with the reason CONSUMER_INVALID)."""


def read_account(
    demand: Demand, account: str | None, credentials: Any = None, endpoint: str | None = None
) -> Answers:
    """Ask Google Cloud for a stack. Raises `Unasked`.

    `account`: a project in place of the stack file's. `endpoint`: a server in place of Google's.
    """
    cloud = demand.spec.cloud
    assert isinstance(cloud, Gcp)
    settings = Settings("gcp", demand.settings, os.environ)
    gcp_identity.refuse_other_clouds(settings)
    login = ""
    if credentials is None:
        credentials, login = gcp_identity.login(settings)
    reading = _GcpReading(demand, cloud, account or cloud.project, credentials, endpoint)
    reading.read_project()
    reading.read_machines()
    reading.read_capacity_advice()
    reading.read_reservations()
    reading.read_cluster()
    reading.read_node_counts()
    reading.read_network()
    reading.read_rights()
    reading.read_bucket()
    return reading.answers(f"project {reading.project}", login)


class _GcpReading(Reading):
    def __init__(
        self, demand: Demand, cloud: Gcp, project: str, credentials: Any, endpoint: str | None
    ) -> None:
        super().__init__(demand)
        self.cloud, self.project = cloud, project
        self.credentials, self.endpoint = credentials, endpoint
        self.place, self.region = cloud.place or "", cloud.region or ""

    @property
    def zones(self) -> tuple[str, ...]:
        return offered_zones(self.cloud, self.parts.get("region"))

    def read_project(self) -> None:
        # The imports take five seconds, mostly Compute Engine's; only this command spends them.
        from google.cloud import compute_v1

        projects = self._opened(compute_v1.ProjectsClient)
        regions = self._opened(compute_v1.RegionsClient)
        # First, because everything of a missing project answers 404.
        self._ask("project", projects.get, project=self.project)
        self._ask("region", regions.get, project=self.project, region=self.region)

    def read_machines(self) -> None:
        from google.cloud import compute_v1

        clients = {
            "machineTypes": self._opened(compute_v1.MachineTypesClient),
            "acceleratorTypes": self._opened(compute_v1.AcceleratorTypesClient),
        }
        self.parts |= {kind: {} for kind in clients}
        for zone, kind, name in self._wanted_machines():
            if f"{zone}/{name}" not in self.parts[kind]:
                field = "machine_type" if kind == "machineTypes" else "accelerator_type"
                place = {"project": self.project, "zone": zone, field: name}
                self._ask(f"{zone}/{name}", clients[kind].get, self.parts[kind], **place)

    def _wanted_machines(self) -> Iterable[tuple[str, str, str]]:
        for need in self.demand.needs:
            for zone in need.zones or self.zones:
                yield zone, "machineTypes", need.machine
                if need.gpus:
                    yield zone, "acceleratorTypes", accelerator(need.gpu_model)

    def read_capacity_advice(self) -> None:
        path = f"compute/beta/projects/{self.project}/regions/{self.region}/advice/capacity"
        url = f"{self.endpoint or _COMPUTE}/{path}"
        for name, body in capacity_advice.questions(self.demand, self.zones):
            self.ask_advice(name, partial(self._request, url, body))

    def read_reservations(self) -> None:
        from google.cloud import compute_v1

        held = self.parts["reservations"] = {}
        client = self._opened(compute_v1.ReservationsClient)
        for need in self.demand.needs:
            for zone in (need.zones or self.zones) if need.reserved else ():
                owner, name = reservation_named(need.reservation, self.project)
                place = {"project": owner, "zone": zone, "reservation": name}
                call = partial(_plain_answer, client.get, place)
                elsewhere = owner != self.project
                self.ask(f"{zone}/{need.reservation}", call, held, elsewhere)

    def read_cluster(self) -> None:
        from google.cloud import container_v1

        client = self._opened(container_v1.ClusterManagerClient)
        where = f"projects/{self.project}/locations/{self.place}"
        if self._place_exists():
            self._ask("serverConfig", client.get_server_config, name=where)
            name = f"{where}/clusters/{self.demand.spec.name}"
            self._ask("cluster", client.get_cluster, name=name)

    def _place_exists(self) -> bool:
        """Return whether the region and a zonal cluster's zone exist; True if not seen."""
        found = self.parts.get("region", {})
        zones = {last_part(url) for url in (found or {}).get("zones") or ()}
        zonal = self.place != self.region
        return found is not None and not (zonal and zones and self.place not in zones)

    def read_node_counts(self) -> None:
        from google.cloud import compute_v1

        self.parts["groups"] = {}
        client = self._opened(compute_v1.InstanceGroupsClient)
        wanted = {need.pool for need in self.demand.needs}
        for pool, zone, group in groups(self.parts.get("cluster")):
            if pool["name"] in wanted:
                place = {"project": self.project, "zone": zone, "instance_group": group}
                self._ask(f"{zone}/{group}", client.get, self.parts["groups"], **place)

    def read_network(self) -> None:
        from google.cloud import compute_v1

        if self.demand.new and self.cloud.network.existing is None:
            client, name = self._opened(compute_v1.NetworksClient), self.demand.spec.name
            self._ask("network", client.get, project=self.project, network=name)

    def read_rights(self) -> None:
        from google.cloud import resourcemanager_v3, service_usage_v1

        usage = self._opened(service_usage_v1.ServiceUsageClient)
        parent = f"projects/{self.project}"
        names = [f"{parent}/services/{name}" for name in services(self.demand)]
        request = service_usage_v1.BatchGetServicesRequest(parent=parent, names=names)
        self._ask("services", usage.batch_get_services, request=request)
        rights = self._opened(resourcemanager_v3.ProjectsClient)
        for project, wanted in permissions(self.demand).items():
            sent: dict[str, Any] = {"resource": f"projects/{project}"}
            sent["permissions"] = list(wanted)
            self._ask(answer_of(project, self.demand), rights.test_iam_permissions, **sent)

    def read_bucket(self) -> None:
        existing = self.demand.existing_bucket
        bucket = self.demand.bucket or existing
        url = f"{self.endpoint or _STORAGE}/storage/v1/b/{bucket}"
        if bucket:
            self.ask("bucket", lambda: self._request(url))
        if existing and self.demand.spec.workloads.profiles:
            tested = "&".join(f"permissions={name}" for name in BUCKET_GRANTS)
            self.ask("bucketGranted", lambda: self._request(f"{url}/iam/testPermissions?{tested}"))

    def refusal(self, error: Exception, name: str, elsewhere: bool) -> str | None:
        from google.api_core import exceptions as google
        from google.auth.exceptions import GoogleAuthError, TransportError
        from google.protobuf.json_format import ParseError

        refused: Any = error
        if isinstance(error, google.NotFound):
            if name in _MAY_BE_MISSING or "/" in name:
                return None
            raise Unasked(self._no_project(name, refused)) from None
        if isinstance(error, google.Unauthorized):
            why = f"{_refusal(refused)}: {refused.message}"
            raise Unasked(gcp_identity.no_credentials(why)) from None
        if isinstance(error, google.GoogleAPICallError):
            consumer = refused.reason == "CONSUMER_INVALID"
            if not elsewhere and (consumer or _NO_PROJECT.search(str(refused.message))):
                raise Unasked(self._no_project(name, refused)) from None
            return _refusal(refused)
        if isinstance(error, ParseError):
            raise Unasked(f"{name}: Google Cloud answers with no JSON: {line(error)}") from None
        if isinstance(error, GoogleAuthError) and not isinstance(error, TransportError):
            raise Unasked(gcp_identity.no_credentials(error)) from None
        silent = (google.RetryError, TransportError, OSError, ValueError)
        if isinstance(error, silent):
            raise Unasked(f"{name}: Google Cloud does not answer: {line(error)}") from None
        raise error

    def _opened(self, client: Callable[..., Any]) -> Any:
        options = {"api_endpoint": self.endpoint} if self.endpoint else None
        return client(credentials=self.credentials, transport="rest", client_options=options)

    def _ask(
        self, part: str, method: Any, into: dict[str, Any] | None = None, **arguments: Any
    ) -> None:
        self.ask(part, partial(_plain_answer, method, arguments), into)

    def _request(self, url: str, body: Any = None) -> Any:
        """GET a document, or POST a question, for which no client in use has a method.

        Raises what the clients raise.
        """
        from google.api_core.exceptions import from_http_response
        from google.auth.transport.requests import AuthorizedSession

        method = "GET" if body is None else "POST"
        with AuthorizedSession(self.credentials) as session:
            answer = session.request(method, url, json=body, timeout=_ONCE["timeout"])
        if answer.status_code >= 400:
            raise from_http_response(answer)
        return answer.json()

    def _no_project(self, name: str, refused: Any) -> str:
        return (
            f"there is no project {self.project}, or these credentials may not use it ({name}:"
            f" {_refusal(refused)}): correct `cloud.project`, or log in as another"
        )


def _refusal(refused: Any) -> str:
    return f"{refused.code or ''} {refused.reason or type(refused).__name__}".strip()


def _plain_answer(method: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a client's method; return the message in the words of the REST documentation."""
    from google.protobuf.json_format import MessageToDict

    message = method(**arguments, **_ONCE)
    # Most messages are of proto-plus, which wraps them; testIamPermissions answers a plain one.
    wrapped = getattr(type(message), "pb", None)
    return MessageToDict(wrapped(message) if wrapped else message)
