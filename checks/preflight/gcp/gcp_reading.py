"""Asks Google Cloud by its own clients. Every request reads; `testIamPermissions` and the advice on capacity are POSTs that change
nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from checks.findings import Unasked, line
from checks.preflight.answers import Answers
from checks.preflight.demand import Demand
from checks.preflight.gcp import capacity_advice, gcp_identity
from checks.preflight.gcp.gcp_declared import BUCKET_GRANTS
from checks.preflight.gcp.gcp_reservations import named
from checks.preflight.gcp.gcp_rights import answer_of, permissions, services
from checks.preflight.gcp.machines import groups, offered_zones
from checks.preflight.settings import Settings
from config.clouds.gcp.gcp_settings import Gcp
from config.clouds.gcp.gcp_tables import accelerator

_STORAGE = "https://storage.googleapis.com"
_COMPUTE = "https://compute.googleapis.com"

_ONCE: dict[str, Any] = {"timeout": 30.0, "retry": None}
"""Seconds for each answer. The clients' own retries go on for ten minutes where nothing answers."""


_MAY_BE_NONE = ("region", "cluster", "network", "bucket", "bucketGranted")
"""Parts of which 404 means that there is none, besides machines and GPUs of a zone. Every project has the others."""

_NO_PROJECT = re.compile(
    r"permission denied on resource project|project \S+ not found or permission denied",
    re.IGNORECASE,
)
"""Messages of the 403 for a project that is not there, or not for these credentials (tensorflow/tpu 859,
google-gemini/gemini-cli 1808: with the reason CONSUMER_INVALID)."""


def read(
    demand: Demand, account: str | None, credentials: Any = None, endpoint: str | None = None
) -> Answers:
    """The answers for a stack. `account`: a project in place of the stack file's. `endpoint`: a server in place of Google's.

    Raises `Unasked`.
    """
    # Together five seconds, most of it for Compute Engine; only this command spends them.
    from google.api_core.exceptions import GoogleAPICallError, NotFound, RetryError, Unauthorized
    from google.auth.exceptions import GoogleAuthError, TransportError
    from google.cloud import compute_v1, container_v1, resourcemanager_v3, service_usage_v1
    from google.protobuf.json_format import ParseError

    cloud = demand.spec.cloud
    assert isinstance(cloud, Gcp)
    settings = Settings("gcp", demand.settings, os.environ)
    gcp_identity.refuse_other_clouds(settings)
    words = ""
    if credentials is None:
        credentials, words = gcp_identity.login(settings)
    project, place, region = account or cloud.project, cloud.place or "", cloud.region or ""
    parts: dict[str, Any] = {"project": project}
    unseen: dict[str, str] = {}

    def opened(client: Callable[..., Any]) -> Any:
        return client(
            credentials=credentials,
            transport="rest",
            client_options={"api_endpoint": endpoint} if endpoint else None,
        )

    def ask(
        name: str, call: Callable[[], Any], into: dict[str, Any] = parts, owner: str = project
    ) -> Any:
        """One answer; a refusal is kept by the name of what was asked. `owner`: the project that it is asked of."""
        try:
            into[name] = call()
        except NotFound as missing:
            if into is parts and name not in _MAY_BE_NONE:
                raise Unasked(_no_project(project, name, missing)) from None
            into[name] = None
        except Unauthorized as refused:
            raise Unasked(gcp_identity.none(f"{_refusal(refused)}: {refused.message}")) from None
        except RetryError as silent:
            raise Unasked(f"{name}: Google Cloud does not answer: {line(silent)}") from None
        except GoogleAPICallError as refused:
            if owner == project and (
                refused.reason == "CONSUMER_INVALID" or _NO_PROJECT.search(str(refused.message))
            ):
                raise Unasked(_no_project(project, name, refused)) from None
            unseen[name] = _refusal(refused)
        except ParseError as strange:
            raise Unasked(f"{name}: Google Cloud answers with no JSON: {line(strange)}") from None
        except TransportError as silent:
            raise Unasked(f"{name}: Google Cloud does not answer: {line(silent)}") from None
        except GoogleAuthError as missing:
            raise Unasked(gcp_identity.none(missing)) from None
        except (OSError, ValueError) as silent:
            raise Unasked(f"{name}: Google Cloud does not answer: {line(silent)}") from None
        return into.get(name)

    regions, projects = opened(compute_v1.RegionsClient), opened(compute_v1.ProjectsClient)
    # First, because a project that is not there says 404 to everything.
    ask("project", lambda: _plain(projects.get(project=project, **_ONCE)))
    ask("region", lambda: _plain(regions.get(project=project, region=region, **_ONCE)))
    machines, gpus = (
        opened(compute_v1.MachineTypesClient),
        opened(compute_v1.AcceleratorTypesClient),
    )
    parts["machineTypes"], parts["acceleratorTypes"] = {}, {}
    for zone, machine, model in _pairs(demand, offered_zones(cloud, parts.get("region"))):
        kinds: Iterable[tuple[str, str, Any]] = (
            ("machineTypes", machine, machines),
            ("acceleratorTypes", model, gpus),
        )
        for kind, name, client in kinds:
            keyword = "machine_type" if kind == "machineTypes" else "accelerator_type"
            if name and f"{zone}/{name}" not in parts[kind]:
                ask(
                    f"{zone}/{name}",
                    lambda zone=zone, name=name, client=client, keyword=keyword: _plain(  # type: ignore[misc]
                        client.get(project=project, zone=zone, **{keyword: name}, **_ONCE)
                    ),
                    parts[kind],
                )
    for name, body in capacity_advice.questions(demand, offered_zones(cloud, parts.get("region"))):
        # Advice: whatever goes wrong is a note of its check.
        try:
            path = f"compute/beta/projects/{project}/regions/{region}/advice/capacity"
            ask(
                name,
                lambda path=path, body=body: _session(
                    f"{endpoint or _COMPUTE}/{path}", credentials, body
                ),
            )  # type: ignore[misc]
        except Unasked as silent:
            unseen[name] = str(silent)
    parts["reservations"] = {}
    held = opened(compute_v1.ReservationsClient)
    for need in demand.needs:
        for zone in (
            (need.zones or offered_zones(cloud, parts.get("region"))) if need.reserved else ()
        ):
            owner, name = named(need.reservation, project)
            ask(
                f"{zone}/{need.reservation}",
                lambda owner=owner, zone=zone, name=name: _plain(  # type: ignore[misc]
                    held.get(project=owner, zone=zone, reservation=name, **_ONCE)
                ),
                parts["reservations"],
                owner,
            )
    clusters, where = (
        opened(container_v1.ClusterManagerClient),
        f"projects/{project}/locations/{place}",
    )
    if _is_there(place, region, parts):
        ask("serverConfig", lambda: _plain(clusters.get_server_config(name=where, **_ONCE)))
        ask(
            "cluster",
            lambda: _plain(
                clusters.get_cluster(name=f"{where}/clusters/{demand.spec.name}", **_ONCE)
            ),
        )
    parts["groups"] = {}
    sizes, wanted_pools = (
        opened(compute_v1.InstanceGroupsClient),
        {need.pool for need in demand.needs},
    )
    for pool, zone, group in groups(parts.get("cluster")):
        if pool["name"] in wanted_pools:
            ask(
                f"{zone}/{group}",
                lambda zone=zone, group=group: _plain(  # type: ignore[misc]
                    sizes.get(project=project, zone=zone, instance_group=group, **_ONCE)
                ),
                parts["groups"],
            )
    if demand.new and cloud.network.existing is None:
        networks = opened(compute_v1.NetworksClient)
        ask(
            "network",
            lambda: _plain(networks.get(project=project, network=demand.spec.name, **_ONCE)),
        )
    usage = opened(service_usage_v1.ServiceUsageClient)
    names = [f"projects/{project}/services/{name}" for name in services(demand)]
    request = service_usage_v1.BatchGetServicesRequest(parent=f"projects/{project}", names=names)
    ask("services", lambda: _plain(usage.batch_get_services(request=request, **_ONCE)))
    rights = opened(resourcemanager_v3.ProjectsClient)
    for place, wanted in permissions(demand).items():
        sent = {"resource": f"projects/{place}", "permissions": list(wanted)}
        ask(
            answer_of(place, demand),
            lambda sent=sent: _plain(rights.test_iam_permissions(**sent, **_ONCE)),
        )  # type: ignore[misc]
    if bucket := demand.bucket or demand.existing_bucket:
        ask("bucket", lambda: _storage(bucket, credentials, endpoint))
    if demand.existing_bucket and demand.spec.workloads.profiles:
        tested = "&".join(f"permissions={name}" for name in BUCKET_GRANTS)
        ask(
            "bucketGranted",
            lambda: _storage(f"{bucket}/iam/testPermissions?{tested}", credentials, endpoint),
        )
    return Answers(demand, parts, unseen, f"project {project}" + (f" as {words}" if words else ""))


def _is_there(place: str, region: str, parts: Mapping[str, Any]) -> bool:
    """Whether the region is there, and the zone of a zonal cluster in it; True where that was not seen."""
    found = parts.get("region", {})
    zones = {str(url).rpartition("/")[2] for url in (found or {}).get("zones") or ()}
    return found is not None and (place == region or not zones or place in zones)


def _no_project(project: str, name: str, refused: Any) -> str:
    return (
        f"there is no project {project}, or these credentials may not use it ({name}: {_refusal(refused)}): correct"
        " `cloud.project`, or log in as another"
    )


def _refusal(refused: Any) -> str:
    return f"{refused.code or ''} {refused.reason or type(refused).__name__}".strip()


def _storage(path: str, credentials: Any, endpoint: str | None) -> Any:
    """Read a bucket, or what one answers. Raises what the clients raise."""
    return _session(f"{endpoint or _STORAGE}/storage/v1/b/{path}", credentials)


def _session(url: str, credentials: Any, body: Any = None) -> Any:
    """GET a document, or POST a question: what no client in use has a method for, or none is worth its weight.

    Raises what the clients raise.
    """
    from google.api_core.exceptions import from_http_response
    from google.auth.transport.requests import AuthorizedSession

    with AuthorizedSession(credentials) as session:
        answer = session.request(
            "GET" if body is None else "POST", url, json=body, timeout=_ONCE["timeout"]
        )
    if answer.status_code >= 400:
        raise from_http_response(answer)
    return answer.json()


def _pairs(demand: Demand, zones: tuple[str, ...]) -> Iterable[tuple[str, str, str]]:
    """Each zone with each machine, and the GPU model that is attached to it, or ""."""
    for need in demand.needs:
        for zone in need.zones or zones:
            yield zone, need.machine, accelerator(need.gpu_model) if need.gpus else ""


def _plain(message: Any) -> Any:
    """A client's message in the words of the REST documentation."""
    from google.protobuf.json_format import MessageToDict

    # Most are of proto-plus, which wraps the message; the answer of testIamPermissions is a plain one.
    wrapped = getattr(type(message), "pb", None)
    return MessageToDict(wrapped(message) if wrapped else message)
