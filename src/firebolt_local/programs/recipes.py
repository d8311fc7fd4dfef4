"""Which programs can be built, from which pinned Go module and with which flags?"""

import hashlib
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from firebolt_local.errors import LocalError
from firebolt_local.packaged import packaged

_MODULES = packaged("firebolt_local.programs", "modules")
_TOGETHER = _MODULES / "programs"
"""Pins all projects at once: what they have in common is one version, and compiled once (ADR 42)."""
KUBERNETES: Mapping[str, Path] = {"1.36": _TOGETHER, "1.35": _MODULES / "kubernetes_1_35"}
"""The versions of Kubernetes that clusters can be made of, newest first, and the modules that pin them."""
NEWEST = next(iter(KUBERNETES))
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
_BUILD_FLAGS = ("-trimpath", "-buildvcs=false")
_STRIP_FLAGS = ("-s", "-w")


@dataclass(frozen=True, slots=True)
class Companions:
    """Files of a pinned project that its programs are of no use without; they are put beside the programs."""

    project: str
    pattern: str  # within the project's sources


@dataclass(frozen=True, slots=True)
class Project:
    """Where programs come from: the module of ours that pins them, and the flags that are theirs alone."""

    name: str
    folder: Path  # go.mod, go.sum and the packages in use
    linker_flags: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    companions: Companions | None = None
    main: str = ""  # the folder in there with a main of our own, if there is one

    def build_flags(self) -> list[str]:
        linker_flags = " ".join((*_STRIP_FLAGS, *self.linker_flags))
        return [*_BUILD_FLAGS, f"-ldflags={linker_flags}", f"-tags={','.join(self.tags)}"]

    def fingerprint(self) -> str:
        """Changes whenever the programs built from this project would."""
        digest = hashlib.sha256("\n".join((go_platform(), *self.build_flags())).encode())
        if self.companions is not None:
            digest.update(f"{self.companions.project} {self.companions.pattern}\n".encode())
        for path in (*sorted(self.folder.glob("go.*")), *sorted((self.folder / self.main).glob("*.go"))):
            content = path.read_bytes()
            digest.update(f"{path.name} {len(content)}\n".encode())
            digest.update(content)
        return digest.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Recipe:
    program: str
    project: Project
    package: str


def go_architecture() -> str:
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        raise LocalError(f"no programs can be built for {machine}; use a machine with {' or '.join(_ARCHITECTURES)}")
    return _ARCHITECTURES[machine]


def go_platform() -> str:
    return f"linux/{go_architecture()}"


def pinned_version(folder: Path, project: str) -> str:
    """The version that a module of ours requires, so that it is written down once."""
    required = rf"^(?:require |\t){re.escape(project)} v(\S+)$"
    found = re.search(required, (folder / "go.mod").read_text(), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{folder / 'go.mod'} requires no {project}")
    return found[1]


def kubernetes_release(minor: str) -> str:
    """1.36 is 1.36.3."""
    return pinned_version(KUBERNETES[minor], "k8s.io/kubernetes")


def _kubernetes(minor_version: str) -> Project:
    version = kubernetes_release(minor_version)
    major, minor, _ = version.split(".", 2)
    # Without these it calls itself v0.0.0, and clients misbehave.
    values = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
    flags = (f"-X k8s.io/component-base/version.{key}={value}" for key, value in values.items())
    return Project(f"kubernetes_{major}_{minor}", KUBERNETES[minor_version], tuple(flags))


def _containerd() -> Project:
    version = pinned_version(_TOGETHER, "github.com/containerd/containerd/v2")
    flag = f"-X github.com/containerd/containerd/v2/version.Version={version}"
    # Only packages of its own know these words, so that all others are shared nonetheless.
    tags = ("no_btrfs", "no_zfs", "no_aufs", "no_devmapper", "no_tracing")
    return Project("containerd", _TOGETHER, (flag,), tags)


def _helm() -> Project:
    version = pinned_version(_TOGETHER, "helm.sh/helm/v3")
    major, minor = NEWEST.split(".")
    # Charts that are only rendered are told this version of Kubernetes; left alone, helm says 1.20.
    packages = ("chartutil", "lint/rules")
    told = {
        f"pkg/{package}.k8sVersion{name}": value
        for package in packages
        for name, value in (("Major", major), ("Minor", minor))
    }
    values = {"internal/version.version": f"v{version}", **told}
    return Project("helm", _TOGETHER, tuple(f"-X helm.sh/helm/v3/{key}={value}" for key, value in values.items()))


def _cert_manager() -> Project:
    # Its custom resources are no part of any Go package.
    crds = Companions("github.com/cert-manager/cert-manager", "deploy/crds/cert-manager.io_*.yaml")
    return Project("cert-manager", _TOGETHER, companions=crds, main="cert_manager")


def recipes_with(kubernetes_version: str) -> dict[str, Recipe]:
    """Every program, those of Kubernetes in this version; in the order in which they are needed."""
    kubernetes, containerd = _kubernetes(kubernetes_version), _containerd()
    etcd, kwok, provisioner = (Project(name, _TOGETHER) for name in ("etcd", "kwok", "local-path-provisioner"))
    coredns, pause = (Project(name, _TOGETHER, main=name) for name in ("coredns", "pause"))
    plane = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    runtime = ("containerd", "containerd-shim-runc-v2", "ctr")

    def of_kubernetes(name: str) -> Recipe:
        return Recipe(name, kubernetes, f"k8s.io/kubernetes/cmd/{name}")

    recipes = [
        Recipe("etcd", etcd, "go.etcd.io/etcd/server/v3"),
        *map(of_kubernetes, plane),
        Recipe("kwok", kwok, "sigs.k8s.io/kwok/cmd/kwok"),
        of_kubernetes("kubectl"),
        Recipe("helm", _helm(), "helm.sh/helm/v3/cmd/helm"),
        Recipe("cert-manager", _cert_manager(), "./cert_manager"),
        *map(of_kubernetes, ("kubelet", "kube-proxy")),
        *(Recipe(name, containerd, f"github.com/containerd/containerd/v2/cmd/{name}") for name in runtime),
        Recipe("coredns", coredns, "./coredns"),
        Recipe("local-path-provisioner", provisioner, "github.com/rancher/local-path-provisioner"),
        Recipe("pause", pause, "./pause"),
    ]
    return {recipe.program: recipe for recipe in recipes}


RECIPES: Mapping[str, Recipe] = recipes_with(NEWEST)
