"""Somebody's first hour: one cluster, a desk, and the blocks of the pages that need real pods."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import yaml

from firebolt_local.images.catalogue import build_all
from firebolt_local.node.cluster import NodeCluster, NodesRequest, up
from firebolt_local.programs.provision import cache_folder
from firebolt_operator.refs import Manifest
from tests.e2e.console_page import Page
from tests.e2e.environment import Environment
from tests.support.docs_blocks import REPOSITORY, manifests
from tests.support.docs_desk import NAMESPACE, Desk
from tests.support.docs_marks import REAL_PODS, Marked, marked_for

NAME: Final = "first-hour"
EXTERNAL: Final = """
apiVersion: v1
kind: Service
metadata: {name: elsewhere}
spec: {selector: {app: elsewhere}, ports: [{port: 5432}]}
---
apiVersion: v1
kind: Pod
metadata: {name: elsewhere, labels: {app: elsewhere}}
spec:
  containers:
    - name: postgres
      image: postgres:16-alpine
      imagePullPolicy: IfNotPresent
      env:
        - {name: POSTGRES_USER, value: firebolt}
        - {name: POSTGRES_PASSWORD, value: external}
        - {name: POSTGRES_DB, value: firebolt_metadata}
        - {name: PGDATA, value: /tmp/data}
      readinessProbe:
        exec: {command: [pg_isready, --host=127.0.0.1, --username=firebolt]}
        periodSeconds: 1
"""
"""A server of somebody's own, as far as the instance can tell."""
MOVED: Final[Manifest] = {
    "PGHOST": {"value": "elsewhere"},
    "PGDATABASE": {"value": "firebolt_metadata"},
    "PGUSER": {"valueFrom": {"secretKeyRef": {"name": "demo-postgres", "key": "username"}}},
    "PGPASSWORD": {"valueFrom": {"secretKeyRef": {"name": "demo-postgres", "key": "password"}}},
}
PSQL: Final = "psql -h 127.0.0.1 -U firebolt -d firebolt_metadata -Atc"


@dataclass(slots=True)
class FirstHour:
    cluster: NodeCluster
    desk: Desk
    blocks: dict[str, Marked] = field(default_factory=lambda: marked_for(REAL_PODS))
    done: set[str] = field(default_factory=set[str])

    @classmethod
    def begin(cls, folder: Path) -> "FirstHour":
        """With the images that a registry would have, but for the operator's own."""
        cluster = up(NodesRequest(name=NAME, assume_yes=True))
        archives = build_all(cache_folder() / "images")
        cluster.load_images(path for path in archives if path.stem != "operator")
        return cls(cluster, Desk.prepare(folder / "desk", cluster.kubeconfig))

    @property
    def environment(self) -> Environment:
        return Environment(self.cluster)

    def follow(self, *names: str, **values: str) -> str:
        """What the last one printed."""
        told = ""
        for name in names:
            told = self.desk.follow(self.blocks[name], **values)
            self.done.add(name)
        return told

    def follow_the_rest_but(self, *later: str, **values: str) -> None:
        """Whatever pages have besides: looks at what is there, which change nothing."""
        self.follow(*(name for name in self.blocks if name not in self.done and name not in later), **values)

    def type(self, script: str) -> str:
        return self.desk.run(script)

    def write(self, name: str, text: str) -> None:
        (self.desk.files / name).write_text(text)

    def write_files_of(self, page: str) -> None:
        for name, body in Page.read(page).files().items():
            self.write(name, body)

    def get(self, what: str, path: str) -> str:
        return self.type(f"kubectl get {what} --output=jsonpath='{path}'").strip()

    def gateway(self) -> str:
        """Its address: this machine has a route to it, and knows no names of the cluster."""
        return self.get("service demo-gateway", "{.spec.clusterIP}")

    def push(self) -> None:
        """What `make image` has written, to where the node finds it: there is no registry."""
        self.cluster.load_images([self.desk.files / "build/image/operator.tar"])

    def external_server(self) -> None:
        self.type(f"kubectl apply -f - <<'EOF'\n{EXTERNAL}EOF\nkubectl wait --for=condition=Ready pod/elsewhere")


def instance_with_id(identity: str) -> str:
    """The manifest of docs/backup.md."""
    (shown,) = (block.text for block in manifests() if block.page == "docs/backup.md")
    return shown.replace("01J...", identity)


def restore_elsewhere() -> str:
    """A copy of examples/restore.yaml, changed as docs/backup.md says."""
    job: Manifest = yaml.safe_load((REPOSITORY / "examples/restore.yaml").read_text())
    job["metadata"]["name"] = "demo-metadata-move"
    (container,) = job["spec"]["template"]["spec"]["containers"]
    container["env"] = [_moved(entry) for entry in container["env"]]
    return yaml.safe_dump(job)


def _moved(entry: Manifest) -> Manifest:
    changed = MOVED.get(entry["name"])
    return entry if changed is None else {"name": entry["name"], **changed}


def external_patch() -> str:
    """The document of docs/backup.md, with the server that is there."""
    page = (REPOSITORY / "docs/backup.md").read_text()
    shown = page.partition("```json\n")[2].partition("```")[0]
    patch = json.loads(shown)
    patch["spec"]["metadata"]["postgres"]["host"] = f"elsewhere.{NAMESPACE}.svc.cluster.local"
    return json.dumps(patch)
