"""The preview of a real cloud: without an answer of the cluster, the layer is left out and named."""

import json
import socket
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from tests.workflows.conftest import Machine

pytestmark = pytest.mark.process

PULUMI = """
import json, os, sys
from pathlib import Path
world = Path(os.environ["WORLD"])
with (world / "pulumi").open("a") as calls:
    calls.write(json.dumps([sys.argv[1:], os.getcwd()]) + "\\n")
if sys.argv[1:4] == ["stack", "output", "kubeconfig"]:
    file = world / "kubeconfig"
    print(file.read_text() if file.exists() else "", end="")
    sys.exit(0 if file.exists() else "error: current stack does not have output property 'kubeconfig'")
print((world / "output").read_text() if (world / "output").exists() else "    + created")
sys.exit(3 if (world / "drift").exists() else 0)
"""
LAYER = "**$kubernetes:**"


@pytest.fixture
def cloud(machine: Machine) -> Machine:
    machine.program("bin/pulumi", PULUMI)
    (machine.folder / "program").mkdir()
    return machine


@pytest.fixture
def refusing() -> Iterator[str]:
    """Yield an API server that is reachable and refuses every request."""

    class Refuse(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(401)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Refuse) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def closed() -> str:
    """Return an address without a listener."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"https://127.0.0.1:{taken.getsockname()[1]}"


def preview(
    machine: Machine, *options: str, **settings: str
) -> tuple[subprocess.CompletedProcess[str], list[str], str]:
    """Return the finished run, the arguments of `pulumi preview`, and the summary."""
    summary = machine.folder / "summary"
    folder = str(machine.folder / "program")
    done = machine.run("cloud_preview.py", "prod", folder, *options, GITHUB_STEP_SUMMARY=str(summary), **settings)
    calls = [json.loads(line) for line in (machine.world / "pulumi").read_text().splitlines()]
    assert {where for _, where in calls} == {folder}
    assert calls[-1][0][:5] == ["preview", "--stack", "prod", "--non-interactive", "--color"]
    return done, calls[-1][0], summary.read_text()


@pytest.mark.parametrize(
    "form", ["clusters:\n- cluster:\n    server: {}\n  name: ml", '{{"clusters": [{{"cluster": {{"server": "{}"}}}}]}}']
)
def test_a_cluster_that_does_not_answer_is_left_out_and_named(cloud: Machine, form: str) -> None:
    (cloud.world / "kubeconfig").write_text(form.format(closed()))
    done, arguments, summary = preview(cloud, "--policy-pack", "policy", PRIVATE="true")
    assert done.returncode == 0, done.stderr
    assert arguments[6:] == ["never", "--diff", "--policy-pack", "policy", "--exclude", LAYER][1:]
    assert "**layer not previewed: unreachable (127.0.0.1)**" in summary
    assert "+ created" in summary


def test_a_cluster_that_answers_with_a_refusal_is_previewed(cloud: Machine, refusing: str) -> None:
    (cloud.world / "kubeconfig").write_text(f"clusters:\n- cluster: {{server: '{refusing}'}}\n")
    _, arguments, summary = preview(cloud, "--refresh")
    assert arguments[-1] == "--refresh"
    assert "unreachable" not in summary


def test_a_preview_asks_the_policies_as_the_stacks_own_file_configures_them(cloud: Machine) -> None:
    asked = ["--policy-pack", "policy"]
    pack = cloud.folder / "program" / "policy"
    pack.mkdir()
    (pack / "config.staging.json").write_text("{}")
    assert preview(cloud, *asked)[1][7:] == asked
    (pack / "config.prod.json").write_text("{}")
    assert preview(cloud, *asked)[1][7:] == [*asked, "--policy-pack-config", "policy/config.prod.json"]
    # Drift asks no policies.
    assert preview(cloud, "--refresh")[1][7:] == ["--refresh"]
    (pack / "config.prod.json").unlink()
    assert preview(cloud, *asked)[1][7:] == asked


@pytest.mark.parametrize("private", ["false", ""])
def test_where_everybody_may_read_the_log_no_value_is_shown(cloud: Machine, private: str) -> None:
    (cloud.world / "kubeconfig").write_text(f"server: {closed()}\n")
    done, arguments, summary = preview(cloud, PRIVATE=private)
    assert arguments[6:] == ["--suppress-outputs", "--exclude", LAYER]
    assert "**layer not previewed: unreachable**" in summary
    assert "127.0.0.1" not in done.stdout + done.stderr + summary


@pytest.mark.parametrize("private", ["true", "false", ""])
def test_a_stack_that_has_no_cluster_yet_is_previewed_whole(cloud: Machine, private: str) -> None:
    done, arguments, summary = preview(cloud, PRIVATE=private)
    assert done.returncode == 0
    assert "prod: no output kubeconfig" in done.stdout
    # Pulumi's own words may hold the state's address.
    assert ("current stack does not have" in done.stdout + done.stderr + summary) is (private == "true")
    assert "--exclude" not in arguments
    assert "unreachable" not in summary


def test_drift_fails_and_the_kubeconfig_is_in_no_output(cloud: Machine) -> None:
    (cloud.world / "kubeconfig").write_text(f"server: {closed()}\ntoken: s3cret\n")
    (cloud.world / "drift").touch()
    done, arguments, summary = preview(cloud, "--refresh", "--expect-no-changes")
    assert done.returncode == 3
    assert {"--refresh", "--expect-no-changes", "--exclude"} <= set(arguments)
    assert "exit code 3" in summary
    assert "s3cret" not in done.stdout + done.stderr + summary


def test_output_cannot_end_its_block_in_the_summary(cloud: Machine) -> None:
    (cloud.world / "output").write_text("before\n````\n# heading <b>\n")
    _, _, summary = preview(cloud)
    lines = summary.splitlines()
    assert lines.count("`````diff") == 1
    assert lines.index("# heading <b>") < lines.index("`````")


def test_a_summary_stays_under_githubs_limit(cloud: Machine) -> None:
    (cloud.world / "output").write_text("line of output\n" * 100_000)
    _, _, summary = preview(cloud)
    assert 890_000 < len(summary.encode()) < 1 << 20
