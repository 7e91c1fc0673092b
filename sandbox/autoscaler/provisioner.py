"""The provisioner: the storage drivers' loop makes the volumes that claims wait for, and removes those whose claims are gone.

It attaches and mounts nothing, because nothing runs on the nodes.
"""

from threading import Event, Thread

from sandbox.autoscaler import volumes
from sandbox.autoscaler.api import ApiServer, Mirror
from sandbox.autoscaler.journal import Journal
from sandbox.autoscaler.volumes import VolumeRequest
from sandbox.cluster import plugins

_INTERVAL = 1.0  # seconds
_NAME = "sandbox-provisioner"


class Provisioner:
    """The provisioner of one cluster, on the cloud of this name."""

    def __init__(self, api: ApiServer, cloud: str, stopping: Event) -> None:
        self._api, self._drivers, self._stopping = api, plugins.plugin(cloud).drivers, stopping
        self._changed, self._journal = Event(), Journal()
        paths = (
            "/api/v1/persistentvolumeclaims",
            "/api/v1/persistentvolumes",
            "/apis/storage.k8s.io/v1/storageclasses",
        )
        self._mirrors = [Mirror(api, path, self._changed) for path in paths]
        self._refused: set[str] = set()
        """Uids of claims with an event that says why they get no volume."""

    def start(self) -> None:
        """Begin, in a thread that ends with the process."""
        for mirror in self._mirrors:
            mirror.start()
        Thread(target=self._run, daemon=True, name="volumes").start()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._provision()
                self._journal.state("trouble", "")
            except Exception as error:  # an API server that is restarted: the next try may succeed
                self._journal.state("trouble", f"volumes: {type(error).__name__}: {error}")
            # Also without a change: a node may come for which a claim waits.
            self._changed.wait(_INTERVAL)
            self._changed.clear()

    def _provision(self) -> None:
        claims, existing, classes = (mirror.objects() for mirror in self._mirrors)
        if claims is None or existing is None or classes is None:
            return
        for name in volumes.released(existing, self._drivers):
            self._api.delete(f"/api/v1/persistentvolumes/{name}")
            self._journal.write(f"volume {name}: gone with its claim")
        self._refused &= {claim["metadata"]["uid"] for claim in claims}
        for request in volumes.requests(claims, classes, existing, self._drivers):
            if why := volumes.problem(request):
                self._refuse(request, why)
            elif (zone := self._zone(request)) is not None:
                self._make(request, zone)

    def _make(self, request: VolumeRequest, zone: str) -> None:
        metadata, body = request.claim["metadata"], volumes.volume(request, zone)
        self._api.create("/api/v1/persistentvolumes", body)
        place = f" in zone {zone}" if zone else ""
        self._journal.write(
            f"volume {request.name}: {body['spec']['capacity']['storage']} of {body['spec']['storageClassName']} for"
            f" {metadata['namespace']}/{metadata['name']}{place}"
        )

    def _zone(self, request: VolumeRequest) -> str | None:
        """Return the zone of a volume, "" for any; None where it cannot be made yet."""
        if not request.driver.zone:
            return ""
        if request.node:
            node = self._api.get(f"/api/v1/nodes/{request.node}")
            if node is None:
                # The scheduler must choose again, as when the real provisioner does not find the node.
                metadata = request.claim["metadata"]
                where = f"/api/v1/namespaces/{metadata['namespace']}/persistentvolumeclaims/{metadata['name']}"
                self._api.patch(where, {"metadata": {"annotations": {volumes.SELECTED_NODE: None}}})
                return None
            return volumes.zone_of(node, request.driver)
        nodes = (self._api.get("/api/v1/nodes") or {"items": []})["items"]
        zones = {zone for node in nodes if (zone := volumes.zone_of(node, request.driver)) is not None}
        return min(zones, default=None)

    def _refuse(self, request: VolumeRequest, why: str) -> None:
        metadata = request.claim["metadata"]
        if metadata["uid"] in self._refused:
            return
        name = request.storage_class["metadata"]["name"]
        text = f'failed to provision volume with StorageClass "{name}": {why}'
        claim = {"kind": "PersistentVolumeClaim", **{key: metadata[key] for key in ("namespace", "name", "uid")}}
        self._api.warn(claim, "ProvisioningFailed", text, _NAME)
        self._refused.add(metadata["uid"])
        self._journal.write(f"claim {metadata['namespace']}/{metadata['name']}: {text}")
