from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sandbox.cli.commands import main
from sandbox.report import untrusted
from sandbox.report.markdown import render
from tests.report.reports import large

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
            "2 problems (extra_forbidden, string_type)",
        ),
        (b"@octocat <b>", "1 problems (json_invalid)"),
        (b"\xff\xfe@octocat", "(json_invalid)"),
        (b"", "(json_invalid)"),
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
