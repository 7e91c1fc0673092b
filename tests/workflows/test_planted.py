"""Faults that somebody may plant in the workflows with credentials, or make by mistake: each is named."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.workflows import faults
from tests.workflows.files import ACTIONS, WORKFLOWS, read

FILES: faults.Files = {path.stem: read(path) for path in WORKFLOWS} | {path.parent.name: read(path) for path in ACTIONS}


def test_the_workflows_have_no_fault() -> None:
    assert faults.faults(FILES) == []


def put(path: str, value: Any) -> Callable[[Any], None]:
    """Return a change of one value: `jobs/find/steps/0/run`; None removes it, and a callable gets the old one."""

    def change(content: Any) -> None:
        *parents, last = [int(part) if part.lstrip("-").isdigit() else part for part in path.split("/")]
        for part in parents:
            content = content[part]
        if value is None:
            del content[last]
        else:
            content[last] = value(content[last]) if callable(value) else value

    return change


def without(name: str) -> Callable[[list[Any]], list[Any]]:
    return lambda steps: [step for step in steps if name not in step.get("name", "")]


PLANTED = [
    # B1: what drift runs, and when.
    ("drift", lambda file: file[True].update(schedule=[{"cron": "17 5 1 * *"}]), "drift is not looked for every day"),
    ("drift", put("jobs/find/permissions/deployments", "read"), "deployments are read"),
    ("drift", put("jobs/find/permissions/id-token", "write"), "more rights than to read"),
    ("drift", put("jobs/find/environment", "drift"), "more rights than to read"),
    ("drift", put("jobs/prod/with/commit", "${{ github.event.deployment.sha }}"), "prod is read with another"),
    ("drift", put("jobs/find/outputs/prod", "${{ steps.other.outputs.prod }}"), "prod's commit is not deployed.py's"),
    ("drift", put("jobs/find/steps/1/run", "gh api deployments"), "deployed.py is not asked"),
    ("drift", put("jobs/find/steps/1/env/STACKS", "dev staging"), "not for the stacks of delivery.toml"),
    ("drift", put("jobs/prod/needs", None), "prod is not read by read.yml, after find"),
    ("drift", put("jobs/prod/if", "always()"), "prod is previewed without a commit"),
    ("drift", put("jobs/dev/if", "needs.find.outputs.dev != ''"), "or not because of another stack"),
    ("drift", put("jobs/prod/with/drift", None), "prod's drift is not looked for"),
    ("drift", put("jobs/prod/with/environment", "drift"), "prod is read with another"),
    ("drift", put("jobs/staging", None), "staging is not read"),
    # B3: one stack, one approval.
    ("cloud-preview", put("jobs/prod/with/environment", "cloud-preview"), "prod is read with another"),
    ("cloud-preview", put("jobs/prod/if", None), "prod runs when it was not chosen"),
    ("cloud-preview", put("jobs/dev/if", "inputs.stack != 'prod'"), "dev runs when it was not chosen"),
    ("cloud-preview", put("jobs/prod/with/state", "azblob://x?storage_account=y"), "an input of its own"),
    ("cloud-preview", put("jobs/prod/with/commit", "${{ github.sha }}"), "prod is read with another"),
    ("cloud-preview", put("jobs/prod/needs", None), "prod is not read by read.yml, after pin"),
    ("cloud-preview", put("jobs/all", {"uses": faults.READ}), "other jobs"),
    ("cloud-preview", put("jobs/pin/if", "github.ref_name == github.event.repository.default_branch"), "another ref"),
    ("cloud-preview", put("jobs/pin/if", None), "another ref"),
    ("cloud-preview", put("jobs/pin/environment", "cloud-preview"), "the check of the commit has credentials"),
    ("cloud-preview", put("jobs/pin/steps/1/env/COMMIT", "${{ github.sha }}"), "the commit is not checked"),
    ("cloud-preview", put("run-name", "cloud preview of ${{ inputs.commit }}"), "does not see commit and stack"),
    ("cloud-preview", lambda content: content[True].update(pull_request=None), "something else than a person"),
    (
        "cloud-preview",
        lambda content: content[True]["workflow_dispatch"]["inputs"]["stack"].update(type="string"),
        "the stack is no choice",
    ),
    # B3: a preview before the approval, of a checked commit, that is main's last one when it comes up.
    ("deploy", put("jobs/dev/needs", None), "dev does not wait for check"),
    ("deploy", put("jobs/check", {"uses": faults.READ}), "main is not checked first"),
    ("deploy", put("jobs/check/if", "false"), "main is not checked first"),
    ("deploy", put("jobs/staging/needs", "dev"), "staging does not wait for preview-staging"),
    ("deploy", put("jobs/prod/needs", "staging"), "prod does not wait for preview-prod"),
    ("deploy", put("jobs/prod/if", "!cancelled()"), "prod may run although preview-prod failed"),
    ("deploy", put("jobs/preview-prod/if", None), "or where it is not delivered"),
    ("deploy", put("jobs/dev/if", "always()"), "dev may run although check failed"),
    ("deploy", put("jobs/preview-prod/with/environment", "prod"), "prod is read with another"),
    ("deploy", put("jobs/preview-prod/with/commit", "main"), "prod is read with another"),
    ("deploy", put("jobs/prod/name", "production"), "another name than deployed.py looks for"),
    ("deploy", put("jobs/prod/with/stack", "dev"), "prod is not brought up by up.yml"),
    ("deploy", lambda content: content[True].update(workflow_dispatch=None), "something else than each push"),
    ("deploy", lambda content: content[True]["push"].update(tags=["*"]), "something else than each push"),
    ("deploy", lambda content: content[True]["push"].update(paths=["*.py"]), "something else than each push"),
    ("up", put("jobs/up/name", "update"), "another name than deployed.py looks for"),
    ("up", put("jobs/up/environment", "dev"), "another environment than the stack"),
    ("up", put("jobs/up/concurrency", None), "two updates of a stack can run at once"),
    ("up", put("jobs/up/concurrency/group", "up"), "two updates of a stack can run at once"),
    ("up", put("jobs/up/concurrency/cancel-in-progress", True), "or one is cut off"),
    ("up", put("jobs/up/steps", without("still main's last")), "an older commit than main's last one"),
    ("up", put("jobs/up/steps", without("is main's last")), "an older commit than main's last one"),
    ("up", put("jobs/up/steps/1/continue-on-error", True), "does not end the update"),
    ("up", put("jobs/up/steps/0/with/ref", "main"), "another commit than that of the push"),
    # What nobody reviews: another state's address, another storage domain, a state that names a plugin, another identity.
    ("drift", put("jobs/prod/with/state", "${{ vars.PULUMI_BACKEND_URL_PROD }}"), "drift.yml: a variable decides"),
    ("read", put("jobs/read/env/PULUMI_BACKEND_URL", "${{ vars.STATE }}"), "the job sets PULUMI_BACKEND_URL"),
    (
        "up",
        put("jobs/up/steps/-1/env/PULUMI_BACKEND_URL", "${{ inputs.state }}"),
        "PULUMI_BACKEND_URL is not delivery.py's",
    ),
    (
        "read",
        put("jobs/read/steps/1/run", "cat .github/delivery.toml"),
        "not those that delivery.py has for the reader",
    ),
    ("up", put("jobs/up/steps/2/run", lambda run: run.replace("deployer", "reader")), "has for the deployer"),
    (
        "read",
        put("jobs/read/steps", lambda steps: [steps[0], steps[2], steps[1], *steps[3:]]),
        "checked out before delivery.py",
    ),
    ("read", put("jobs/read/steps/-1/env/AZURE_STORAGE_DOMAIN", "blob.example"), "a step sets AZURE_STORAGE_DOMAIN"),
    ("up", put("jobs/up/env/AZURE_STORAGE_DOMAIN", "blob.example"), "the job sets AZURE_STORAGE_DOMAIN"),
    ("up", lambda content: content.update(env={"AZURE_STORAGE_DOMAIN": "x"}), "the workflow sets variables"),
    ("read", put(f"jobs/read/env/{faults.ACQUISITION}", None), "a state's plugins are fetched"),
    ("up", put(f"jobs/up/env/{faults.ACQUISITION}", "false"), "a state's plugins are fetched"),
    ("up", put(f"jobs/up/steps/-1/env/{faults.ACQUISITION}", "false"), "a step sets PULUMI_DISABLE"),
    (
        "read",
        put("jobs/read/steps/3/with/gcp-provider", "${{ vars.GCP_PROVIDER }}"),
        "gcp-provider is not delivery.py's",
    ),
    ("read", put("jobs/read/steps/-1/env/ARM_CLIENT_ID", "x"), "ARM_CLIENT_ID is not delivery.py's"),
    ("deploy", put("jobs/dev/if", "vars.DELIVERY == 'on'"), "deploy.yml: a variable decides"),
    # B3: logs of public repositories.
    ("up", put("jobs/up/steps/-1/run", "pulumi up --diff --yes"), "values are shown in a public repository"),
    ("up", put("jobs/up/steps/-1/env/PRIVATE", "true"), "values are shown whoever reads the log"),
    ("read", put("jobs/read/steps/-1/run", "python3 cloud_preview.py --diff"), "values are shown in a public"),
    ("read", put("jobs/read/steps/-1/env/PRIVATE", None), "values are shown whoever reads the log"),
    # B6, B7: what is installed beside credentials, and with which of them.
    ("up", put("jobs/up/env/UV_NO_DEFAULT_GROUPS", None), "installs more than the program needs"),
    ("read", put("jobs/read/env/UV_LOCKED", "false"), "installs more than the program needs"),
    ("read", put("jobs/read/env/GH_TOKEN", "${{ github.token }}"), "in the environment of every step"),
    ("read", put("jobs/read/steps/-1/env/GH_TOKEN", "${{ github.token }}"), "where something else than a script"),
    ("up", put("jobs/up/steps/-1/run", "uv sync && pulumi up"), "beside the right to ask for an identity"),
    ("cloud", put("runs/steps/2/run", "uv sync"), "installs with the right to ask for an identity"),
    ("cloud", put("runs/steps/2/run", 'without_identity=""\n$without_identity uv sync'), "leaves the right to ask"),
    ("cloud", put("runs/steps", lambda steps: [*steps[2:], *steps[:2]]), "installs after a login"),
    ("preview-comment", put("jobs/draw/permissions/pull-requests", "write"), "beside a token or a right to write"),
    ("preview-comment", put("jobs/draw/steps/2/env", {"GH_TOKEN": "x"}), "beside a token or a right to write"),
    ("preview-comment", put("jobs/comment/steps/1/run", "make comment"), "something else than comment.py runs"),
    (
        "preview-comment",
        put("jobs/comment/steps/1/run", lambda run: run.replace("post", "fetch")),
        "artifact is opened",
    ),
    ("preview-comment", put("jobs/comment/if", "always()"), "where none was drawn"),
    # Releases: who signs runs nothing, and builds nothing.
    ("release", lambda file: file[True]["push"].update(branches=["main"]), "something else than a tag of a release"),
    ("release", put("jobs/build/permissions/id-token", "write"), "the build can sign"),
    ("release", put("jobs/attest/steps/0/run", "make"), "a program runs beside the right to sign"),
    ("release", put("jobs/attest/if", None), "a branch is signed"),
    ("release", put("jobs/publish/needs", "build"), "a branch is signed or published"),
    ("release", put("jobs/publish/steps/1/run", "make publish"), "something else than the release is written"),
    (
        "release",
        put("jobs/build/steps/1/run", lambda run: run.replace("--require-hashes", "")),
        "built by unpinned programs",
    ),
]


@pytest.mark.parametrize(
    ("file", "change", "named"), PLANTED, ids=[f"{at}-{row[0]}-{row[2]}" for at, row in enumerate(PLANTED)]
)
def test_a_planted_fault_is_named(file: str, change: Callable[[Any], None], named: str) -> None:
    files = copy.deepcopy(FILES)
    change(files[file])
    assert named in "\n".join(faults.faults(files))
