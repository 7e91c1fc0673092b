"""Releases: complete, by digest, never changed once released; a stack overrides a pin in one place, with the reason."""

import hashlib
import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from pydantic import ValidationError

from config import releases
from config.clouds import registry
from config.clouds.azure import azure_autoscaler as azure
from config.clouds.gcp import gcp_autoscaler as gcp
from config.model.release import IMAGE, PINS, VERSION, Override
from tests.config.stack import L4, errors, good, on_gke, spec, warnings
from tests.config.test_compute_class import class_name

FILES = sorted(releases.DIRECTORY.glob("*.toml"))
FILE = registry.release_file_model()
ALL = [*releases.names(), releases.CANDIDATE]
DIGEST = "sha256:" + 64 * "0"


def test_there_is_a_release_for_each_supported_kubernetes() -> None:
    assert {releases.load(name).kubernetes_version for name in releases.names()} >= {"1.35", "1.36"}


def test_every_file_is_a_release_or_the_candidate_and_names_the_schema() -> None:
    assert [path.stem for path in FILES] == sorted(ALL)
    assert all(path.read_text().startswith("#:schema ./schema.json\n") for path in FILES)


@pytest.mark.parametrize("name", ALL)
def test_a_release_is_complete_and_pins_its_images_by_digest(name: str) -> None:
    release = releases.load(name)
    # A bare number would be read as one by YAML, which turns 2026.10 into 2026.1.
    assert re.fullmatch(r"r\d{4}-\d{2}|next", release.name)
    for image in (release.device_plugin_image, release.dcgm_exporter_image):
        assert re.search(r":[\w.-]+@sha256:[0-9a-f]{64}$", image)
    assert None not in azure.pinned_autoscaler(release).model_dump().values()
    assert None not in gcp.pinned_autoscaler(release).model_dump().values()
    assert release.released == (name != releases.CANDIDATE)


def test_every_released_file_is_recorded_and_none_has_changed_since() -> None:
    """Check the digests in the way of `sha256sum --check`."""
    recorded = dict(
        reversed(row.split("  ")) for row in (releases.DIRECTORY / "released.sha256").read_text().splitlines()
    )
    assert recorded == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FILES if releases.load(path.stem).released
    }


def test_the_schema_is_the_models() -> None:
    """Write it anew as docs/operate.md says."""
    schema = json.loads((releases.DIRECTORY / "schema.json").read_text())
    assert schema == FILE.model_json_schema()
    parts = [schema["properties"], *(part["properties"] for part in schema["$defs"].values())]
    for part in parts:
        for key, pin in part.items():
            assert pin["title"], key
            assert pin["description"], key


def test_a_stack_may_override_every_pin_that_is_no_setting_of_its_cloud() -> None:
    pins = {
        str(field.alias)
        for name, field in FILE.model_fields.items()
        if name not in ("released", "notes") and not name.endswith("_autoscaler")
    }
    assert set(PINS) == pins
    assert set(Override.model_json_schema()["properties"]["pin"]["enum"]) == pins
    properties = FILE.model_json_schema()["properties"]
    assert {pin: properties[pin]["pattern"] for pin in pins} == dict(PINS)


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        (IMAGE, f"nvcr.io/nvidia/k8s-device-plugin:v0.20.0@{DIGEST}", True),
        (IMAGE, f"localhost:5000/plugin:v1@{DIGEST}", True),
        (IMAGE, "nvcr.io/nvidia/k8s-device-plugin:v0.20.0", False),
        (IMAGE, f"nvcr.io/nvidia/k8s-device-plugin@{DIGEST}", False),
        (IMAGE, f"nvcr.io/nvidia/k8s-device-plugin:v0.20.0@{DIGEST[:-1]}", False),
        (IMAGE, f"nvcr.io/nvidia/k8s-device-plugin:v0.20.0@{DIGEST.replace('0', 'F')}", False),
        (IMAGE, f"plugin:v1@{DIGEST}", False),
        (VERSION, "1.36", True),
        (VERSION, "1.36.2", True),
        (VERSION, "v1.36", False),
        (VERSION, "1.36-gke", False),
    ],
)
def test_images_need_a_tag_and_a_digest_and_versions_are_those_of_kubernetes(
    pattern: str, text: str, fits: bool
) -> None:
    assert bool(re.fullmatch(pattern, text)) is fits


LATER = {"kueueVersion": "0.14.8"}
"""Pins that are younger than a release that is out, and what they mean there: for good, as the release never changes."""


def test_a_release_must_have_every_pin() -> None:
    whole = releases.load(releases.names()[-1]).model_dump(by_alias=True, exclude={"name"})
    FILE.model_validate(whole)
    assert {field.alias: field.default for field in FILE.model_fields.values() if not field.is_required()} == LATER
    for key in whole.keys() - LATER:
        with pytest.raises(ValidationError):
            FILE.model_validate({other: value for other, value in whole.items() if other != key})
    for part in ("azureAutoscaler", "gcpAutoscaler"):
        for key in whole[part].keys() - {"expander"}:
            less = {**whole, part: {**whole[part], key: None}}
            with pytest.raises(ValidationError, match=f"{part} pins no {key}"):
                FILE.model_validate(less)


def test_the_candidate_names_every_pin_itself() -> None:
    pins = tomllib.loads((releases.DIRECTORY / f"{releases.CANDIDATE}.toml").read_text())
    assert pins.keys() == {str(field.alias) for field in FILE.model_fields.values()}


def test_an_unknown_release_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        releases.load("../r2026-11")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a copy of the folder of releases, to be spoilt."""
    for path in [*FILES, releases.DIRECTORY / "released.sha256"]:
        shutil.copy(path, tmp_path)
    return tmp_path


Edits = list[tuple[str, str, str]]

RELEASE, RECORD = "r2026-11.toml", "released.sha256"
RAISED: Edits = [(RELEASE, "v0.20.0", "v0.20.1")]
UNRECORDED: Edits = [(RECORD, r"(?s)^.*$", "")]
ON_WINDOWS: Edits = [(RECORD, "  r", " *r")]
CHANGED = "was changed after it was released"
NO_DIGEST = "released.sha256 has no digest of it"


def spoil(folder: Path, edits: Edits) -> None:
    """Replace text in files of releases, which are then read anew."""
    for name, old, new in edits:
        text = (folder / name).read_text()
        assert re.search(old, text), old
        (folder / name).write_text(re.sub(old, new, text))
    releases.load.cache_clear()


@pytest.mark.parametrize(
    ("edits", "message", "remedy"),
    [
        (RAISED, CHANGED, "write a new release instead"),
        ([(RELEASE, "released = true", "released = false")], CHANGED, "write a new release instead"),
        ([(RELEASE, "# NVIDIA/", "# From NVIDIA/")], CHANGED, "git checkout"),
        (ON_WINDOWS + RAISED, CHANGED, "git checkout"),
        (UNRECORDED, NO_DIGEST, "docs/operate.md"),
        (None, NO_DIGEST, "docs/operate.md"),
        ([*UNRECORDED, (RELEASE, "released = true", "released true")], "is not TOML", "correct it"),
        (
            [*UNRECORDED, (RELEASE, "released = true", "released = false"), (RELEASE, "@sha256:[0-9a-f]+", "")],
            "r2026-11.toml.devicePluginImage: is 'nvcr.io",
            "by tag and digest",
        ),
    ],
)
def test_a_release_that_was_changed_is_refused(edits: Edits | None, message: str, remedy: str, copied: Path) -> None:
    assert releases.load("r2026-11", copied).kubernetes_version == "1.36"
    if edits is None:
        (copied / RECORD).unlink()
    spoil(copied, edits or [])
    with pytest.raises(releases.Refused) as refused:
        releases.load("r2026-11", copied)
    problem = refused.value.problem
    assert problem.path == "release"
    assert message in problem.what
    assert remedy in problem.remedy
    # The other releases still load.
    assert releases.load("next", copied).released is False


def test_a_record_of_windows_is_read(copied: Path) -> None:
    spoil(copied, ON_WINDOWS)
    assert releases.load("r2026-11", copied).released


def test_a_changed_release_is_reported_beside_other_mistakes(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil(copied, RAISED)
    load = releases.load
    monkeypatch.setattr(releases, "load", lambda name: load(name, copied))
    mistakes = errors(good(cluster={"name": "-ml"}))
    assert [problem.path for problem in mistakes] == ["cluster.name", "release"]
    assert CHANGED in mistakes[1].what


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("r2099-01", f"is newer than this program, whose newest release is {releases.names()[-1]}"),
        ("r2026-10", "there is no release 'r2026-10'"),
        ("r2026-13", "there is no release 'r2026-13'"),
        ("r2099-01; rm", "there is no release"),
        ("R2099-01", "there is no release"),
        ("", "there is no release ''"),
    ],
)
def test_an_unknown_release_is_newer_than_the_program_or_not_a_release(name: str, message: str) -> None:
    (problem,) = errors(good(release=name))
    assert problem.path == "release"
    assert message in problem.what
    assert problem.remedy.endswith(f"one of: {', '.join(releases.names())}")
    assert ("update the checkout" in problem.remedy) == ("newer" in message)


def test_the_order_of_releases_has_the_candidate_last() -> None:
    assert releases.names()[:2] == ("r2026-09", "r2026-11")
    assert releases.newer("r2026-11", "r2026-09")
    assert not releases.newer("r2026-11", "r2026-11")
    assert releases.newer("next", "r2031-01")
    assert not releases.newer("r2031-01", "next")


def test_the_candidate_is_for_trying_out_and_not_for_production() -> None:
    raw = good(release="next")
    assert [problem.path for problem in warnings(raw)] == ["release"]
    assert errors(raw) == []
    for stack in ("prod", "production", "prod-eu"):
        (mistake,) = errors(raw, stack)
        assert mistake.path == "release"
        assert mistake.what.endswith("not for production")
    assert errors(good(), "prod") == []


MIRRORED = "registry.example.com/mirror/plugin:v1@sha256:" + 64 * "a"
WHY = "our mirror has nothing else"


def override(pin: str, value: str) -> list[dict[str, str]]:
    return [{"pin": pin, "value": value, "reason": WHY}]


@pytest.mark.parametrize(
    ("pin", "value", "attribute"),
    [
        ("kubernetesVersion", "1.35", "kubernetes_version"),
        ("devicePluginImage", MIRRORED, "device_plugin_image"),
        ("dcgmExporterImage", MIRRORED, "dcgm_exporter_image"),
        ("kueueVersion", "0.15.2", "kueue_version"),
    ],
)
def test_an_override_changes_one_pin_and_no_other(pin: str, value: str, attribute: str) -> None:
    stack = spec(good(overrides=override(pin, value)))
    own = releases.load("r2026-11")
    assert getattr(stack.release, attribute) == value
    assert stack.release.model_copy(update={attribute: getattr(own, attribute)}) == own
    assert [entry.as_output() for entry in stack.overrides] == [
        {"pin": pin, "value": value, "instead": getattr(own, attribute), "reason": WHY}
    ]


def test_the_clusters_own_version_is_listed_like_an_override() -> None:
    cluster = {"name": "ml-test", "kubernetesVersion": "1.35", "reason": WHY}
    stack = spec(good(cluster=cluster))
    overridden = spec(good(overrides=override("kubernetesVersion", "1.35")))
    assert stack.overrides == overridden.overrides
    assert stack.kubernetes_version == overridden.kubernetes_version == "1.35"


def test_without_overrides_none_are_listed() -> None:
    assert spec(good()).overrides == ()


def test_placement_follows_the_overridden_version() -> None:
    raw = on_gke([{**L4, "fallback": [{"onDemand": {"maxNodes": 1}}]}])
    assert class_name(spec(raw)) == "kubeflow-spot"
    assert class_name(spec({**raw, "overrides": override("kubernetesVersion", "1.35")})) is None


def test_a_text_that_is_no_version_is_one_mistake_and_no_rule_uses_it() -> None:
    raw = on_gke() | {"overrides": override("kubernetesVersion", "latest")}
    assert [problem.path for problem in (*errors(raw), *warnings(raw))] == ["overrides[0].value"]
