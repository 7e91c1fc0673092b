"""Rules of the workflows that hold credentials, as functions of the files' data: so a test can plant a fault and see it named."""

import re
from collections.abc import Iterator
from typing import Any

from tests.workflows.files import Data, scalars, steps

READERS = {"dev": "drift", "staging": "drift", "prod": "drift-prod"}
"""The environment with the reader's identity, which nobody approves, of each stack."""
ASKED = {"dev": "cloud-preview", "staging": "cloud-preview", "prod": "cloud-preview-prod"}
"""The environment in which somebody approves the preview of a pull request's commit."""
READ, UP, CHECK = (f"./.github/workflows/{name}.yml" for name in ("read", "up", "check"))
DEFAULT_BRANCH = "github.ref == format('refs/heads/{0}', github.event.repository.default_branch)"
SYNC = {"UV_LOCKED": "true", "UV_NO_DEFAULT_GROUPS": "true", "UV_NO_INSTALL_PROJECT": "true", "UV_NO_BUILD": "true"}
TIP = "python3 .github/scripts/tip.py"
INSTALLS = re.compile(r"\b(uv (sync|run|pip|tool)|pulumi (plugin )?install|programs\.py|make |pip install|sandbox )")
ACQUISITION = "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"
LOGINS = ("azure-client-id", "azure-tenant-id", "azure-subscription-id", "gcp-provider", "gcp-service-account")
"""Inputs of the action `cloud`, and the outputs of delivery.py that they are: under the same names."""
FROM_DELIVERY = {
    "PULUMI_BACKEND_URL": "state",
    "ARM_CLIENT_ID": "azure-client-id",
    "ARM_TENANT_ID": "azure-tenant-id",
    "ARM_SUBSCRIPTION_ID": "azure-subscription-id",
}
"""Variables of a step, and the outputs of delivery.py that they are."""
NO_IDENTITY = "env -u ACTIONS_ID_TOKEN_REQUEST_TOKEN -u ACTIONS_ID_TOKEN_REQUEST_URL"

Files = dict[str, Data]
"""Workflows by name, and the action `cloud`."""


def faults(files: Files) -> list[str]:
    """Return what is wrong, in a sentence each; empty where nothing is."""
    rules = (drift, cloud_preview, deploy, trusted, credentials, packages, comment, release)
    return [f"{rule.__name__}: {fault}" for rule in rules for fault in rule(files)]


def drift(files: Files) -> Iterator[str]:
    """Demand that drift runs what deploy.yml's own runs on main name, found by a job without credentials."""
    jobs = files["drift"]["jobs"]
    find = jobs["find"]
    # YAML 1.1 reads the key `on` as true.
    times = [schedule["cron"] for schedule in files["drift"][True]["schedule"]]
    if not any(re.fullmatch(r"[\d,]+ [\d,*/]+ \* \* \*", time) for time in times):
        yield "drift is not looked for every day"
    if "environment" in find or find["permissions"] != {"actions": "read", "contents": "read"}:
        yield "the job that finds the commits has more rights than to read"
    if "deployments" in str(files["drift"]):
        yield "deployments are read, which anybody with a token makes"
    asking = [step for step in find["steps"] if step.get("run") == "python3 .github/scripts/deployed.py"]
    if len(asking) != 1 or set(asking[0]["env"]) != {"GH_TOKEN"}:
        yield "deployed.py is not asked, or not for the stacks of delivery.toml"
    for stack, reader in READERS.items():
        output = f"needs.find.outputs.{stack}"
        if find["outputs"].get(stack) != f"${{{{ steps.deployed.outputs.{stack} }}}}":
            yield f"{stack}'s commit is not deployed.py's"
        yield from _reads(jobs.get(stack, {}), stack, reader, f"${{{{ {output} }}}}", "find")
        # `find` fails for a stack that it does not find, and still has the others' commits.
        if jobs.get(stack, {}).get("if") != f"${{{{ !cancelled() && {output} != '' }}}}":
            yield f"{stack} is previewed without a commit, or not because of another stack"
        if jobs.get(stack, {}).get("with", {}).get("drift") is not True:
            yield f"{stack}'s drift is not looked for"


def cloud_preview(files: Files) -> Iterator[str]:
    """Demand that somebody approves one commit of a pull request for one stack; prod has an environment of its own."""
    workflow = files["cloud-preview"]
    jobs = workflow["jobs"]
    if set(triggers(workflow)) != {"workflow_dispatch"}:
        yield "something else than a person starts it"
    choice = triggers(workflow)["workflow_dispatch"]["inputs"].get("stack", {})
    if (choice.get("type"), set(choice.get("options", ()))) != ("choice", set(READERS)):
        yield "the stack is no choice"
    if set(jobs) != {"pin", *READERS}:
        yield "there are other jobs than the check of the commit and one for each stack"
    pin = jobs["pin"]
    if pin.get("if") != DEFAULT_BRANCH:
        yield "it runs from another ref than the default branch"
    if "environment" in pin or "id-token" in pin["permissions"]:
        yield "the check of the commit has credentials"
    pinned = [step for step in pin["steps"] if step.get("run") == "python3 .github/scripts/pinned.py"]
    if len(pinned) != 1 or pinned[0]["env"]["COMMIT"] != "${{ inputs.commit }}":
        yield "the commit is not checked"
    if not {"${{ inputs.commit }}", "${{ inputs.stack }}"} <= set(re.findall(r"\${{.*?}}", workflow["run-name"])):
        yield "whoever approves does not see commit and stack"
    for stack, environment in ASKED.items():
        job = jobs.get(stack, {})
        yield from _reads(job, stack, environment, "${{ inputs.commit }}", "pin")
        if job.get("if") != f"inputs.stack == '{stack}'":
            yield f"{stack} runs when it was not chosen"


def deploy(files: Files) -> Iterator[str]:
    """Demand that main is checked, then each stack previewed by the reader, approved, and brought up from main's last commit."""
    jobs = files["deploy"]["jobs"]
    if triggers(files["deploy"]) != {"push": {"branches": ["main"]}}:
        # With paths, a push outside them would be main's last commit, and nothing could come up any more.
        yield "it starts from something else than each push to main"
    if jobs["check"].get("uses") != CHECK or "if" in jobs["check"]:
        yield "main is not checked first"
    needs: dict[str, str | list[str]] = {
        "dev": ["check", "stacks"],
        "staging": "preview-staging",
        "prod": "preview-prod",
    }
    needs |= {"preview-staging": ["dev", "stacks"], "preview-prod": ["staging", "stacks"]}
    for name, before in needs.items():
        first = before if isinstance(before, str) else before[0]
        # A condition without a function of the status runs only after all that the job needs succeeded.
        delivered = f"needs.stacks.outputs.{name.removeprefix('preview-')} == 'on'" if before != first else None
        if jobs.get(name, {}).get("needs") != before:
            yield f"{name} does not wait for {first}"
        if jobs.get(name, {}).get("if") != delivered:
            yield f"{name} may run although {first} failed, or where it is not delivered"
    for stack in READERS:
        job = jobs.get(stack, {})
        if job.get("uses") != UP or job.get("with") != {"stack": stack} or "name" in job:
            yield f"{stack} is not brought up by up.yml, or in a job of another name than deployed.py looks for"
    for stack in ("staging", "prod"):
        yield from _reads(
            jobs.get(f"preview-{stack}", {}), stack, READERS[stack], "${{ github.sha }}", needs[f"preview-{stack}"]
        )
    up = files["up"]["jobs"]["up"]
    if (up["name"], up["environment"], set(files["up"]["jobs"])) != ("pulumi up", "${{ inputs.stack }}", {"up"}):
        yield "up.yml's job has another name than deployed.py looks for, or another environment than the stack"
    if up.get("concurrency") != {"group": "up-${{ inputs.stack }}", "cancel-in-progress": False}:
        yield "two updates of a stack can run at once, or one is cut off"
    runs = [step.get("run", "") for step in up["steps"]]
    first = next((number for number, step in enumerate(up["steps"]) if "actions/cloud" in step.get("uses", "")), 0)
    last = next((number for number, run in enumerate(runs) if "pulumi up" in run), 0)
    if TIP not in runs[:first] or runs[last - 1] != TIP:
        yield "an older commit than main's last one comes up"
    if any("continue-on-error" in step or "if" in step for step in up["steps"]):
        yield "a step that says no does not end the update"
    if any("ref" in step.get("with", {}) for step in up["steps"] if "checkout" in step.get("uses", "")):
        yield "another commit than that of the push comes up"


def trusted(files: Files) -> Iterator[str]:
    """Demand that state and identity come from main's reviewed file, and a state cannot bring a plugin along."""
    for name, content in files.items():
        if [text for text in scalars(content) if re.search(r"\bvars\b", text)]:
            yield f"{name}.yml: a variable decides something, which whoever may write to the repository sets"
    for name, role in (("read", "reader"), ("up", "deployer")):
        [job] = files[name]["jobs"].values()
        asking = [number for number, step in enumerate(job["steps"]) if step.get("id") == "delivery"]
        first = [number for number, step in enumerate(job["steps"]) if "checkout" in step.get("uses", "")][1:]
        if (
            len(asking) != 1
            or job["steps"][asking[0]].get("run") != f'python3 .github/scripts/delivery.py "$STACK" {role}'
        ):
            yield f"{name}.yml: state and identity are not those that delivery.py has for the {role}"
        elif first and first[0] < asking[0]:
            yield f"{name}.yml: another commit is checked out before delivery.py runs"
        if job["env"].get(ACQUISITION) != "true":
            yield f"{name}.yml: a state's plugins are fetched and run"
        for step in job["steps"]:
            settings = step.get("env", {})
            if strange := settings.keys() - {"STACK", "DRIFT", "PRIVATE", "GH_TOKEN", *FROM_DELIVERY}:
                yield f"{name}.yml: a step sets {', '.join(sorted(strange))}"
            given = {**settings, **(step["with"] if "actions/cloud" in step.get("uses", "") else {})}
            for key, output in (FROM_DELIVERY | {key: key for key in LOGINS}).items():
                if key in given and given[key] != f"${{{{ steps.delivery.outputs.{output} }}}}":
                    yield f"{name}.yml: {key} is not delivery.py's"
        if strange := job["env"].keys() - {
            ACQUISITION,
            "ARM_USE_OIDC",
            "AZURE_TOKEN_CREDENTIALS",
            "AAD_LOGIN_METHOD",
            *SYNC,
        }:
            yield f"{name}.yml: the job sets {', '.join(sorted(strange))}"
        if "env" in files[name]:
            yield f"{name}.yml: the workflow sets variables for all jobs"


def credentials(files: Files) -> Iterator[str]:
    """Demand that jobs with an identity install without it, by the lock file alone, and show no values in a public repository."""
    for name in ("read", "up"):
        for job in files[name]["jobs"].values():
            wrong = {key for key, value in SYNC.items() if job.get("env", {}).get(key) != value}
            if wrong:
                yield f"{name}.yml: Pulumi's own `uv sync` installs more than the program needs: {sorted(wrong)}"
            for step in job["steps"]:
                script, settings = step.get("run", ""), step.get("env", {})
                if "GH_TOKEN" in settings and not re.fullmatch(r"python3 \.github/scripts/\w+\.py", script):
                    yield f"{name}.yml: GitHub's token is where something else than a script of main runs"
                if re.search(r"pulumi (up|preview)|cloud_preview", script):
                    if settings.get("PRIVATE") != "${{ github.event.repository.private }}":
                        yield f"{name}.yml: values are shown whoever reads the log"
                    if re.search(r"--diff\b(?! *; *else)", script.replace("shown=--diff", "--diff")):
                        yield f"{name}.yml: values are shown in a public repository"
    for name, content in files.items():
        if name != "cloud" and "GH_TOKEN" in str(
            [content.get("env"), *(j.get("env") for j in content["jobs"].values())]
        ):
            yield f"{name}.yml: GitHub's token is in the environment of every step"


def packages(files: Files) -> Iterator[str]:
    """Demand that what installs packages is started without an identity that can be had, and before the logins."""
    cloud = list(steps(files["cloud"]))
    for step in cloud:
        for line in step.get("run", "").splitlines():
            if INSTALLS.search(line) and "--require-hashes" not in line and not line.startswith("$without_identity "):
                yield f"the action installs with the right to ask for an identity: {line}"
        if "$without_identity" in step.get("run", "") and f'without_identity="{NO_IDENTITY}"' not in step["run"]:
            yield "the action leaves the right to ask for an identity in the environment"
    names = [step["name"] for step in cloud]
    if not names.index("The program's packages, Pulumi and its providers") < names.index("Log in on Azure"):
        yield "the action installs after a login"
    for name, content in files.items():
        for key, job in content.get("jobs", {}).items():
            if "id-token" not in job.get("permissions", {}):
                continue
            for step in job.get("steps", []):
                if INSTALLS.search(step.get("run", "")):
                    yield f"{name}.yml, {key}: packages are installed beside the right to ask for an identity"


def comment(files: Files) -> Iterator[str]:
    """Demand that what loads packages for a stranger's report has no token, and that the job that may comment runs one script."""
    jobs = files["preview-comment"]["jobs"]
    for name, job in jobs.items():
        writes = "write" in job["permissions"].values()
        for step in job["steps"]:
            script, token = step.get("run", ""), "GH_TOKEN" in step.get("env", {})
            if script.endswith("comment.py draw") and (token or writes):
                yield f"{name}: packages are loaded beside a token or a right to write"
            elif script and not re.fullmatch(r"python3 \.github/scripts/comment\.py (fetch|draw|post)", script):
                yield f"{name}: something else than comment.py runs"
            elif script.endswith("comment.py fetch") and writes:
                yield f"{name}: the stranger's artifact is opened beside a right to write"
    if jobs["comment"].get("needs") != "draw" or jobs["comment"].get("if") != "needs.draw.outputs.found == 'true'":
        yield "a comment is written where none was drawn"


def release(files: Files) -> Iterator[str]:
    """Demand that what a tag builds is signed by a job that runs no program, and published by one that only publishes."""
    jobs = files["release"]["jobs"]
    if triggers(files["release"]) != {"push": {"tags": ["v*"]}, "workflow_dispatch": None}:
        yield "something else than a tag of a release starts it"
    if set(jobs) != {"build", "attest", "publish"} or jobs["build"]["permissions"] != {"contents": "read"}:
        yield "the build can sign, or there is another job"
    if [step for step in jobs["attest"]["steps"] if "run" in step]:
        yield "a program runs beside the right to sign"
    if jobs["attest"].get("if") != "github.ref_type == 'tag'" or jobs["publish"].get("needs") != "attest":
        yield "a branch is signed or published"
    scripts = [step["run"] for step in jobs["publish"]["steps"] if "run" in step]
    if len(scripts) != 1 or not scripts[0].startswith("gh release create ") or "\n" in scripts[0].strip():
        yield "something else than the release is written"
    if not all("--require-hashes" in line for step in jobs["build"]["steps"] for line in _builds(step)):
        yield "the helper package is built by unpinned programs"


def _builds(step: Data) -> list[str]:
    return [line for line in step.get("run", "").splitlines() if " build " in line]


def triggers(content: Data) -> Data:
    """Return the events of a workflow. YAML 1.1 reads the key `on` as true."""
    on = content[True]  # type: ignore[index]
    return on if isinstance(on, dict) else {on: None}


def _reads(job: Data, stack: str, environment: str, commit: str, needs: str | list[str]) -> Iterator[str]:
    wanted: dict[str, Any] = {"stack": stack, "environment": environment, "commit": commit}
    if job.get("uses") != READ or job.get("needs") != needs:
        yield f"{stack} is not read by read.yml, after {needs if isinstance(needs, str) else needs[0]}"
    if {key: value for key, value in job.get("with", {}).items() if key != "drift"} != wanted:
        yield f"{stack} is read with another environment or commit, or with an input of its own"
    if [text for text in scalars(job) if "always()" in text]:
        yield f"{stack} is read whatever happened before"
