"""The components of examples/kubeflow change what their pages say, and stop where an object is missing."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from overlay import render
from sandbox.base.errors import SandboxError
from tests.overlay import tree

pytestmark = pytest.mark.process

EXAMPLES = tree.PROJECT / "examples" / "kubeflow"
NAME = "https://kubeflow.example.com/dex"


def body(api: str, kind: str, name: str, namespace: str, **more: Any) -> tree.Object:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **more}


def deployment(name: str) -> tree.Object:
    spec = {
        "template": {"spec": {"containers": [{"name": name, "image": "example.com/a:1", "env": [{"name": "OWN"}]}]}}
    }
    return body("apps/v1", "Deployment", name, "auth" if name == "dex" else name, spec=spec)


RULE = {"issuer": "http://dex.auth.svc.cluster.local:5556/dex", "forwardOriginalToken": True}
MANIFESTS = [
    body("v1", "Service", "istio-ingressgateway", "istio-system", spec={"type": "ClusterIP", "ports": [{"port": 80}]}),
    body("networking.istio.io/v1alpha3", "Gateway", "kubeflow-gateway", "kubeflow", spec={"selector": {"istio": "x"}}),
    body("v1", "ConfigMap", "oauth2-proxy-parameters", "oauth2-proxy", data={"FORCE_HTTPS": "false", "OTHER": "x"}),
    body("v1", "ConfigMap", "dex", "auth", data={"config.yaml": "issuer: old\n"}),
    body("security.istio.io/v1beta1", "RequestAuthentication", "dex-jwt", "istio-system", spec={"jwtRules": [RULE]}),
    deployment("dex"),
    deployment("oauth2-proxy"),
]
"""Those objects of kubeflow/manifests 26.03 that the components change (common/istio, common/dex, common/oauth2-proxy)."""


def rendered(folder: Path, manifests: list[tree.Object]) -> dict[tuple[str, str], tree.Object]:
    (folder / "manifests.yaml").write_text(yaml.safe_dump_all(manifests))
    parts = ["domain", "login"]
    for name in parts:
        shutil.copytree(EXAMPLES / name, folder / name)
    (folder / "kustomization.yaml").write_text(json.dumps({"resources": ["manifests.yaml"], "components": parts}))
    return {(o["kind"], o["metadata"]["name"]): o for o in render.kustomize(tree.kubectl(), folder)}


def test_the_gateway_gets_an_address_and_a_certificate_and_cookies_are_secure(tmp_path: Path) -> None:
    objects = rendered(tmp_path, MANIFESTS)
    service = objects["Service", "istio-ingressgateway"]["spec"]
    assert service == {"type": "LoadBalancer", "ports": [{"port": 80}]}
    plain, secure = objects["Gateway", "kubeflow-gateway"]["spec"]["servers"]
    assert plain["tls"] == {"httpsRedirect": True}
    assert secure["tls"]["credentialName"] == objects["Certificate", "kubeflow"]["spec"]["secretName"]
    assert objects["Certificate", "kubeflow"]["metadata"]["namespace"] == "istio-system"
    assert objects["ConfigMap", "oauth2-proxy-parameters"]["data"] == {"FORCE_HTTPS": "true", "OTHER": "x"}


def test_dex_proxy_and_istio_agree_on_the_issuer_and_the_secret_is_a_reference(tmp_path: Path) -> None:
    objects = rendered(tmp_path, MANIFESTS)
    dex = yaml.safe_load(objects["ConfigMap", "dex"]["data"]["config.yaml"])
    env = {
        name: {each["name"]: each for each in objects["Deployment", name]["spec"]["template"]["spec"]["containers"][0]["env"]}
        for name in ("dex", "oauth2-proxy")
    }  # fmt: skip
    (rule,) = objects["RequestAuthentication", "dex-jwt"]["spec"]["jwtRules"]
    assert {dex["issuer"], rule["issuer"], env["oauth2-proxy"]["OAUTH2_PROXY_OIDC_ISSUER_URL"]["value"]} == {NAME}
    for connector in dex["connectors"]:
        # Dex compares it with its own callback.
        assert connector["config"]["redirectURI"] == f"{NAME}/callback"
        for key in ("clientID", "clientSecret"):
            name = connector["config"][key].removeprefix("$")
            assert env["dex"][name]["valueFrom"]["secretKeyRef"] == {"name": "dex-login", "key": name}
    assert {"OWN"} < env["dex"].keys()


@pytest.mark.parametrize("gone", MANIFESTS, ids=lambda each: f"{each['kind']} {each['metadata']['name']}")
def test_kustomize_stops_where_an_object_is_missing(gone: tree.Object, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=gone["metadata"]["name"]):
        rendered(tmp_path, [each for each in MANIFESTS if each is not gone])


FORM = {"image": {"value": "example.com/old:1", "options": ["example.com/old:1"]}, "imageGroupOne": {"value": "kept"}}
SPAWNER = body(
    "v1",
    "ConfigMap",
    "jupyter-web-app-config",
    "kubeflow",
    data={"spawner_ui_config.yaml": yaml.safe_dump({"spawnerFormDefaults": FORM})},
)


def with_images(folder: Path, manifest: tree.Object) -> list[tree.Object]:
    (folder / "manifests.yaml").write_text(yaml.safe_dump(manifest))
    shutil.copytree(EXAMPLES / "notebook-image", folder / "notebook-image")
    sources = {"resources": ["manifests.yaml"], "components": ["notebook-image"]}
    (folder / "kustomization.yaml").write_text(json.dumps(sources))
    return render.kustomize(tree.kubectl(), folder)


def test_the_spawner_lists_own_images_and_chooses_the_first(tmp_path: Path) -> None:
    (form,) = with_images(tmp_path, SPAWNER)
    defaults = yaml.safe_load(form["data"]["spawner_ui_config.yaml"])["spawnerFormDefaults"]
    options = yaml.safe_load((EXAMPLES / "notebook-image" / "images.yaml").read_text())["options"]
    assert defaults == {**FORM, "image": {"value": options[0], "options": options}}


def test_kustomize_stops_where_the_form_is_missing(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="jupyter-web-app-config"):
        with_images(tmp_path, {**SPAWNER, "metadata": {"name": "other", "namespace": "kubeflow"}})


GITOPS = tree.PROJECT / "examples" / "gitops"


def test_flux_leaves_the_bundle_of_the_webhook_to_its_writer(tmp_path: Path) -> None:
    """The webhook is that of 26.03 (applications/admission-webhook), with its prefix."""
    webhook = {"name": "poddefaults", "clientConfig": {"caBundle": "", "service": {"name": "service"}}}
    kind = "MutatingWebhookConfiguration"
    made = {**body("admissionregistration.k8s.io/v1", kind, "x", ""), "webhooks": [webhook]}
    made["metadata"] = {"name": "admission-webhook-mutating-webhook-configuration"}
    (tmp_path / "kubeflow.yaml").write_text(yaml.safe_dump(made))
    applied = list(yaml.safe_load_all((GITOPS / "flux.yaml").read_text()))[1]["spec"]
    sources = {"resources": ["kubeflow.yaml"], "patches": applied["patches"]}
    (tmp_path / "kustomization.yaml").write_text(json.dumps(sources))
    (found,) = render.kustomize(tree.kubectl(), tmp_path)
    assert found["webhooks"][0]["clientConfig"] == {"service": {"name": "service"}}


def test_neither_deletes_what_leaves_the_file_and_both_apply_on_the_server() -> None:
    flux = list(yaml.safe_load_all((GITOPS / "flux.yaml").read_text()))[1]["spec"]
    policy = yaml.safe_load((GITOPS / "argocd.yaml").read_text())["spec"]["syncPolicy"]
    assert flux["prune"] is False
    assert "prune" not in policy["automated"]
    assert "ServerSideApply=true" in policy["syncOptions"]
