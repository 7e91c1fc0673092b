"""Rendering: kustomize, as kubectl has it built in, over a checkout of Kubeflow's manifests that
the user names."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from overlay import bases, overlay
from overlay.bases import COMMIT, Address, Checkout
from overlay.overlay import FILE, Object
from sandbox.base.errors import SandboxError
from sandbox.base.files import write_private
from sandbox.base.notices import Notify

_MANIFESTS = "https://github.com/kubeflow/manifests"
_RELEASE = "kubeflow-spot.dev/kubeflow"
"""The label of all that is applied; its value is the tag of the manifests."""
_VALUES = "values.json"
_READ = {"apiVersion", "kind", "metadata", "sortOptions", "labels", "resources", "components"}
"""Keys of the kustomization that are read here; files that others name would have to move with
it."""
_NOISE = ("# Warning:", "Warning:")


@dataclass(frozen=True)
class Sources:
    """Where the parts of an installation are."""

    root: Path
    """The folder of the kustomization that users apply."""
    manifests: Path
    """The checkout of Kubeflow's manifests, which stands for the address in that kustomization."""
    values: Object
    """The stack's output `kubeflowValues`."""
    version: str
    """The cluster's version of Kubernetes."""
    bases: Mapping[str, Path] = field(default_factory=dict)
    """Folders and files for addresses in the manifests that begin with these texts. Without one
    kustomize fetches."""


@dataclass(frozen=True)
class Rendered:
    """What kustomize has built."""

    objects: list[Object]
    tag: str
    """The tag of the manifests that the kustomization names, also where it names the tag's
    commit."""
    components: list[str]
    left_out: list[str]
    """Components that this version of Kubernetes is too old for."""
    checkouts: list[Checkout]
    """The manifests and what stands for addresses in them."""


@dataclass(frozen=True)
class Prepared:
    """Two kustomizations in a folder: the manifests with the components (`overlay`) and without
    (`plain`)."""

    folder: Path
    tag: str
    components: list[Path]
    left_out: list[str]
    checkouts: list[Checkout]
    addresses: list[Address]
    """What kustomize has to fetch."""


def render(sources: Sources, kubectl: Path, folder: Path, notify: Notify) -> Rendered:
    """Build the manifests with the components over them, in a folder that is made anew.

    Raises SandboxError if kustomize fails, or with the names of objects that components patch and
    the manifests lack.
    """
    prepared = prepare(sources, folder)
    wanted = [
        target
        for component in prepared.components
        for target in overlay.targets(component, prepared.components)
    ]
    notify(f"rendering {_named(sources.manifests)} with {len(prepared.components)} components")
    try:
        objects = kustomize(kubectl, folder / "overlay")
    except SandboxError as error:
        # Kustomize stops at the first address.
        if failed := next((each for each in prepared.addresses if each.entry in str(error)), None):
            reason = str(error).rpartition(failed.entry)[2].lstrip("\"': ")
            raise SandboxError(
                f"kustomize cannot fetch {failed.entry}:"
                f" {reason}\n{bases.unfetched(prepared.addresses, sources.bases)}"
            ) from None
        # Kustomize names one object and neither the component nor the remedy.
        plain = kustomize(kubectl, folder / "plain")
        if absent := overlay.missing(wanted, plain):
            raise SandboxError(overlay.explained(absent, plain)) from None
        raise
    if absent := overlay.missing((target for target in wanted if not target.dropped), objects):
        # Kustomize passes over a patch by places whose target is not there.
        raise SandboxError(overlay.explained(absent, objects))
    names = [component.name for component in prepared.components]
    return Rendered(objects, prepared.tag, names, prepared.left_out, prepared.checkouts)


def prepare(sources: Sources, folder: Path) -> Prepared:
    """Write the kustomizations into a folder that is made anew. Raises SandboxError."""
    if folder.exists():
        shutil.rmtree(folder)
    manifests, copies = bases.copied(sources.manifests, sources.bases, folder)
    chosen = overlay.components(sources.root)
    left_out = [
        component.name for component in chosen if not overlay.fits(component, sources.version)
    ]
    chosen = [component for component in chosen if component.name not in left_out]
    named, tag = _write(sources, chosen, manifests, folder)
    used, addresses = bases.replace(manifests / named.path, copies)
    places = {named.repository: sources.manifests, **sources.bases}
    checkouts = bases.compared({named.repository: [named], **used}, places)
    return Prepared(folder, tag, chosen, left_out, checkouts, addresses)


def _write(
    sources: Sources, chosen: Sequence[Path], manifests: Path, folder: Path
) -> tuple[Address, str]:
    """Write two kustomizations, the manifests with components (`overlay`) and without (`plain`).

    Returns the manifests' address and its tag.
    """
    kustomization = overlay.one(sources.root / FILE)
    if unread := kustomization.keys() - _READ:
        raise SandboxError(
            f"{sources.root / FILE} has {', '.join(sorted(unread))}, which the sandbox does not"
            " read: put it into a"
            " component of yours"
        )
    addresses, others = list[Address](), list[Path]()
    for entry in kustomization.get("resources", []):
        if (named := bases.address(entry)) and named.repository == _MANIFESTS:
            addresses.append(named)
        else:
            others.append((sources.root / entry).resolve())
    if len(addresses) != 1:
        raise SandboxError(
            f"{sources.root / FILE} must name"
            " https://github.com/kubeflow/manifests//FOLDER?ref=COMMIT once among its resources"
        )
    tag, plain = _tag(kustomization, addresses[0].ref), manifests / addresses[0].path
    if not (plain / FILE).exists():
        raise SandboxError(
            f"{plain} has no {FILE}: --manifests must be a checkout of kubeflow/manifests, such as"
            f" `git clone --branch {tag} {_MANIFESTS}`"
        )
    # The folder of values that users fill is left alone.
    others = [path for path in others if path.name != "values"]
    values = folder / "values"
    _put(values / _VALUES, sources.values)
    _put(values / FILE, {"resources": [_VALUES]})
    kept: Object = {
        key: kustomization[key] for key in ("sortOptions", "labels") if key in kustomization
    }
    for name, resources, components in (
        ("plain", [plain], ()),
        ("overlay", [plain, values, *others], chosen),
    ):
        # Kustomize takes no absolute paths.
        place = folder / name
        body = {**kept, "resources": [os.path.relpath(path, place) for path in resources]}
        _put(
            place / FILE,
            {**body, "components": [os.path.relpath(path, place) for path in components]},
        )
    return addresses[0], tag


def _tag(kustomization: Object, ref: str) -> str:
    """Return the tag for people to read: by the label where the address names a commit."""
    if not COMMIT.fullmatch(ref):
        return ref
    pairs = [each.get("pairs", {}) for each in kustomization.get("labels", [])]
    return next((each[_RELEASE] for each in pairs if _RELEASE in each), ref)


def _put(file: Path, body: Object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    # JSON is YAML.
    write_private(file, json.dumps(body).encode())


def kustomize(kubectl: Path, folder: Path) -> list[Object]:
    """Return the objects that kustomize builds from a folder.

    Raises SandboxError with its message.
    """
    # Only here: most commands never read YAML.
    import yaml

    done = subprocess.run(
        [kubectl, "kustomize", folder], capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = [
            line
            for line in done.stderr.splitlines()
            if line.strip() and not line.startswith(_NOISE)
        ]
        raise SandboxError("kustomize: " + "\n".join(said).removeprefix("error: "))
    return [body for body in yaml.load_all(done.stdout, yaml.CSafeLoader) if body]


def _named(folder: Path) -> str:
    return os.path.relpath(folder) if folder.is_relative_to(Path.cwd()) else str(folder)
