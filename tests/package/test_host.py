"""The package's folder as Pulumi's language host for Python runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import grpc
import pytest
import yaml
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from components.package.provider import Package

PROJECT = Path(__file__).resolve().parents[2]
PACKAGE = PROJECT / "components" / "package"


def test_the_manifest_names_the_environment_of_the_repositorys_lock_file() -> None:
    runtime = yaml.safe_load((PACKAGE / "PulumiPlugin.yaml").read_text())["runtime"]
    # pulumi-language-python takes the nearest uv.lock above; a `virtualenv` would be beside the manifest.
    assert runtime == {"name": "python", "options": {"toolchain": "uv"}}
    assert next(folder for folder in PACKAGE.parents if (folder / "uv.lock").exists()) == PROJECT
    assert not (PACKAGE / "pyproject.toml").exists()


@pytest.mark.process
def test_the_host_serves_the_schema_on_the_port_that_it_prints() -> None:
    process = subprocess.Popen([sys.executable, str(PACKAGE), "127.0.0.1:1"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}") as channel:
            provider = provider_pb2_grpc.ResourceProviderStub(channel)
            schema = provider.GetSchema(provider_pb2.GetSchemaRequest(version=0)).schema
            version = provider.GetPluginInfo(empty_pb2.Empty()).version
    finally:
        process.kill()
        process.wait()
    assert (schema, version) == (Package().schema, Package().version)
