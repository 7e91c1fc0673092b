import json
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from review import untrusted
from review.markdown import render
from review.model import Report, StackReport, Status
from sandbox.cli.commands import main
from sandbox.engine.changes import MOST, Change, Op, Property
from tests.review.reports import large


def filled(stack: bytes, times: int) -> bytes:
    """Return a report of so many equal stacks, readable or not."""
    return b'{"format":1,"base":"","head":"","stacks":[' + b",".join([stack] * times) + b"]}"


POINTER = "https://github.com/acme/cluster/actions/runs/1"


def call(file: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["report", str(file), *options])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "report.json"


def test_a_report_has_the_given_length_and_pointer(file: Path) -> None:
    written = large(58, 30)
    file.write_text(written.model_dump_json())
    assert call(file).output == render(written)
    short = call(file, "--longest", "3000", "--pointer", POINTER)
    assert (short.exit_code, short.output) == (0, render(written, longest=3000, pointer=POINTER))
    assert len(short.output) <= 3000


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"format": 2, "stacks": []}', "another format; this version reads format 1"),
        (b'{"format": "@octocat", "base": "", "head": "", "stacks": []}', "another format"),
        (
            b'{"format": 1, "@octocat": "<b>", "base": 3, "head": "", "stacks": []}',
            "1 problems (string_type)",
        ),
        (b"@octocat <b>", "1 problems (json_invalid)"),
        (b"\xff\xfe@octocat", "(json_invalid)"),
        (b"", "(json_invalid)"),
        (filled(b"0", 100_000), "1 problems (model_type)"),
        (filled(b'{"stack":"@octocat","status":"new"}', MOST + 1), "1 problems (too_long)"),
        (b"[" * 100_000, "(json_invalid)"),
        (
            b'{"format": 1, "base": "", "head": "", "stacks": [{"stack": "\\ud800@octocat", "status": "new"}]}',
            "(json_invalid)",
        ),
    ],
)
def test_a_file_that_is_no_report_is_refused_and_not_printed(file: Path, content: bytes, words: str) -> None:
    file.write_bytes(content)
    result = call(file)
    assert result.exit_code == 1
    assert words in result.output
    assert "octocat" not in result.output
    assert "<b>" not in result.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--fail-on", "replace"), "--fail-on does nothing without --base"),
        (("--report-dir", "x"), "--report-dir does nothing without --base"),
        (("--base", "HEAD", "--refresh"), "--refresh does nothing with --base"),
        (("--base", "HEAD", "--expect-no-changes"), "--expect-no-changes does nothing with --base"),
        (("--base", "HEAD", "--no-policy-pack"), "--no-policy-pack does nothing with --base"),
    ],
)
def test_an_option_without_effect_is_refused(options: tuple[str, ...], words: str) -> None:
    result = CliRunner().invoke(main, ["preview", *options])
    assert (result.exit_code, words in result.output) == (2, True), result.output


def test_an_empty_base_is_an_error() -> None:
    """An empty base, as from a script whose own command printed none."""
    result = CliRunner().invoke(main, ["preview", "--base", ""])
    assert (result.exit_code, "--base: '' is no revision" in result.output) == (1, True), result.output


def test_a_file_that_is_too_large_is_not_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "_LARGEST", 1024**2)
    file.write_bytes(b" " * (1024**2 + 1))
    result = call(file)
    assert (result.exit_code, "larger than a report can be: more than 1 MiB" in result.output) == (1, True)


def twisted() -> bytes:
    """Return values with which a comparison of lines takes as long as it can: each line matches, in the most one-sided order."""
    lines = [f"{number:x}" for number in range(1_990)]
    both = ("\n".join(lines), "\n".join(line for name in lines for line in (name, "z")))
    before, after = map(json.dumps, both)
    changed = Property(path="data", before=before, after=after)
    update = Change(op=Op.UPDATE, type="", name="", properties=(changed,) * 450)
    stack = StackReport(stack="dev", status=Status.PREVIEWED, changes=(update,))
    return Report(base="", head="", stacks=(stack,)).model_dump_json().encode()


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        pytest.param(lambda: filled(b"0", 8_000_000), id="wrong stacks"),
        pytest.param(lambda: filled(b'{"stack":"","status":"new"}', 550_000), id="stacks"),
        pytest.param(
            lambda: filled(b"{%s}" % b",".join(b'"%x":0' % i for i in range(1_200_000)), 1), id="unknown keys"
        ),
        pytest.param(twisted, id="values"),
    ],
)
def test_a_file_as_large_as_is_read_takes_bounded_memory_and_time(file: Path, content: Callable[[], bytes]) -> None:
    """In a process that the system ends beyond 2 GiB of addresses and 30 seconds of CPU; a quarter and a tenth are used."""
    file.write_bytes(content())
    assert 10 * 2**20 < file.stat().st_size < 16 * 2**20

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2 * 2**30, 2 * 2**30))
        resource.setrlimit(resource.RLIMIT_CPU, (30, 30))

    command = [sys.executable, "-m", "sandbox", "report", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited, check=False)
    assert done.returncode in (0, 1), (done.returncode, done.stderr[-2_000:])
    assert "Traceback" not in done.stderr
