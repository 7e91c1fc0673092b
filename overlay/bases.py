"""Bases: what the manifests name by an address, and the checkouts and files here that stand for
it."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs

from overlay.overlay import FILE, one
from sandbox.base.errors import SandboxError
from sandbox.base.files import write_private

_NAMES = (FILE, "kustomization.yml", "Kustomization")
_ENTRIES = ("resources", "components", "bases")
"""Keys of a kustomization whose entries kustomize fetches (kubectl.docs.kubernetes.io, page
resource)."""
_REMOTE = re.compile(
    r"(?P<url>(?P<repository>https?://(?:[^?\s]+?(?=//)|[^/?\s]+/[^/?\s]+/[^/?\s]+))"
    r"/*(?P<path>[^?\s]*))"
    r"(?:\?(?P<query>\S*))?"
)
COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Address:
    """An address in a kustomization, such as https://github.com/OWNER/NAME/FOLDER?ref=v1."""

    entry: str
    url: str
    """The entry without its query."""
    repository: str
    path: str
    """The folder or file in the repository."""
    ref: str
    """The tag, branch or commit; empty where the address names none."""

    @property
    def is_file(self) -> bool:
        return self.path.endswith((".yaml", ".yml", ".json"))

    @property
    def base(self) -> str:
        """What `--base` is given for it: the repository, or a file's whole address."""
        return self.url if self.is_file else self.repository

    @property
    def place(self) -> str:
        """A place for the checkout or file, beside the project: ../argo-workflows-v3.7.3."""
        last = self.path.split("/")[-2:] if self.is_file else [self.ref.replace("/", "-")]
        parts = (self.repository.rpartition("/")[2], *last)
        return "../" + "-".join(part for part in parts if part)

    @property
    def fetch(self) -> str:
        """The command that brings it here."""
        if self.is_file:
            return f"curl -fLo {self.place} {self.url}"
        if COMMIT.fullmatch(self.ref):
            checkout = f"git -C {self.place} checkout {self.ref}"
            return f"git clone {self.repository} {self.place} && {checkout}"
        branch = f"--branch {self.ref} " if self.ref else ""
        return f"git clone --depth 1 {branch}{self.repository} {self.place}"


@dataclass(frozen=True)
class Checkout:
    """A checkout or file that stands for an address."""

    base: str
    at: str
    """The version that git says; empty where git cannot tell."""


def address(entry: str) -> Address | None:
    """Read an entry of a kustomization; return None if it is no address."""
    if not (said := _REMOTE.fullmatch(entry)):
        return None
    query = parse_qs(said["query"] or "")
    ref = (query.get("ref") or query.get("version") or [""])[0]
    return Address(entry, said["url"], said["repository"], said["path"], ref)


def copied(
    manifests: Path, bases: Mapping[str, Path], folder: Path
) -> tuple[Path, dict[str, Path]]:
    """Copy manifests and bases into a folder, so that addresses in them can be replaced.

    Without bases nothing is copied.
    """
    if not bases:
        return manifests.resolve(), {}
    copies = {}
    for number, (base, source) in enumerate(bases.items()):
        copies[base] = folder / "bases" / str(number)
        if source.is_file():
            copies[base].mkdir(parents=True)
            shutil.copy(source, copies[base] / "base.yaml")
            # A file below another folder is refused by kustomize, a folder is not.
            write_private(copies[base] / FILE, b"resources: [base.yaml]\n")
        else:
            _copy(source, copies[base])
    _copy(manifests, folder / "manifests")
    return folder / "manifests", copies


def _copy(source: Path, target: Path) -> None:
    ignored = shutil.ignore_patterns(".git", "node_modules")
    shutil.copytree(source.resolve(), target, symlinks=True, ignore=ignored)


def replace(
    start: Path, bases: Mapping[str, Path]
) -> tuple[dict[str, list[Address]], list[Address]]:
    """Replace addresses by copies of bases in all kustomizations that one kustomization leads to.

    Returns the addresses that each base stands for, and those that are left.
    """
    used: dict[str, list[Address]] = {base: [] for base in bases}
    left: dict[str, Address] = {}
    todo, seen = [start], set[Path]()
    while todo:
        folder = todo.pop().resolve()
        file = next((folder / name for name in _NAMES if (folder / name).is_file()), None)
        if file is None or folder in seen:
            continue
        seen.add(folder)
        for entry in _entries(file):
            if not (named := address(entry)):
                todo.append(folder / entry)
            elif base := _standing_for(named, bases):
                used[base].append(named)
                target = bases[base] / named.url.removeprefix(base).lstrip("/")
                # The whole entry: another may begin with it.
                whole = re.escape(entry) + r"(?=[\s'\",\]]|$)"
                here = os.path.relpath(target, folder).replace("\\", r"\\")
                file.write_text(re.sub(whole, here, file.read_text()))
                todo.append(target)
            else:
                left[entry] = named
    return used, list(left.values())


def _entries(file: Path) -> Iterator[str]:
    body = one(file)
    for key in _ENTRIES:
        yield from (entry for entry in body.get(key) or [] if isinstance(entry, str))


def _standing_for(named: Address, bases: Iterable[str]) -> str | None:
    """Return the longest base that an address begins with."""
    fitting = [base for base in bases if f"{named.url}/".startswith(f"{base}/")]
    return max(fitting, key=len, default=None)


def compared(used: Mapping[str, list[Address]], places: Mapping[str, Path]) -> list[Checkout]:
    """Compare each base with the versions that the manifests ask for.

    Raises SandboxError with all bases that are another version, or that cannot stand for what they
    are given for.
    """
    checkouts, wrong = list[Checkout](), list[str]()
    for base, place in places.items():
        try:
            checkouts.append(_compared(base, place, used[base]))
        except SandboxError as error:
            wrong.append(str(error))
    if wrong:
        raise SandboxError("\n".join(wrong))
    return checkouts


def _compared(base: str, place: Path, named: list[Address]) -> Checkout:
    if not named:
        raise SandboxError(f"--base {base}: no kustomization that is rendered names it")
    at = ""
    for each in named:
        if (each.is_file and each.url != base) or (place.is_file() and not each.is_file):
            kind = "a file" if each.is_file else "a folder of a repository"
            raise SandboxError(
                f"--base {base} {place} cannot stand for {each.url}, {kind}. Instead, after"
                f" `{each.fetch}`:"
                f" --base {each.base} {each.place}"
            )
        at = _version(place, each, base)
        folder = each.url.removeprefix(base).strip("/")
        if not (place / folder).exists():
            raise SandboxError(
                f"{place} is no checkout of {base}: it has no {folder}, which {each.entry} names"
            )
    return Checkout(base, at)


def _version(place: Path, wanted: Address, base: str) -> str:
    """Return the version of a checkout, such as v3.7.3; nothing if git cannot compare it.

    Raises SandboxError if it is another version than the one wanted.
    """
    if not wanted.ref or not place.is_dir():
        return ""
    # A copy without git may be kept in a repository of something else: there its place differs.
    inside = base.removeprefix(wanted.repository).strip("/")
    if (prefix := _git(place, "rev-parse", "--show-prefix")) is None or prefix.strip("/") != inside:
        return ""
    if not (head := _git(place, "rev-parse", "--verify", "HEAD^{commit}")):
        return ""
    # A branch that was not checked out is known as one of origin.
    refs = (f"{name}^{{commit}}" for name in (wanted.ref, f"origin/{wanted.ref}"))
    commits = [
        each
        for ref in refs
        if (each := _git(place, "rev-parse", "--verify", "--quiet", "--end-of-options", ref))
    ]
    at = _git(place, "describe", "--tags", "--always", "--dirty") or ""
    if head in commits:
        return at
    at = at.removesuffix("-dirty")
    remedy = f"git -C {shlex.quote(str(place))} checkout {wanted.ref}" if commits else wanted.fetch
    raise SandboxError(
        f"{place} is a checkout of {wanted.repository} at {at}, and {wanted.ref} is asked for."
        f" Instead: `{remedy}`, or write {at} where {wanted.ref} is asked for"
    )


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git says of a folder; None if it fails, or is not installed."""
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", *arguments],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        return None
    return None if done.returncode else done.stdout.strip()


def unfetched(left: Iterable[Address], given: Mapping[str, Path]) -> str:
    """Return what to do about addresses that kustomize cannot fetch: all of them at once, by
    commands."""
    left = list(left)
    refs = {(each.repository, each.ref) for each in left if not each.is_file}
    options = {base: str(place) for base, place in given.items()}
    for each in left:
        if each.is_file or sum(each.repository == repository for repository, _ in refs) == 1:
            options[each.base] = each.place
        else:
            # One repository at two versions: each folder of it is named by itself.
            options[each.url] = f"{each.place}/{each.path}"
    fetches = "\n".join(dict.fromkeys(f"  {each.fetch}" for each in left))
    words = " ".join(
        f"--base {shlex.quote(base)} {shlex.quote(place)}" for base, place in options.items()
    )
    return (
        "Where there is network, fetch what the manifests name and no --base stands"
        f" for:\n{fetches}\n"
        "Bring it beside this folder, and give it to the command: make kubeflow ..."
        f' KUBEFLOW_OPTIONS="{words}"'
    )
