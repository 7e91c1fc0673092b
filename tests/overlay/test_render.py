"""Kustomize makes exactly the intended differences, and says what is missing."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from overlay import overlay, render
from overlay.observing import WORKLOADS
from overlay.overlay import Target
from sandbox.base.errors import SandboxError
from tests.overlay import tree
from tests.overlay.tree import CLOUDS, COMPONENTS, MANIFESTS, OVERLAY, built

pytestmark = pytest.mark.process

ALL = [target for component in COMPONENTS for target in overlay.targets(component, COMPONENTS)]


@cache
def plain() -> list[overlay.Object]:
    """Return the tree alone."""
    return render.kustomize(tree.kubectl(), MANIFESTS / "example")


@pytest.fixture(scope="module", params=CLOUDS)
def rendered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> render.Rendered:
    """Return the tree with a cloud's overlay."""
    return built(tmp_path_factory.mktemp("rendered") / "work", request.param)


def rooted(folder: Path, **changed: Any) -> Path:
    """Write the kustomization for AKS with other keys into a folder; return the folder."""
    root = folder / "root"
    root.mkdir()
    body = yaml.safe_load((OVERLAY / "azure" / overlay.FILE).read_text())
    (root / overlay.FILE).write_text(json.dumps({**body, **changed}))
    return root


def test_the_overlay_makes_these_differences_and_no_others(
    rendered: render.Rendered, snapshot: SnapshotAssertion
) -> None:
    assert tree.differences(plain(), rendered.objects) == snapshot(extension_class=JSONSnapshotExtension)
    assert (rendered.tag, rendered.left_out) == ("26.03", [])


def test_every_object_and_no_pod_has_the_label_of_the_release(rendered: render.Rendered) -> None:
    # By it an upgrade finds what the new release lacks. In a pod's template it would start all pods again.
    assert {o["metadata"]["labels"][tree.LABEL] for o in rendered.objects} == {rendered.tag}
    inside = [{key: value for key, value in o.items() if key != "metadata"} for o in rendered.objects]
    assert tree.LABEL not in json.dumps(inside)


def test_what_one_engine_is_told_to_leave_alone_the_other_is_too(rendered: render.Rendered) -> None:
    templates = [body["spec"]["template"]["metadata"] for body in rendered.objects if body["kind"] in WORKLOADS]
    annotations = [each.get("annotations", {}) for each in templates]
    kept = [each.get("karpenter.sh/do-not-disrupt") == "true" for each in annotations]
    assert kept == [each.get("cluster-autoscaler.kubernetes.io/safe-to-evict") == "false" for each in annotations]
    assert sum(kept) == 4


def test_what_is_applied_is_one_commit_and_people_read_its_tag(tmp_path: Path) -> None:
    # A tag can be moved by whoever writes there; what kustomize fetches is applied with all rights.
    said = {
        re.findall(r"^- https://github\.com/kubeflow/manifests//example\?ref=([0-9a-f]{40})&\S+  # (\S+)$", text, re.M)[
            0
        ]
        for text in ((OVERLAY / cloud / overlay.FILE).read_text() for cloud in CLOUDS)
    }
    ((commit, tag),) = said
    root = tmp_path / "root"
    root.mkdir()
    body = {"resources": [f"https://github.com/kubeflow/manifests//example?ref={commit}"], "components": []}
    (root / overlay.FILE).write_text(json.dumps({**body, "labels": [{"pairs": {tree.LABEL: tag}}]}))
    assert built(tmp_path / "work", root=root).tag == tag
    # Without the label nobody knows the tag; a tag instead of the commit needs no label.
    (root / overlay.FILE).write_text(json.dumps(body))
    assert built(tmp_path / "work", root=root).tag == commit
    (root / overlay.FILE).write_text(json.dumps(body).replace(commit, "26.03.1"))
    assert built(tmp_path / "work", root=root).tag == "26.03.1"


def test_what_changes_pods_stands_before_the_first_pod(rendered: render.Rendered) -> None:
    kinds = [body["kind"] for body in rendered.objects]
    first = min(kinds.index(kind) for kind in WORKLOADS)
    for kind in ("Namespace", "CustomResourceDefinition", "MutatingWebhookConfiguration", "NetworkPolicy"):
        assert max(place for place, each in enumerate(kinds) if each == kind) < first, kind
    assert kinds.index("MutatingAdmissionPolicyBinding") < first
    assert kinds[-1] == "ValidatingWebhookConfiguration"


def test_objects_that_users_of_a_generated_name_mount_have_the_new_name(tmp_path: Path) -> None:
    objects = {(o["kind"], o["metadata"]["name"]): o for o in built(tmp_path / "work").objects}
    (form,) = (name for kind, name in objects if kind == "ConfigMap" and name.startswith("jupyter-web-app-config-"))
    (volume,) = objects["Deployment", "jupyter-web-app-deployment"]["spec"]["template"]["spec"]["volumes"]
    assert volume["configMap"]["name"] == form
    assert form not in {o["metadata"]["name"] for o in plain()}


def test_a_component_that_the_version_is_too_old_for_is_left_out(tmp_path: Path) -> None:
    rendered = built(tmp_path / "work", version="1.35.3")
    assert rendered.left_out == ["notebook-keep"]
    assert "MutatingAdmissionPolicy" not in {o["kind"] for o in rendered.objects}


def test_every_component_is_offered_on_both_clouds() -> None:
    for cloud in CLOUDS:
        text = (OVERLAY / cloud / "kustomization.yaml").read_text()
        named = set(re.findall(r"^(?:# )?- \.\./components/([a-z-]+)", text, re.MULTILINE))
        assert named == {c.name for c in COMPONENTS if not c.name.startswith("gke-") or cloud == "gcp"}


def test_each_component_begins_with_its_reason() -> None:
    for component in COMPONENTS:
        first, *_ = (component / overlay.FILE).read_text().splitlines()
        assert first.startswith("# "), component
        assert len(first) > 40, component


def test_every_target_is_looked_for() -> None:
    assert len(ALL) == 28
    assert overlay.missing(ALL, plain()) == []
    for target in ALL:
        others = [
            o for o in plain() if (o["kind"], o["metadata"]["name"].startswith(target.name)) != (target.kind, True)
        ]
        assert target in overlay.missing(ALL, others)


ONE_OF_EACH_WAY = [
    Target("retry", "ConfigMap", "workflow-controller-configmap", "kubeflow"),
    Target("datastores", "PersistentVolumeClaim", "katib-mysql", "kubeflow"),
    Target("training-runtimes", "ClusterTrainingRuntime", "torch-distributed"),
    Target("notebook-spawner", "ConfigMap", "jupyter-web-app-config", "kubeflow"),
]
"""Merged by a generator, patched as a whole, patched by places, and replaced inside a text."""


@pytest.mark.parametrize("target", ONE_OF_EACH_WAY, ids=str)
def test_a_renamed_object_is_named_with_its_component_and_its_new_name(target: Target, tmp_path: Path) -> None:
    assert target in ALL
    renamed = tree.without(target, tmp_path, f"{target.name}-2")
    with pytest.raises(SandboxError) as refused:
        built(tmp_path / "work", manifests=renamed)
    message = str(refused.value)
    assert f"component {target.component}: {target}; the manifests have " in message
    assert f"{target.name}-2" in message
    assert "take its line out of the kustomization" in message


ENDS = [
    end
    for component in COMPONENTS
    if (own := overlay.targets(component, COMPONENTS))
    for end in {own[0]: own[0], own[-1]: own[-1]}
]
"""The first and the last target of each component."""


@pytest.mark.parametrize("target", ENDS, ids=lambda target: f"{target.component}: {target}")
def test_kustomize_alone_stops_where_an_object_is_missing(target: Target, tmp_path: Path) -> None:
    # For users without the sandbox: an object that is passed over in silence would be noticed when a node is lost.
    manifests = tree.without(target, tmp_path)
    root = tmp_path / "root"
    root.mkdir()
    address = "https://github.com/kubeflow/manifests//example?ref=26.03"
    (root / overlay.FILE).write_text(
        json.dumps({"resources": [address], "components": [str(OVERLAY / "components" / target.component)]})
    )
    prepared = render.prepare(render.Sources(root, manifests, tree.VALUES, "1.36.2"), tmp_path / "work")
    with pytest.raises(SandboxError, match="kustomize: "):
        render.kustomize(tree.kubectl(), prepared.folder / "overlay")


def test_the_components_that_are_off_change_what_they_say(tmp_path: Path) -> None:
    off = [c for c in COMPONENTS if c.name in ("notebook-culling", "profile-placement")]
    root = rooted(tmp_path, components=[str(c) for c in off])
    changes = tree.differences(plain(), built(tmp_path / "work", root=root).objects)
    after = {path.rpartition(".")[2]: change["after"] for path, change in changes.items() if ".data." in path}
    assert after == {"ENABLE_CULLING": "true", "dev/placement": "prefer-spot"}


def test_a_component_without_the_one_that_it_needs_is_told(tmp_path: Path) -> None:
    needy = tmp_path / "needy"
    source = {"kind": "StorageClass", "name": "kubeflow-retain", "fieldPath": "metadata.name"}
    target = {"select": {"kind": "Namespace", "name": "auth"}, "fieldPaths": ["metadata.annotations.class"]}
    needy.mkdir()
    needs = {"kind": "Component", "replacements": [{"source": source, "targets": [target]}]}
    (needy / overlay.FILE).write_text(json.dumps(needs))
    with pytest.raises(SandboxError, match=r"component needy: StorageClass kubeflow-retain\n"):
        built(tmp_path / "work", root=rooted(tmp_path, components=[str(needy)]))


def test_a_key_that_would_be_passed_over_is_an_error(tmp_path: Path) -> None:
    said = "has images, patches, which the sandbox does not read: put it into a component"
    with pytest.raises(SandboxError, match=said):
        built(tmp_path / "work", root=rooted(tmp_path, components=[], images=[], patches=[]))


def test_a_form_that_lost_a_field_is_an_error(tmp_path: Path) -> None:
    manifests = tree.without(Target("", "ConfigMap", "none"), tmp_path)
    form = manifests / "jupyter" / "spawner_ui_config.yaml"
    form.write_text(form.read_text().replace("affinityConfig", "affinity"))
    with pytest.raises(SandboxError, match=r"affinityConfig"):
        built(tmp_path / "work", manifests=manifests)


@pytest.mark.parametrize("disk", ["disk", "workspaceDisk"])
def test_values_without_a_disk_are_an_error_that_names_it(disk: str, tmp_path: Path) -> None:
    values = {key: value for key, value in tree.VALUES.items() if key != disk}
    with pytest.raises(SandboxError, match=rf"{disk}\.provisioner.* is missing .*KubeflowValues"):
        built(tmp_path / "work", values=values)


def test_a_folder_that_is_no_checkout_is_an_error_with_the_command_that_makes_one(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"git clone --branch 26\.03 https://github\.com/kubeflow/manifests"):
        built(tmp_path / "work", manifests=tmp_path)
