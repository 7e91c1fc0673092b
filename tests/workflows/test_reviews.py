"""Reviews of main: who approves which file, and the rulesets that ask for it."""

import copy
import json
import re
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from tests.workflows.faults import ASKED, READERS
from tests.workflows.files import FOLDER, PROJECT, workflow

FREE = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/", "docs/", "examples/", "tests/")
"""What any reviewer may approve, but for the parts of it in OWNED."""
OWNED = (
    ".github/",
    "__main__.py",
    "components/",
    "config/",
    "docs/delivery.md",
    "examples/operator/",
    "policy/",
    "pyproject.toml",
    "Pulumi.",
    "renovate.json5",
    "sandbox/",
    "scripts/",
    "SECURITY.md",
    "tests/workflows/",
    "tools/",
    "uv.lock",
)
CHECKS = {("check", "check"), ("check", "test"), ("preview", "preview")}
"""Workflow and job of the checks without which nothing is merged."""
PARAMETERS = {
    "require_code_owner_review": True,
    "require_last_push_approval": True,
    "dismiss_stale_reviews_on_push": True,
    "required_review_thread_resolution": True,
}


def owners(text: str) -> Callable[[str], list[str]]:
    """Return what tells the owners of a path: those of the last line that matches (docs.github.com: about-code-owners)."""
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    assert all(pattern == "*" or pattern.startswith("/") for pattern, *_ in lines), "a form this test does not read"

    def of(path: str) -> list[str]:
        found: list[str] = []
        for pattern, *names in lines:
            if pattern == "*" or f"/{path}" == pattern or (pattern.endswith("/") and f"/{path}".startswith(pattern)):
                found = names
        return found

    return of


def test_every_file_that_runs_checks_or_grants_has_an_owner() -> None:
    of = owners((FOLDER / "CODEOWNERS").read_text())
    tracked = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True)
    files = [*tracked.stdout.splitlines(), ".github/workflows/new.yml", "Pulumi.new.yaml", "new.py", "new/file"]
    for path in files:
        free = path.startswith(FREE) and not path.startswith(OWNED)
        assert (of(path) == []) == free, path
    assert [path for path in OWNED if not any(file.startswith(path) for file in files)] == []


def faults(main: dict[str, Any], tags: dict[str, Any]) -> list[str]:
    """Return what is wrong with the rulesets (docs.github.com: rest/repos/rules, "Create a repository ruleset")."""
    found = []
    rules = {rule["type"]: rule.get("parameters", {}) for rule in main["rules"]}
    for name, ruleset in (("main", main), ("tags", tags)):
        if ruleset["enforcement"] != "active" or ruleset["bypass_actors"] != []:
            found.append(f"{name} can be passed by")
    if main["conditions"]["ref_name"] != {"include": ["~DEFAULT_BRANCH"], "exclude": []} or main["target"] != "branch":
        found.append("main is not meant")
    found += [f"{rule} is allowed" for rule in ("deletion", "non_fast_forward") if rule not in rules]
    reviews = rules.get("pull_request", {})
    found += [f"{name} is missing" for name, value in PARAMETERS.items() if reviews.get(name) is not value]
    if not reviews.get("required_approving_review_count", 0) >= 1:
        found.append("nobody reviews")
    checks = rules.get("required_status_checks", {})
    names = {workflow(file)["jobs"][job]["name"] for file, job in CHECKS}
    # 15368 is GitHub Actions: without it, whoever may write statuses says that a check passed.
    required = [(check["context"], check.get("integration_id")) for check in checks.get("required_status_checks", [])]
    if sorted(required) != sorted((name, 15368) for name in names):
        found.append("the checks are not those of the workflows")
    if checks.get("strict_required_status_checks_policy") is not True:
        found.append("the checks ran on an older main")
    if tags["conditions"]["ref_name"]["include"] != ["refs/tags/main"] or tags["target"] != "tag":
        found.append("no tag called main is meant")
    if not {"creation", "update"} <= {rule["type"] for rule in tags["rules"]}:
        found.append("a tag called main can be made")
    return found


def rulesets() -> list[dict[str, Any]]:
    return [json.loads((FOLDER / "rulesets" / f"{name}.json").read_text()) for name in ("main", "tags")]


def test_the_rulesets_have_no_fault() -> None:
    assert faults(*rulesets()) == []


def test_the_tag_of_a_release_never_moves() -> None:
    releases = json.loads((FOLDER / "rulesets" / "releases.json").read_text())
    assert (releases["enforcement"], releases["bypass_actors"], releases["target"]) == ("active", [], "tag")
    assert releases["conditions"]["ref_name"] == {"include": ["refs/tags/v*"], "exclude": []}
    assert {rule["type"] for rule in releases["rules"]} == {"update", "deletion"}


def rule(ruleset: dict[str, Any], type: str) -> dict[str, Any]:
    parameters: dict[str, Any] = next(rule["parameters"] for rule in ruleset["rules"] if rule["type"] == type)
    return parameters


def without(type: str) -> Callable[[Any, Any], None]:
    return lambda main, tags: main.update(rules=[rule for rule in main["rules"] if rule["type"] != type])


PLANTED: list[tuple[str, Callable[[Any, Any], None]]] = [
    ("main can be passed by", lambda main, tags: main.update(bypass_actors=[{"actor_type": "OrganizationAdmin"}])),
    ("main can be passed by", lambda main, tags: main.update(enforcement="evaluate")),
    ("tags can be passed by", lambda main, tags: tags.update(enforcement="disabled")),
    ("main is not meant", lambda main, tags: main["conditions"]["ref_name"].update(include=["refs/heads/master"])),
    ("main is not meant", lambda main, tags: main["conditions"]["ref_name"].update(exclude=["~DEFAULT_BRANCH"])),
    ("deletion is allowed", without("deletion")),
    ("non_fast_forward is allowed", without("non_fast_forward")),
    ("nobody reviews", without("pull_request")),
    (
        "nobody reviews",
        lambda main, tags: rule(main, "pull_request").update(required_approving_review_count=0),
    ),
    *(
        (f"{name} is missing", lambda main, tags, name=name: rule(main, "pull_request").update({name: False}))
        for name in PARAMETERS
    ),
    ("the checks are not", without("required_status_checks")),
    (
        "the checks are not",
        lambda main, tags: rule(main, "required_status_checks")["required_status_checks"][0].pop("integration_id"),
    ),
    (
        "the checks are not",
        lambda main, tags: rule(main, "required_status_checks")["required_status_checks"].pop(),
    ),
    (
        "older main",
        lambda main, tags: rule(main, "required_status_checks").update(strict_required_status_checks_policy=False),
    ),
    ("can be made", lambda main, tags: tags.update(rules=[{"type": "update"}])),
    ("no tag called main", lambda main, tags: tags["conditions"]["ref_name"].update(include=["refs/tags/v*"])),
]


@pytest.mark.parametrize(("named", "change"), PLANTED, ids=[f"{at}-{row[0]}" for at, row in enumerate(PLANTED)])
def test_a_planted_fault_in_a_ruleset_is_named(named: str, change: Callable[[Any, Any], None]) -> None:
    main, tags = copy.deepcopy(rulesets())
    change(main, tags)
    assert named in "\n".join(faults(main, tags))


def test_an_owner_taken_away_is_noticed() -> None:
    text = (FOLDER / "CODEOWNERS").read_text()
    assert owners(text)(".github/workflows/deploy.yml") != []
    assert owners(text + "/.github/\n")(".github/workflows/deploy.yml") == []
    assert owners(text.replace("\n* @", "\n/x @"))("uv.lock") == []


def test_the_page_sets_up_every_environment_and_names_files_that_are_there() -> None:
    page = (PROJECT / "docs" / "delivery.md").read_text()
    [(asked, unasked)] = re.findall(r'^ASKED="(.*)" OPEN="(.*)"$', page, re.MULTILINE)
    stacks = set(READERS)
    assert set(asked.split()) == {*ASKED.values(), *(stacks - {"dev"})}
    assert set(unasked.split()) == {*READERS.values(), "dev"}
    assert "-f name=main -f type=branch" in page
    assert [name for name in re.findall(r"--input (\.github/\S+)", page) if not (PROJECT / name).exists()] == []
    assert page.count("--input .github/rulesets/") == len(list((FOLDER / "rulesets").iterdir()))


def test_the_page_says_whether_a_merge_needs_the_check_of_the_packages_age() -> None:
    [row] = [line for line in (PROJECT / "SECURITY.md").read_text().splitlines() if line.startswith("| a package")]
    needed = rule(rulesets()[0], "required_status_checks")["required_status_checks"]
    required = workflow("dependencies")["jobs"]["age"]["name"] in {check["context"] for check in needed}
    assert ("not required for a merge" in row) is not required
    assert ("nothing before a week has passed" in row) is required
