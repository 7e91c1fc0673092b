"""Installs the programs that run beside credentials, each by a SHA-256 that was reviewed: Pulumi's CLI, providers, kubelogin.

usage: programs.py install FOLDER     those that the program in FOLDER locks, by the digests in its .github/programs.sha256
       programs.py record             downloads them, and writes .github/programs.sha256 for a review

A state or a package may name other plugins, from any server. PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION in the job keeps the
engine from fetching them, so all that it needs is installed here. `pulumi plugin install --checksum` is not used: in v3.258.0 its
sum leaves out the last bytes of an HTTP/1.1 answer (sdk/go/common/workspace/plugins.go, checksumReader.Read), and the CLI itself
needs a digest, too.

Environment: RUNNER_TEMP; GITHUB_PATH gets the folder of the programs.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import urllib.request
import zipfile
from pathlib import Path

from gh import Refused

FILE = Path(".github") / "programs.sha256"
KUBELOGIN = "v0.2.19"
PROVIDERS = ("azure-native", "gcp", "kubernetes")
PATIENCE = 300
"""Seconds without an answer."""


def wanted(lock: str) -> dict[str, str]:
    """Return the address of each archive by its name, in the versions of a uv.lock."""
    packages = tomllib.loads(lock)["package"]
    versions = {package["name"]: package["version"] for package in packages if "version" in package}
    cli = f"pulumi-v{versions['pulumi']}-linux-x64.tar.gz"
    plugins = [provider(name, versions[f"pulumi-{name}"]) for name in PROVIDERS]
    return {
        cli: f"https://get.pulumi.com/releases/sdk/{cli}",
        **{plugin: f"https://api.pulumi.com/releases/plugins/{plugin}" for plugin in plugins},
        f"kubelogin-{KUBELOGIN}-linux-amd64.zip": (
            f"https://github.com/Azure/kubelogin/releases/download/{KUBELOGIN}/kubelogin-linux-amd64.zip"
        ),
    }


def provider(name: str, version: str) -> str:
    """Return the name of a provider's archive."""
    return f"pulumi-resource-{name}-v{version}-linux-amd64.tar.gz"


def digests(text: str) -> dict[str, str]:
    """Return the SHA-256 of each archive by its name. Raises Refused for a line of another form."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            if not (match := re.fullmatch(r"([0-9a-f]{64})  ([\w.-]+)", line)):
                raise Refused(f"{FILE}: {line!r} is no line of sha256sum")
            found[match[2]] = match[1]
    return found


def install(program: Path, temporary: Path) -> None:
    """Download, compare and unpack the programs. Raises Refused before it downloads anything if a digest is missing."""
    archives, known = wanted((program / "uv.lock").read_text()), digests((program / FILE).read_text())
    if missing := [name for name in archives if name not in known]:
        raise Refused(
            f"{FILE} has no digest of {', '.join(missing)}: run `python3 .github/scripts/programs.py record`, compare the lines "
            "with the publishers' release pages, and commit them (docs/delivery.md)"
        )
    folder = temporary / "programs"
    folder.mkdir()
    for name, address in archives.items():
        content = download(address)
        if (actual := hashlib.sha256(content).hexdigest()) != known[name]:
            raise Refused(f"{address} has other bytes than {FILE} says: {actual}")
        (folder / name).write_bytes(content)
        if name.startswith("pulumi-resource-"):
            _plugin(folder, name)
        elif name.endswith(".zip"):
            _kubelogin(folder, name)
        else:
            with tarfile.open(folder / name) as archive:
                archive.extractall(folder, filter="data")
        print(f"{name} has the digest that was reviewed")
    with Path(os.environ["GITHUB_PATH"]).open("a") as path:
        path.write(f"{folder / 'pulumi'}\n{folder}\n")


def download(address: str) -> bytes:
    """Return what a server has. Raises Refused where it says no."""
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            content: bytes = answer.read()
    except OSError as error:
        raise Refused(f"{address}: {error}") from error
    return content


def _plugin(folder: Path, name: str) -> None:
    """Install a provider's archive into the engine's home."""
    match = re.fullmatch(r"pulumi-resource-(.+)-v([^-]+)-linux-amd64\.tar\.gz", name)
    assert match
    command = [
        folder / "pulumi" / "pulumi",
        "plugin",
        "install",
        "resource",
        match[1],
        match[2],
        "--file",
        folder / name,
    ]
    subprocess.run(command, cwd=folder, check=True)


def _kubelogin(folder: Path, name: str) -> None:
    with zipfile.ZipFile(folder / name) as archive:
        (folder / "kubelogin").write_bytes(archive.read("bin/linux_amd64/kubelogin"))
    (folder / "kubelogin").chmod(0o755)


def record(program: Path) -> None:
    """Write the digests of what the publishers serve now, below the file's comment."""
    comment = [line for line in (program / FILE).read_text().splitlines() if line.startswith("#")]
    lines = [
        f"{hashlib.sha256(download(address)).hexdigest()}  {name}"
        for name, address in wanted((program / "uv.lock").read_text()).items()
    ]
    (program / FILE).write_text("\n".join([*comment, *lines, ""]))


if __name__ == "__main__":
    try:
        if sys.argv[1:2] == ["install"] and len(sys.argv) == 3:
            install(Path(sys.argv[2]), Path(os.environ["RUNNER_TEMP"]))
        elif sys.argv[1:] == ["record"]:
            record(Path())
        else:
            sys.exit(__doc__)
    except Refused as why:
        sys.exit(f"error: {why}")
