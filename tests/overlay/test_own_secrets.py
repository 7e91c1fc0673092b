"""Secrets of the platform: none is applied with a public value, the chapter's lines make them, and both sides of one agree."""

import re
import sys
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from overlay import render
from tests.overlay import tree
from tests.overlay.test_chapter import BLOCKS, run
from tests.overlay.tree import CLOUDS, MANIFESTS, Object, built

pytestmark = pytest.mark.process

PUBLISHED = {
    "auth/dex-passwords": "common/dex/base/dex-passwords.yaml",
    "auth/dex-oidc-client": "common/dex/base/secret_params.env",
    "oauth2-proxy/oauth2-proxy": "common/oauth2-proxy/base/kustomization.yaml",
    "kubeflow/mlpipeline-minio-artifact": "applications/pipeline/upstream/third-party/seaweedfs/base/seaweedfs",
    "kubeflow/mysql-secret": "applications/pipeline/upstream/base/installs/generic/mysql-secret.yaml",
    "kubeflow/katib-mysql-secrets": "applications/katib/upstream/components/mysql/secret.yaml",
}
"""Every Secret of kubeflow/manifests 26.03 that has a value in what its folder `example` renders, and the file."""
PASSWORD = {"auth/dex-passwords": {"DEX_USER_PASSWORD"}}
"""What step 2 makes."""

(MAKE,) = (block for block in BLOCKS if "cookie-secret=" in block)
(CHANGE,) = (block for block in BLOCKS if "ALTER USER" in block)

KUBECTL = """
import pathlib, sys
from base64 import b64encode
verb, *rest = sys.argv[1:]
folder = pathlib.Path(__file__).parent / "cluster"
folder.mkdir(exist_ok=True)
if verb == "create" and rest[:2] == ["secret", "generic"]:
    assert rest[2] == "-n" and rest[5:] == ["--from-env-file=/dev/stdin"], rest
    file, text = folder / f"{rest[3]}.{rest[4]}", sys.stdin.read()
    if file.exists():
        sys.exit("AlreadyExists")
    file.write_text(text)
elif verb == "get":
    assert rest[:2] == ["secret", "-n"] and rest[4:6] == ["--ignore-not-found", "-o"], rest
    file, key = folder / f"{rest[2]}.{rest[3]}", rest[6].removeprefix("jsonpath={.data.").removesuffix("}")
    if file.exists():
        print(b64encode(dict(line.split("=", 1) for line in file.read_text().splitlines())[key].encode()).decode(), end="")
else:
    assert verb in ("create", "apply") and "secret" not in rest, sys.argv
"""
"""A kubectl that keeps Secrets in files: `create` refuses one that exists, `get` prints a value in base64."""


def made(folder: Path) -> dict[str, dict[str, str]]:
    """Return the Secrets that the lines of step 3 make in a cluster, which is a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "kubectl.py").write_text(KUBECTL)
    # What is there already is refused: that is said, and ends nothing.
    run(f"{MAKE}\ntrue", folder, {"kubectl": f'exec "{sys.executable}" "{folder / "kubectl.py"}" "$@"'})
    return {
        file.name.replace(".", "/"): dict(line.split("=", 1) for line in file.read_text().splitlines())
        for file in (folder / "cluster").iterdir()
    }


def valued(objects: list[Object]) -> set[str]:
    """Return the Secrets that carry a value, an empty one as well, by namespace and name without a hash."""
    secrets = [body for body in objects if body["kind"] == "Secret" and (body.get("data") or body.get("stringData"))]
    return {
        re.sub(r"-[a-z0-9]{10}$", "", f"{body['metadata']['namespace']}/{body['metadata']['name']}") for body in secrets
    }


def asked(objects: list[Object]) -> Iterator[tuple[str, str | None, Any]]:
    """Yield each Secret that a container takes: its name, the key or None for all of it, and whether it may be missing."""
    for body in objects:
        if body["kind"] in ("Deployment", "StatefulSet", "DaemonSet"):
            for container in body["spec"]["template"]["spec"]["containers"]:
                for env in container.get("env", []):
                    if ref := env.get("valueFrom", {}).get("secretKeyRef"):
                        yield f"{body['metadata']['namespace']}/{ref['name']}", ref["key"], ref.get("optional")
                for each in container.get("envFrom", []):
                    if ref := each.get("secretRef"):
                        yield f"{body['metadata']['namespace']}/{ref['name']}", None, ref.get("optional")


@pytest.fixture(scope="module", params=CLOUDS)
def objects(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Object]:
    """Return the tree with a cloud's overlay."""
    return built(tmp_path_factory.mktemp("rendered") / "work", request.param).objects


def test_no_secret_that_is_applied_has_a_value_that_everybody_can_read(objects: list[Object]) -> None:
    assert valued(render.kustomize(tree.kubectl(), MANIFESTS / "example")) == PUBLISHED.keys()
    assert valued(objects) == set()


def test_every_pod_waits_for_the_secrets_that_the_chapter_makes(objects: list[Object], tmp_path: Path) -> None:
    keys = {name: set(values) for name, values in made(tmp_path).items()} | PASSWORD
    wanted = list(asked(objects))
    assert {name for name, _, _ in wanted} == keys.keys() == PUBLISHED.keys()
    # An optional one would be passed over: the container would start without.
    assert [name for name, _, optional in wanted if optional] == []
    assert [(name, key) for name, key, _ in wanted if key and key not in keys[name]] == []


def test_mysql_of_pipelines_takes_its_clients_password_and_no_empty_one(objects: list[Object]) -> None:
    (mysql,) = (o for o in objects if (o["kind"], o["metadata"]["name"]) == ("Deployment", "mysql"))
    (container,) = mysql["spec"]["template"]["spec"]["containers"]
    password = {"secretKeyRef": {"name": "mysql-secret", "key": "password"}}
    assert container["env"] == [{"name": "MYSQL_ROOT_PASSWORD", "valueFrom": password}]


def test_both_sides_of_the_login_agree_and_values_are_drawn(tmp_path: Path) -> None:
    first, second = made(tmp_path / "a"), made(tmp_path / "b")
    for secrets in (first, second):
        dex, proxy = secrets["auth/dex-oidc-client"], secrets["oauth2-proxy/oauth2-proxy"]
        assert (dex["OIDC_CLIENT_ID"], dex["OIDC_CLIENT_SECRET"]) == (proxy["client-id"], proxy["client-secret"])
        # oauth2-proxy takes 16, 24 or 32 bytes (oauth2-proxy.github.io, page configuration/overview).
        assert len(urlsafe_b64decode(proxy["cookie-secret"])) == 32
    same = {key for name in first for key, value in first[name].items() if second[name][key] == value}
    # A new access key would be valid beside the old one; the other three are no secrets.
    assert same == {"OIDC_CLIENT_ID", "client-id", "username", "accesskey"}
    drawn = [value for values in first.values() for key, value in values.items() if key not in same]
    assert (len(drawn), len(set(drawn))) == (6, 5)
    assert min(map(len, drawn)) >= 44


@pytest.mark.parametrize("lost", ["", "oauth2-proxy.oauth2-proxy", "kubeflow.mysql-secret"])
def test_the_lines_again_make_what_is_missing_and_leave_the_rest(lost: str, tmp_path: Path) -> None:
    before = made(tmp_path)
    if lost:
        (tmp_path / "cluster" / lost).unlink()
    after = made(tmp_path)
    gone = lost.replace(".", "/")
    assert {name: after[name] for name in after if name != gone} == {n: before[n] for n in before if n != gone}
    assert after["oauth2-proxy/oauth2-proxy"]["client-secret"] == after["auth/dex-oidc-client"]["OIDC_CLIENT_SECRET"]


def test_a_changed_password_is_in_the_secret_before_the_database_has_it(tmp_path: Path) -> None:
    said = run(CHANGE, tmp_path, {"kubectl": 'echo "$@"; [ "$1" = rollout ] || { cat; echo; }'}).splitlines()
    verbs = [line.split()[0] for line in said[::2]]
    assert verbs == ["patch", "exec", "rollout"]
    (new,) = set(re.findall(r"[0-9a-f]{64}", said[1]))
    assert said[1] == f'{{"stringData": {{"password": "{new}"}}}}'
    assert said[3] == f"ALTER USER 'root'@'localhost' IDENTIFIED BY '{new}', 'root'@'%' IDENTIFIED BY '{new}';"
    assert said[4].endswith("-n kubeflow mysql ml-pipeline cache-server metadata-grpc-deployment")
    assert not any(new in line for line in said[::2])
