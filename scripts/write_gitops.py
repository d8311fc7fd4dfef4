"""Writes gitops/argocd/argocd-cm.yaml and gitops/flux/kustomization.yaml, for each of our kinds with a status."""

import textwrap
from pathlib import Path

from firebolt_operator.api.crds import KINDS

FOLDER = Path(__file__).parents[1] / "gitops"
ARGO_CD, FLUX = FOLDER / "argocd/argocd-cm.yaml", FOLDER / "flux/kustomization.yaml"
ARGO_CD_HEAD = """\
# To be merged into the ConfigMap that Argo CD has: see docs/gitops.md. Made from health.lua by `make gitops`.
apiVersion: v1
kind: ConfigMap
metadata:
  name: argocd-cm
  namespace: argocd
  labels:
    app.kubernetes.io/name: argocd-cm
    app.kubernetes.io/part-of: argocd
data:
"""
FLUX_HEAD = """\
# How Flux (2.5 or newer) can tell whether engines, classes and instances are healthy: put spec.healthCheckExprs, wait
# and a timeout into a Kustomization of yours. See docs/gitops.md. Made by `make gitops`.
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: firebolt
  namespace: flux-system
spec:
  interval: 10m
  path: ./firebolt
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
  wait: true
  timeout: 45m  # longer than spec.progressDeadline, which is 30m unless you say otherwise
  healthCheckExprs:
"""
FLUX_KIND = """\
    - apiVersion: {api_version}
      kind: {kind}
      # Without it the status speaks of no spec at all yet; Flux itself compares it with metadata.generation.
      inProgress: "!has(status.observedGeneration) || !has(status.conditions)"
      failed: status.conditions.exists(c, c.type == 'Stalled' && c.status == 'True')
      current: >-
        status.conditions.exists(c, c.type == 'Ready' && (c.status == 'True' || c.reason == 'Stopped')) &&
        !status.conditions.exists(c, c.type == 'Reconciling' && c.status == 'True')
"""


def argo_cd() -> str:
    script = textwrap.indent((FOLDER / "argocd/health.lua").read_text(), "    ")
    keys = (
        f"  resource.customizations.health.{kind.resource.group}_{kind.resource.kind}: |\n"
        for kind in KINDS
        if kind.has_status
    )
    return ARGO_CD_HEAD + "".join(key + script for key in keys)


def flux() -> str:
    parts = (
        FLUX_KIND.format(api_version=kind.resource.api_version, kind=kind.resource.kind)
        for kind in KINDS
        if kind.has_status
    )
    return FLUX_HEAD + "".join(parts)


def main() -> None:
    ARGO_CD.write_text(argo_cd())
    FLUX.write_text(flux())


if __name__ == "__main__":
    main()
