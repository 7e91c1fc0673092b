"""Modules: the pinned Go modules under tools/, the programs they build, and the flags of those builds."""

import hashlib
import platform
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.base.errors import ProgramError
from sandbox.base.home import PROJECT
from sandbox.toolchain.golang import version_of


@dataclass(frozen=True)
class Module:
    """Programs of one folder of tools/ that are built together."""

    name: str
    packages: dict[str, str]
    """The Go package of each program."""
    source: str
    """The module whose version go.mod pins."""
    stamps: tuple[str, ...] = ()
    """Linker variables; `{version}`, `{major}` and `{minor}` stand for the parts of that version."""
    tags: tuple[str, ...] = ()
    """Build tags."""
    unused: tuple[str, ...] = ()
    """Patterns of packages that the sandbox never runs: compiled without inlining they take half the time."""
    pins: str = ""
    """The folder of tools/ with go.mod and go.sum. Default: the module's name."""

    @property
    def folder(self) -> Path:
        """The folder of go.mod and go.sum."""
        return PROJECT / "tools" / (self.pins or self.name)

    @property
    def version(self) -> str:
        """The version go.mod pins, such as `v1.36.2`. Raises ProgramError when it pins none."""
        try:
            text = (self.folder / "go.mod").read_text()
        except OSError as error:
            raise ProgramError(f"{error}: the sandbox runs from a checkout of the project, which has tools/") from error
        pin = re.search(rf"^\s*{re.escape(self.source)} (v\S+)", text, re.MULTILINE)
        if not pin:
            raise ProgramError(f"{self.folder / 'go.mod'} pins no version of {self.source}")
        return pin[1]

    def flags(self) -> list[str]:
        """Return the flags of `go build` that change the programs."""
        major, minor = version_of(self.version)[:2]
        stamps = [f"-X {stamp.format(version=self.version, major=major, minor=minor)}" for stamp in self.stamps]
        # The linker drops debugging information; not writing it in the first place saves a tenth of the compiler's time.
        linker = " ".join(["-s", "-w", *stamps])
        tags = [f"-tags={','.join(self.tags)}"] if self.tags else []
        unused = [f"-gcflags={pattern}=-dwarf=false -l" for pattern in self.unused]
        return ["-mod=readonly", "-gcflags=all=-dwarf=false", *unused, f"-ldflags={linker}", *tags]

    def without(self, names: Collection[str]) -> "Module":
        """Return the module without some of its programs."""
        return replace(self, packages={name: path for name, path in self.packages.items() if name not in names})

    def key(self) -> str:
        """Return the name of the folder that holds the built programs: it changes with anything they are built from."""
        digest = hashlib.sha256()
        # A folder may have a program of its own beside the pins.
        for path in (self.folder / "go.mod", self.folder / "go.sum", *sorted(self.folder.glob("*.go"))):
            digest.update(path.read_bytes())
        shape = [*self.flags(), *self.packages.values(), platform.system(), platform.machine()]
        digest.update("\0".join(shape).encode())
        return f"{self.name}-{digest.hexdigest()[:12]}"


MODULES = (
    Module(
        "pulumi",
        {"pulumi": "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"},
        "github.com/pulumi/pulumi/pkg/v3",
        ("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={version}",),
        # Leaves out Google Cloud Storage by gRPC, which nothing here calls: 135 of 1,680 packages.
        ("disable_grpc_modules",),
        # OpenAPI documents, for `pulumi cloud`: small, and a fifth of the whole compile time.
        ("github.com/pb33f/libopenapi/...",),
    ),
    # Programs are linked in this order, each while the next is compiled: the last should be small.
    Module(
        "cluster",
        {
            **{
                name: f"k8s.io/kubernetes/cmd/{name}"
                for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
            },
            "kwok": "sigs.k8s.io/kwok/cmd/kwok",
            "etcd": "go.etcd.io/etcd/server/v3",
        },
        "k8s.io/kubernetes",
        (
            "k8s.io/component-base/version.gitVersion={version}",
            "k8s.io/component-base/version.gitMajor={major}",
            "k8s.io/component-base/version.gitMinor={minor}",
        ),
    ),
    # No part of the sandbox: the tests of the component package write its SDKs.
    Module(
        "pulumi-sdk",
        {"pulumi-sdk": "kubeflow-spot.dev/tools/pulumi"},
        "github.com/pulumi/pulumi/pkg/v3",
        tags=("disable_grpc_modules",),
        pins="pulumi",
    ),
    # Nor this: only the tests of .github/workflows build it.
    Module("actionlint", {"actionlint": "github.com/rhysd/actionlint/cmd/actionlint"}, "github.com/rhysd/actionlint"),
    # Nor this: the tests of examples/ try its controllers.
    Module("kubeflow", {"kubeflow-controllers": "kubeflow-spot.dev/tools/kubeflow"}, "sigs.k8s.io/kueue"),
    # Nor these, see METRICS.
    Module(
        "kube-state-metrics",
        {"kube-state-metrics": "k8s.io/kube-state-metrics/v2"},
        "k8s.io/kube-state-metrics/v2",
    ),
    Module(
        "promtool",
        {"promtool": "github.com/prometheus/prometheus/cmd/promtool"},
        "github.com/prometheus/prometheus",
    ),
    # The release in kubeflow/manifests 26.03 (applications/pipeline/upstream/third-party/argo/base). Only drills with pipelines and
    # the tests of their retries build it.
    Module(
        "argo",
        {"workflow-controller": "github.com/argoproj/argo-workflows/v3/cmd/workflow-controller"},
        "github.com/argoproj/argo-workflows/v3",
    ),
    # Only clusters with node auto-provisioning run it.
    Module(
        "karpenter", {"karpenter": "kubeflow-spot.dev/tools/karpenter"}, "github.com/Azure/karpenter-provider-azure"
    ),
)
NAMES = frozenset(name for module in MODULES for name in module.packages)

METRICS = ("kube-state-metrics", "promtool")
"""Programs that `drill --metrics` and its slow tests build when they need them: ten minutes on two cores."""

ON_DEMAND = (*METRICS, "karpenter")
"""Programs that `build --tools` leaves out: who needs them builds them."""
