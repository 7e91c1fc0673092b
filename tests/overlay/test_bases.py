"""What the manifests name by an address is fetched, or stands here at the version that they ask for."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from overlay import bases, overlay, render
from sandbox.base.errors import SandboxError
from tests.overlay.tree import built

pytestmark = pytest.mark.process

APP = "https://example.com/team/app"


def space(name: str) -> str:
    """Return an object, as the text of a file."""
    return json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(folder: Path, tag: str) -> str:
    """Commit all files under a tag; return the commit."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", tag)
    git(folder, "tag", tag)
    return git(folder, "rev-parse", "HEAD")


@dataclass
class Tree:
    """Manifests that name addresses, and the kustomization over them."""

    folder: Path
    entries: list[str]
    ref: str = "26.03"
    files: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        body = json.dumps({"resources": [*self.entries, "own.yaml"]})
        files = {f"example/{overlay.FILE}": body, "example/own.yaml": space("own"), **self.files}
        write(self.manifests, files)
        address = f"https://github.com/kubeflow/manifests//example?ref={self.ref}"
        write(self.folder / "root", {overlay.FILE: json.dumps({"resources": [address]})})

    @property
    def manifests(self) -> Path:
        return self.folder / "manifests"

    def built(self, **given: Path) -> render.Rendered:
        root = self.folder / "root"
        return built(self.folder / "work", manifests=self.manifests, root=root, bases=given)

    def names(self, **given: Path) -> set[str]:
        return {each["metadata"]["name"] for each in self.built(**given).objects}

    def refused(self, **given: Path) -> str:
        with pytest.raises(SandboxError) as refused:
            self.built(**given)
        return str(refused.value)


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def app(folder: Path, extra: str = "", **names: str) -> Path:
    """Return a repository's files: a folder with a kustomization for each name, and in it an object so called."""
    files: dict[str, str] = {}
    for place, name in (names or {"base": "far"}).items():
        files |= {f"{place}/{overlay.FILE}": f"resources: [space.yaml{extra}]\n", f"{place}/space.yaml": space(name)}
    return write(folder, files)


class Remote(BaseHTTPRequestHandler):
    """A server that serves one file once it is up."""

    up = False

    def do_GET(self) -> None:
        served = Remote.up and self.path.endswith("/manifests.yaml")
        self.send_response(200 if served else 503)
        self.end_headers()
        self.wfile.write(space("file").encode() if served else b"")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def there() -> Iterator[str]:
    """Yield the address of a server on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Remote) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_all_that_is_missing_is_named_at_once_with_commands_that_work(
    there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = app(tmp_path / "source", base="far-base", crds="far-crds")
    commit(source, "v1")
    pinned = app(tmp_path / "pinned", deploy="far-pinned")
    wanted = commit(pinned, "v7")
    write(source, {"base/space.yaml": space("newer")})
    write(pinned, {"deploy/space.yaml": space("newer")})
    commit(source, "v2"), commit(pinned, "v8")
    two = app(tmp_path / "two", old="far-old", new="far-old")
    commit(two, "v1")
    write(two, {"new/space.yaml": space("far-new")})
    commit(two, "v2")
    tree = Tree(
        tmp_path,
        [
            f"{there}/team/source/crds?ref=v1",
            f"{there}/team/source//base?timeout=9s&ref=v1",
            f"{there}/team/pinned/deploy?ref={wanted}",
            f"{there}/team/two/old?ref=v1",
            f"{there}/team/two/new?ref=v2",
            f"{there}/team/files/releases/download/v2/manifests.yaml",
        ],
    )
    given = app(tmp_path / "given")
    write(tree.manifests, {f"more/{overlay.FILE}": json.dumps({"resources": [f"{APP}/base?ref=v1"]})})
    example = tree.manifests / "example" / overlay.FILE
    example.write_text(example.read_text().replace('"own.yaml"', '"own.yaml", "../more"'))
    said = tree.refused(**{APP: given})
    assert f"kustomize cannot fetch {tree.entries[0]}: " in said
    commands = re.findall(r"^  (.*)$", said, re.MULTILINE)
    assert len(commands) == 5
    # The same lines, with folders in the place of hosts.
    monkeypatch.setattr(Remote, "up", True)
    (here := tmp_path / "here").mkdir()
    names = ("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0")
    settings = zip(names, ("1", f"url.file://{tmp_path}/.insteadOf", f"{there}/team/"), strict=True)
    environment = {**os.environ, **dict(settings)}
    for line in commands:
        done = subprocess.run(
            ["bash", "-c", line], cwd=here, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (line, done.stderr)
    monkeypatch.setattr(Remote, "up", False)
    words = shlex.split(re.findall(r'KUBEFLOW_OPTIONS="(.*)"', said)[0])
    assert words[::3] == ["--base"] * (len(words) // 3)
    places = {base: here / place for base, place in zip(words[1::3], words[2::3], strict=True)}
    assert tree.names(**places) == {"own", "far", "far-base", "far-crds", "far-pinned", "far-old", "far-new", "file"}


def test_a_checkout_of_another_version_is_refused_with_both_and_all_at_once(tmp_path: Path) -> None:
    tree = Tree(tmp_path, [f"{APP}/base?ref=v1", f"{APP}-two/more?ref=v3"])
    source = app(tmp_path / "source", base="far", more="second")
    commit(source, "v1")
    commit(source, "v2")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{source}", str(shallow))
    assert git(shallow, "tag") == "v2"
    lines = tree.refused(**{APP: source, f"{APP}-two": shallow}).splitlines()
    assert lines == [
        f"{source} is a checkout of {APP} at v2, and v1 is asked for."
        f" Instead: `git -C {source} checkout v1`, or write v2 where v1 is asked for",
        f"{shallow} is a checkout of {APP}-two at v2, and v3 is asked for. Instead: `git clone --depth 1 --branch v3"
        f" {APP}-two ../app-two-v3`, or write v2 where v3 is asked for",
    ]
    # What it says helps.
    subprocess.run(["bash", "-c", lines[0].split("`")[1]], check=True, capture_output=True)
    commit(shallow, "v3")
    rendered = tree.built(**{APP: source, f"{APP}-two": shallow})
    assert [(each.base, each.at) for each in rendered.checkouts[1:]] == [(APP, "v1"), (f"{APP}-two", "v3")]


def test_the_manifests_are_the_commit_that_the_kustomization_names(tmp_path: Path) -> None:
    tree = Tree(tmp_path, [])
    named = commit(tree.manifests, "26.03")
    commit(tree.manifests, "26.10")
    tree = Tree(tmp_path, [], ref=named)
    said = tree.refused()
    assert (
        f"at 26.10, and {named} is asked for. Instead: `git -C {tree.manifests} checkout {named}`, or write 26.10"
        in said
    )
    git(tree.manifests, "checkout", "--quiet", named)
    (checkout,) = tree.built().checkouts
    assert checkout.at == "26.03"
    # Changes that are not committed are rendered, and the report names them.
    write(tree.manifests, {"example/own.yaml": space("mine")})
    rendered = tree.built()
    assert rendered.checkouts[0].at == "26.03-dirty"
    assert "mine" in {each["metadata"]["name"] for each in rendered.objects}


def test_a_branch_is_compared_with_that_of_origin(tmp_path: Path) -> None:
    source = app(tmp_path / "source")
    commit(source, "v1")
    git(source, "branch", "release")
    commit(source, "v2")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(source), str(clone))
    tree = Tree(tmp_path, [f"{APP}/base?ref=release"])
    assert "at v2, and release is asked for" in tree.refused(**{APP: clone})
    git(clone, "checkout", "--quiet", "--detach", "origin/release")
    assert tree.built(**{APP: clone}).checkouts[1].at == "v1"


def test_what_git_cannot_compare_is_taken_and_named(tmp_path: Path) -> None:
    # A copy without git, one that is kept in a repository of something else, an address without a version.
    tree = Tree(tmp_path, [f"{APP}/base?ref=v1", f"{APP}-two/base?ref=v1", f"{APP}-three/base"])
    plain, other = app(tmp_path / "plain"), app(tmp_path / "other" / "vendored", base="far-two")
    latest = app(tmp_path / "latest", base="far-three")
    commit(tmp_path / "other", "v9")
    commit(latest, "v9")
    rendered = tree.built(**{APP: plain, f"{APP}-two": other, f"{APP}-three": latest})
    assert [each.at for each in rendered.checkouts] == [""] * 4
    # A folder of a checkout stands for that folder of the repository, and is compared.
    commit(plain, "v2")
    assert f"{plain}/base is a checkout of {APP} at v2" in tree.refused(
        **{f"{APP}/base": plain / "base", f"{APP}-two": other, f"{APP}-three": latest}
    )


def test_a_base_may_name_addresses_and_stays_as_it_is(tmp_path: Path) -> None:
    tree = Tree(tmp_path, [f"{APP}/base?ref=v1"])
    far = app(tmp_path / "far", extra=f', "{APP}-two/base", "{APP}-two/base/sub"')
    second = app(tmp_path / "second", base="second", **{"base/sub": "third"})
    before = (far / "base" / overlay.FILE).read_text()
    assert tree.names(**{APP: far, f"{APP}-two": second}) == {"own", "far", "second", "third"}
    # The longest address wins.
    part = {f"{APP}-two/base/sub": app(tmp_path / "part", sub="fourth") / "sub"}
    assert tree.names(**{APP: far, f"{APP}-two": second}, **part) == {"own", "far", "second", "fourth"}
    assert (far / "base" / overlay.FILE).read_text() == before
    assert json.loads((tree.manifests / "example" / overlay.FILE).read_text())["resources"][0] == f"{APP}/base?ref=v1"


def test_a_repository_is_not_another_whose_name_begins_so(tmp_path: Path) -> None:
    tree = Tree(tmp_path, [f"{APP}-two/base?ref=v1"])
    used, left = bases.replace(tree.manifests / "example", {APP: tmp_path})
    assert (used, [each.entry for each in left]) == ({APP: []}, tree.entries)


def test_a_base_that_cannot_stand_for_what_is_named_is_refused(tmp_path: Path) -> None:
    tree = Tree(tmp_path, [file := f"{APP}/releases/v2/manifests.yaml", f"{APP}-two/base?ref=v1"])
    folder = app(tmp_path / "folder", base="far", file="file")
    document = write(tmp_path, {"document.yaml": space("file")}) / "document.yaml"
    said = tree.refused(**{APP: folder, f"{APP}-two": document, f"{APP}-three": folder})
    assert said.splitlines() == [
        f"--base {APP} {folder} cannot stand for {file}, a file. Instead, after `curl -fLo ../app-v2-manifests.yaml {file}`:"
        f" --base {file} ../app-v2-manifests.yaml",
        f"--base {APP}-two {document} cannot stand for {APP}-two/base, a folder of a repository. Instead, after"
        f" `git clone --depth 1 --branch v1 {APP}-two ../app-two-v1`: --base {APP}-two ../app-two-v1",
        f"--base {APP}-three: no kustomization that is rendered names it",
    ]
    empty = write(tmp_path / "empty", {"README": ""})
    said = tree.refused(**{file: document, f"{APP}-two": empty})
    assert said == f"{empty} is no checkout of {APP}-two: it has no base, which {APP}-two/base?ref=v1 names"
    # A folder with a kustomization may stand for a file, too.
    assert tree.names(**{file: folder / "file", f"{APP}-two": folder}) == {"own", "far", "file"}


@pytest.mark.parametrize(
    ("entry", "repository", "path", "ref"),
    [
        ("https://github.com/o/r/a/b?ref=v1", "https://github.com/o/r", "a/b", "v1"),
        ("https://github.com/o/r//a?ref=v1&timeout=300s", "https://github.com/o/r", "a", "v1"),
        ("https://github.com/o/r?timeout=9s&ref=v1", "https://github.com/o/r", "", "v1"),
        ("https://git.example.com/group/sub/r.git//a?version=v1", "https://git.example.com/group/sub/r.git", "a", "v1"),
        ("https://github.com/o/r/releases/v1/m.yaml", "https://github.com/o/r", "releases/v1/m.yaml", ""),
    ],
)
def test_an_address_is_read_as_kustomize_reads_it(entry: str, repository: str, path: str, ref: str) -> None:
    said = bases.address(entry)
    assert said
    assert (said.repository, said.path, said.ref) == (repository, path, ref)


@pytest.mark.parametrize("entry", ["../base", "space.yaml", "./a//b"])
def test_a_place_in_the_manifests_is_no_address(entry: str) -> None:
    assert bases.address(entry) is None
