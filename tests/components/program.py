"""Runs the unmodified `__main__.py` under Pulumi's mocks and returns what it declares as plain data."""

import asyncio
import base64
import json
import runpy
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import pulumi
import pytest
import yaml
from google.protobuf import json_format
from pulumi.output import Unknown
from pulumi.runtime import config, mocks
from pulumi.runtime.settings import get_root_resource
from pulumi.runtime.stack import run_pulumi_func

from sandbox.azure.resources.azure_table import TYPES
from sandbox.tests import left_out
from tests.components.google import SUBNET

PROJECT = Path(__file__).resolve().parents[2]
KUBELET = "66666666-7777-8888-9999-000000000000"
"""The object id of the identity that the nodes of a cluster pull images as: of its outputs, and of its GET."""
LIVE_KUBELET = "77777777-8888-9999-0000-111111111111"
KUBECONFIG = "apiVersion: v1\nkind: Config\nclusters: []\n"


@dataclass
class Registration:
    """A resource in a request to the engine. Options have the names of the engine's protocol."""

    type: str
    name: str
    inputs: dict[str, Any]
    options: dict[str, Any]


@dataclass
class Declared:
    """All registrations of one run, and the stack's outputs."""

    resources: list[Registration] = field(default_factory=list)
    outputs: dict[str, Any] = field(default_factory=dict)
    secret: set[str] = field(default_factory=set)
    """Names of secret outputs."""

    def of(self, type: str, ending: str = "") -> dict[str, Registration]:
        """Return registrations of a type, by name; of those only the ones whose name ends so."""
        return {r.name: r for r in self.resources if r.type == type and r.name.endswith(ending)}


class CloudRefused(grpc.RpcError):
    """A provider's refusal as the SDK meets it."""

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.UNKNOWN

    def details(self) -> str:
        return str(self)


class Cloud(pulumi.runtime.Mocks):
    """Answers as both clouds do: `pools` are those that a cluster's GET lists, None for a missing cluster."""

    def __init__(self, pools: list[dict[str, Any]] | None) -> None:
        self._pools = pools

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        inputs = dict(args.inputs)
        if "identity" in inputs:
            # Sent as a list of ids, answered as a map by id.
            ids = inputs["identity"]["userAssignedIdentities"]
            inputs["identity"] = {
                **inputs["identity"],
                "userAssignedIdentities": {id: {} for id in ids if isinstance(id, str)},
            }
        if args.typ.endswith(":ManagedCluster"):
            inputs["identityProfile"] = {"kubeletidentity": {"objectId": KUBELET}}
        if args.typ.startswith("gcp:"):
            return _google(args.typ, args.name, inputs)
        kind = TYPES.get(args.typ)
        # Of a name that a preview does not know follows no id.
        unknown = any(isinstance(value, Unknown) for value in inputs.values())
        id = "" if unknown else kind.id("s", inputs) if kind else args.name
        return id, {
            **({"name": id.rpartition("/")[2]} if id else {}),
            "principalId": "11111111-2222-3333-4444-555555555555",
            **inputs,
        }

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        if args.token == "gcp:container/getCluster:getCluster":
            if self._pools is None:
                place = "projects/{project}/locations/{location}/clusters/{name}".format_map(args.args)
                raise CloudRefused(f"invoking {args.token}: 1 error occurred:\n\t* {place} not found\n\n")
            return {**args.args, "nodePools": self._pools}
        if args.token == "gcp:organizations/getProject:getProject":
            return {**args.args, "number": "123456789012"}
        if args.token == "gcp:compute/getSubnetwork:getSubnetwork":
            return SUBNET
        if args.token.endswith(":getManagedCluster"):
            if self._pools is None:
                raise CloudRefused('Status=404 Code="ResourceNotFound" Message="no such cluster"')
            return {
                "agentPoolProfiles": self._pools,
                "identityProfile": {"kubeletidentity": {"objectId": LIVE_KUBELET}},
            }
        if args.token == "pulumi:pulumi:readStackOutputs":
            # A stack with a cluster was up before, by this program.
            return {"outputs": {} if self._pools is None else {"remembered": {"poolsListed": True}}}
        if args.token.endswith(":getDeployment"):
            return {"properties": {"correlationId": "the last one"}}
        if args.token.endswith(":getClientConfig"):
            return {"subscriptionId": "s", "tenantId": "t", "clientId": "c", "objectId": "o"}
        return {"kubeconfigs": [{"name": "clusterUser", "value": base64.b64encode(KUBECONFIG.encode()).decode()}]}


class Answering(Cloud):
    """A cloud with these answers or refusals by the end of a function's name; it remembers what was asked, of which provider."""

    def __init__(self, **answers: dict[str, Any] | str) -> None:
        super().__init__(None)
        self._answers = answers
        self.asked: list[tuple[str, dict[str, Any], str]] = []

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[str, Any]:
        name = args.token.rpartition(":")[2]
        self.asked.append((name, args.args, args.provider))
        answer = self._answers.get(name)
        if isinstance(answer, str):
            raise CloudRefused(answer)
        return super().call(args) if answer is None else answer


def with_outputs(outputs: Mapping[str, Any]) -> Answering:
    """Return a cloud without clusters, and a stack with these outputs of its last update."""
    return Answering(readStackOutputs={"outputs": outputs})


_GOOGLE_IDS = {
    "gcp:compute/network:Network": "projects/{project}/global/networks/{name}",
    "gcp:compute/subnetwork:Subnetwork": "projects/{project}/regions/{region}/subnetworks/{name}",
    "gcp:compute/router:Router": "projects/{project}/regions/{region}/routers/{name}",
    "gcp:container/cluster:Cluster": "projects/{project}/locations/{location}/clusters/{name}",
}


def _google(type: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return id and outputs of a resource of pulumi-gcp, as far as the program asks for them."""
    outputs = dict(inputs)
    if type == "gcp:serviceaccount/account:Account":
        outputs["email"] = f"{inputs['accountId']}@{inputs['project']}.iam.gserviceaccount.com"
    if type == "gcp:container/cluster:Cluster":
        outputs["endpoint"] = "203.0.113.10"
        outputs["masterAuth"] = {"clusterCaCertificate": "Y2E="}
        dns = {**inputs["controlPlaneEndpointsConfig"]["dnsEndpointConfig"], "endpoint": "gke-1.europe-west4.gke.goog"}
        outputs["controlPlaneEndpointsConfig"] = {**inputs["controlPlaneEndpointsConfig"], "dnsEndpointConfig": dns}
    return _GOOGLE_IDS.get(type, name).format_map(inputs), outputs


def running(declared: Declared, **counts: int) -> list[dict[str, Any]]:
    """Return the pools in a cluster's GET once everything declared exists; pools have their minimum, or the given count.

    AKS has chosen what was not sent.
    """
    (cluster,) = declared.of("azure-native:containerservice:ManagedCluster").values()
    pools = [p.inputs for p in declared.of("azure-native:containerservice:AgentPool").values()]
    profiles = [*cluster.inputs["agentPoolProfiles"], *({**pool, "name": pool["agentPoolName"]} for pool in pools)]
    chosen = {"maxPods": 250, "osDiskType": "Ephemeral", "osDiskSizeGB": 150}
    return [chosen | profile | {"count": counts.get(profile["name"], profile["count"])} for profile in profiles]


def kubeconfig_of(server: str, **user: Any) -> str:
    """Return a kubeconfig with this server and user, and one context, `lab`."""
    return yaml.safe_dump(
        {
            "clusters": [{"name": "lab", "cluster": {"server": server}}],
            "users": [{"name": "me", "user": user}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "me"}}],
            "current-context": "lab",
        }
    )


def stack_config(path: Path) -> dict[str, Any]:
    """Return the `config` of a stack file."""
    content: dict[str, Any] = yaml.safe_load(path.read_text())["config"]
    return content


def declare(
    settings: Mapping[str, Any],
    monkeypatch: pytest.MonkeyPatch | None = None,
    live: list[dict[str, Any]] | None = None,
    cloud: pulumi.runtime.Mocks | None = None,
    preview: bool = False,
    stack: str = "test",
) -> Declared:
    """Return what the program declares with these settings, given as a stack file's `config`: resources and outputs.

    `live` is what the cluster's GET lists as its pools; None when there is no cluster yet. `cloud` answers in place of
    mocks that take everything. Without a `monkeypatch` the SDK is as before afterwards.

    Raise what the program raises, such as pulumi.RunError.
    """
    if monkeypatch is None:
        with pytest.MonkeyPatch.context() as own:
            return declare(settings, own, live, cloud, preview, stack)
    declared = Declared()
    register = mocks.MockMonitor.RegisterResource

    def recording(self: mocks.MockMonitor, request: Any) -> Any:
        options = json_format.MessageToDict(request)
        declared.resources.append(
            Registration(request.type, request.name, json_format.MessageToDict(request.object), options)
        )
        return register(self, request)

    monkeypatch.setattr(mocks.MockMonitor, "RegisterResource", recording)
    left_out.leave_out(monkeypatch)
    # One loop a run: https://github.com/pulumi/pulumi/issues/24338
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # A failed run leaves outputs without a value; the next run would wait for them.
    pulumi.runtime.reset_options()
    pulumi.runtime.set_mocks(cloud or Cloud(live), project="kubeflow-spot", stack=stack, preview=preview)
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in settings.items()}
    # No cloud is behind the mocks.
    config.set_all_config({"examples:accept": "true", **texts}, list(texts))

    async def program() -> None:
        # The stack's own resource, and with it the outputs, is that of the run before.
        get_root_resource().outputs.clear()
        try:
            runpy.run_path(str(PROJECT / "__main__.py"), run_name="__main__")
        except SystemExit as ended:
            raise ended.__cause__ or ended from None
        for name, value in get_root_resource().outputs.items():
            output = pulumi.Output.from_input(value)
            declared.outputs[name] = await output.future()
            if await output.is_secret():
                declared.secret.add(name)

    try:
        loop.run_until_complete(run_pulumi_func(program))
    except Exception:
        # The test has the exception. Every output that waited for it would print it again, hundreds of times.
        loop.set_exception_handler(lambda loop, context: None)
        raise
    finally:
        # Else its threads stay, and each has a loop of its own, made by the mocks, with three open files.
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
    return declared
