"""Azure Resource Manager and the list of retail prices, on a unix socket, for the node provisioner of one cluster."""

import json
import re
import socketserver
from collections.abc import Callable, Collection
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from sandbox.azure import arm_catalogue
from sandbox.azure.azure_cloud import AzureCloud
from sandbox.azure.azure_errors import AzureRefused, arm

Answer = tuple[int, Any]

_MACHINES = re.compile(
    r"(?P<cluster>/subscriptions/.+/managedClusters/[^/]+)/agentPools/[^/]+/machines(/(?P<name>[^/]+))?", re.I
)
_DELETION = re.compile(r"(?P<cluster>/subscriptions/.+/managedClusters/[^/]+)/agentPools/[^/]+/deleteMachines", re.I)
_REGION = re.compile(r"/subscriptions/[^/]+/providers/[^/]+/locations/(?P<region>[^/]+)/(?P<what>[^/]+)", re.I)
_SUBNET = re.compile(r"/subscriptions/.+/virtualNetworks/[^/]+/subnets/[^/]+", re.I)
_FILTERED_REGION = re.compile(r"(?:location|armRegionName) eq '([^']+)'")

_OPERATION = "/operations/ended"
"""Whatever takes Azure some minutes is done when a request is answered."""


class Manager:
    """Answers requests from the emulated Azure as it is at the time. `cloud` opens it.

    With `sizes` there are no other machine sizes: a client of few sizes needs no time for the rest.
    """

    def __init__(self, cloud: Callable[[], AzureCloud], sizes: Collection[str] = ()) -> None:
        self._cloud, self._sizes = cloud, sizes

    def answer(self, method: str, url: str, body: Any, match: str = "") -> Answer:
        """Return the status and the body. Raises `Refused`."""
        parts = urlsplit(url)
        path, filters = unquote(parts.path), parse_qs(parts.query).get("$filter", [""])[0]
        found = _FILTERED_REGION.search(filters)
        region = found[1] if found else ""
        if path == "/api/retail/prices":
            return 200, {"Items": arm_catalogue.retail_prices(region), "NextPageLink": None}
        if path == _OPERATION:
            return 200, {"status": "Succeeded"}
        if method == "POST" and path.endswith("/providers/Microsoft.ResourceGraph/resources"):
            # It asks for virtual machines and network interfaces that are no AKS machines: there are none.
            return 200, {"totalRecords": 0, "count": 0, "resultTruncated": "false", "data": []}
        if path.endswith("/providers/Microsoft.Compute/skus"):
            sold = arm_catalogue.sizes(region)
            return 200, {"value": [each for each in sold if not self._sizes or each["name"] in self._sizes]}
        if deletion := _DELETION.fullmatch(path):
            self._cloud().delete_machines(deletion["cluster"], body["machineNames"])
            return 202, None
        if machines := _MACHINES.fullmatch(path):
            return self._machines(method, machines["cluster"], machines["name"], body, match)
        if listed := _REGION.fullmatch(path):
            return self._listed(listed["region"], listed["what"])
        if _SUBNET.fullmatch(path):
            return 200, arm_catalogue.subnet(self._cloud().memory(), path)
        raise arm("InvalidResourceType", f"The emulated Azure does not serve {method} {path}.", status=404)

    def _machines(self, method: str, cluster: str, name: str | None, body: Any, match: str) -> Answer:
        if name is None:
            return 200, {"value": self._cloud().machines_in(cluster)}
        if method == "PUT":
            return 201, self._cloud().put_machine(cluster, name, body, match)
        return 200, self._cloud().machine(cluster, name)

    def _listed(self, region: str, what: str) -> Answer:
        if what.lower() == "usages":
            cloud = self._cloud()
            return 200, {"value": arm_catalogue.usages(cloud.memory(), cloud.quotas, region)}
        if what.lower() == "nodeimageversions":
            return 200, {"value": arm_catalogue.images()}
        raise arm("InvalidResourceType", f"The emulated Azure does not serve {what} of a region.", status=404)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    manager: Manager

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        sent = self.rfile.read(length)
        try:
            match = self.headers.get("If-Match") or ""
            status, body = self.manager.answer(self.command, self.path, json.loads(sent) if sent else None, match)
        except AzureRefused as refused:
            status, body = refused.status, {"error": {"code": refused.code, "message": refused.message}}
        except Exception as error:
            # Such as a state file that cannot be read: Karpenter asks again.
            status, body = (
                500,
                {"error": {"code": "InternalServerError", "message": f"{type(error).__name__}: {error}"}},
            )
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        if status == 202:
            self.send_header("Location", f"https://management.azure.com{_OPERATION}")
            self.send_header("Azure-AsyncOperation", f"https://management.azure.com{_OPERATION}")
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_PUT = do_POST = do_DELETE = _serve

    def address_string(self) -> str:
        return "karpenter"

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Log nothing: Karpenter asks every few seconds."""


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def serve(cloud: Callable[[], AzureCloud], socket: Path, sizes: Collection[str] = ()) -> None:
    """Answer on a unix socket, in a thread that ends with the process."""
    socket.unlink(missing_ok=True)
    handler = type("Handler", (_Handler,), {"manager": Manager(cloud, sizes)})
    Thread(target=_Server(str(socket), handler).serve_forever, daemon=True, name="azure").start()
