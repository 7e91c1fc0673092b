"""Addresses of states and identities come from one reviewed file, in few forms; programs by digests that were reviewed."""

import hashlib
from pathlib import Path
from types import ModuleType

import pytest

from tests.workflows.conftest import GitHub, Machine, delivery_entry, tarred, zipped
from tests.workflows.files import FOLDER, PROJECT


@pytest.fixture
def delivery(github: GitHub) -> ModuleType:
    return github.script("delivery")


@pytest.fixture
def programs(github: GitHub) -> ModuleType:
    return github.script("programs")


def read(delivery: ModuleType, folder: Path, text: str) -> list[str]:
    """Return the stacks of a file, or the lines of its refusal."""
    (folder / "delivery.toml").write_text(text)
    try:
        return list(delivery.read(folder / "delivery.toml"))
    except delivery.Refused as why:
        return str(why).splitlines()


def test_the_checked_in_file_delivers_nothing_and_its_example_is_right(delivery: ModuleType, tmp_path: Path) -> None:
    assert delivery.read() == {}
    text = (FOLDER / "delivery.toml").read_text()
    example = text[text.index("# [dev]") :].replace("\n# ", "\n").replace("\n#\n", "\n\n").removeprefix("# ")
    assert read(delivery, tmp_path, example) == ["dev"]


@pytest.mark.parametrize(
    "state",
    ["azblob://dev?storage_account=example", "gs://example-state", "gs://example/dev", "https://api.pulumi.com"],
)
def test_a_state_in_a_container_a_bucket_or_pulumis_service_is_taken(
    state: str, delivery: ModuleType, tmp_path: Path
) -> None:
    assert read(delivery, tmp_path, delivery_entry("dev", state)) == ["dev"]


@pytest.mark.parametrize(
    "state",
    [
        "azblob://dev?storage_account=example&domain=blob.attacker.example",
        "azblob://dev?domain=blob.attacker.example&storage_account=example",
        "azblob://dev?storage_account=example&protocol=http",
        "azblob://dev?storage_account=example.attacker.example/",
        "azblob://dev?storage_account=example#",
        "azblob://dev",
        "gs://bucket?access_id=x",
        "gs://bucket/../other",
        "s3://bucket?endpoint=attacker.example",
        "https://api.pulumi.com.attacker.example",
        "https://attacker.example",
        "http://api.pulumi.com",
        "file:///tmp",
        "",
        "gs://bucket\\nazure-client-id=x",
    ],
)
def test_an_address_that_names_a_server_of_its_own_is_refused(state: str, delivery: ModuleType, tmp_path: Path) -> None:
    [line] = read(delivery, tmp_path, delivery_entry("dev", state or " "))
    assert line.startswith("delivery.toml: dev.state: ")
    assert "is no address of a state; write azblob://" in line


def test_all_mistakes_are_named_at_once(delivery: ModuleType, tmp_path: Path) -> None:
    text = (
        delivery_entry("dev", more='backend = "x"\n')
        + delivery_entry("prod", state="azblob://dev?storage_account=examplestate")
        + '\n[staging]\nstate = "gs://staging"\n[staging.reader]\nazure-client-id = "me"\ntoken = "x"\n'
    )
    found = read(delivery, tmp_path, text)
    assert [line.split(": ")[1] for line in found] == [
        "dev.backend",
        "prod.state",
        "staging.deployer",
        "staging.reader.azure-client-id",
        "staging.reader.token",
        "staging.reader",
    ]
    assert "is the state of dev as well" in found[1]


@pytest.mark.process
def test_a_step_gets_state_and_identity_of_its_role_alone(machine: Machine) -> None:
    machine.deliver("dev", "prod")
    outputs = machine.folder / "outputs"
    done = machine.run("delivery.py", "prod", "reader", GITHUB_OUTPUT=str(outputs))
    assert done.returncode == 0, done.stderr
    given = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
    assert given["state"] == "azblob://prod?storage_account=examplestate"
    assert given["azure-client-id"].endswith("4")
    # Empty, so that nothing logs in there: the other role has it.
    assert given["gcp-provider"] == given["gcp-service-account"] == ""
    outputs.unlink()
    machine.run("delivery.py", GITHUB_OUTPUT=str(outputs))
    assert outputs.read_text() == "dev=on\nprod=on\n"
    outputs.unlink()
    absent = machine.run("delivery.py", "staging", "reader", GITHUB_OUTPUT=str(outputs))
    assert (absent.returncode, outputs.exists()) == (1, False)
    assert "has no table [staging]" in absent.stderr


# --- programs ---


CLI = b'#!/bin/sh\necho "$@" >> "$WORLD/installed"\n'


@pytest.fixture
def served(programs: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, bytes]:
    """Return what the publishers serve, by the archive's name; the digests in the program's file are those of it."""
    wanted: dict[str, str] = programs.wanted((PROJECT / "uv.lock").read_text())
    content = {name: tarred(("pulumi/pulumi", CLI)) for name in wanted} | {
        name: zipped(("bin/linux_amd64/kubelogin", b"x")) for name in wanted if name.endswith(".zip")
    }
    addresses = {address: name for name, address in wanted.items()}
    monkeypatch.setattr(programs, "download", lambda address: content[addresses[address]])
    monkeypatch.setenv("GITHUB_PATH", str(tmp_path / "path"))
    monkeypatch.setenv("WORLD", str(tmp_path))
    program = tmp_path / "program"
    (program / ".github").mkdir(parents=True)
    (program / "uv.lock").write_text((PROJECT / "uv.lock").read_text())
    (program / ".github" / "programs.sha256").write_text("# reviewed\n")
    programs.record(program)
    return content


def test_recorded_programs_are_installed_and_no_others(
    served: dict[str, bytes], programs: ModuleType, tmp_path: Path
) -> None:
    text = (tmp_path / "program" / ".github" / "programs.sha256").read_text()
    assert text.startswith("# reviewed\n")
    assert programs.digests(text) == {name: hashlib.sha256(content).hexdigest() for name, content in served.items()}
    programs.install(tmp_path / "program", tmp_path)
    installed = [line.split() for line in (tmp_path / "installed").read_text().splitlines()]
    assert [words[:5] for words in installed] == [
        ["plugin", "install", "resource", name, version]
        for name, version in (("azure-native", "3.29.0"), ("gcp", "10.2.0"), ("kubernetes", "4.34.2"))
    ]
    assert (tmp_path / "programs" / "kubelogin").stat().st_mode & 0o111


@pytest.mark.parametrize("changed", ["azure-native", "pulumi-v3", "kubelogin"])
def test_other_bytes_than_those_reviewed_are_not_installed(
    changed: str, served: dict[str, bytes], programs: ModuleType, tmp_path: Path
) -> None:
    name = next(name for name in served if changed in name)
    served[name] = tarred(("pulumi/pulumi", CLI + b"# and more\n"))
    with pytest.raises(programs.Refused, match="has other bytes than"):
        programs.install(tmp_path / "program", tmp_path)
    assert not (tmp_path / "path").exists()
    assert changed not in ((tmp_path / "installed").read_text() if (tmp_path / "installed").exists() else "")


def test_a_raised_provider_has_no_digest_until_somebody_records_it(
    served: dict[str, bytes], programs: ModuleType, tmp_path: Path
) -> None:
    lock = tmp_path / "program" / "uv.lock"
    lock.write_text(
        lock.read_text().replace('name = "pulumi-gcp"\nversion = "10.2.0"', 'name = "pulumi-gcp"\nversion = "10.3.0"')
    )
    with pytest.raises(programs.Refused, match=r"no digest of pulumi-resource-gcp-v10\.3\.0-linux-amd64\.tar\.gz: run"):
        programs.install(tmp_path / "program", tmp_path)
    assert not (tmp_path / "installed").exists()


def test_the_checked_in_digests_have_the_form_of_sha256sum(programs: ModuleType) -> None:
    known = programs.digests((FOLDER / "programs.sha256").read_text())
    assert known.keys() <= programs.wanted((PROJECT / "uv.lock").read_text()).keys()
    with pytest.raises(programs.Refused, match="is no line of sha256sum"):
        programs.digests("abc  file")
