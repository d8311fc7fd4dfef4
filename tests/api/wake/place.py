"""A namespace with an instance, and accounts that try what they may do to its engines."""

import json
from dataclasses import dataclass
from pathlib import Path

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.api import names
from firebolt_operator.api.crds import KINDS
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    ENDPOINT_SLICES,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    ROLE_BINDINGS,
    SERVICES,
)
from firebolt_operator.gateway.rbac import gateway_accounts, gateway_identity
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.support.gateways import an_instance, gateway_inputs

INSTANCE_ID = "01JZ8E3F9V7Q0K2M4N6P8R0T2W"
INSTANCE = "inst"
WAKE = names.ANNOTATION_WAKE_REQUESTED
RBAC = "rbac.authorization.k8s.io"


@dataclass(frozen=True, slots=True)
class Place:
    """As an administrator sees it."""

    plane: ControlPlane
    client: KubeClient
    namespace: str
    folder: Path

    async def make_instance(self, name: str = INSTANCE, template: Manifest | None = None) -> None:
        gateway = {} if template is None else {"template": template}
        spec = {"id": INSTANCE_ID, "metadata": {}, "gateway": gateway}
        await self.client.create(self._manifest(FIREBOLT_INSTANCES, name, spec=spec))

    async def make_engine(self, name: str = "eng", **fields: Manifest) -> Manifest:
        """With the empty EndpointSlice that the Service of a parked engine has."""
        await self.point(name)
        return await self.make_bare_engine(name, **fields)

    async def make_bare_engine(self, name: str, **fields: Manifest) -> Manifest:
        spec = {"instanceRef": INSTANCE, "replicas": 0, "autoStop": {"enabled": True, "activeReplicas": 1}, **fields}
        return await self.client.create(self._manifest(FIREBOLT_ENGINES, name, spec=spec))

    async def make_service(self, engine: str) -> None:
        """As the operator makes it: headless, with a selector that finds no pod while the engine is parked."""
        spec: Manifest = {"clusterIP": "None", "selector": {"app": engine}, "ports": [{"port": 3473}]}
        await self.client.create(self._manifest(SERVICES, names.engine_service_name(engine), spec=spec))

    async def engine(self, name: str = "eng") -> Manifest:
        found = await self.client.get(self.engine_ref(name))
        assert found is not None
        return found

    async def stamp_of(self, name: str = "eng") -> str:
        annotations = (await self.engine(name))["metadata"].get("annotations", {})
        return str(annotations.get(WAKE, ""))

    async def delete(self, ref: Ref) -> None:
        found = await self.client.get(ref)
        assert found is not None
        await self.client.delete(ref, uid=found["metadata"]["uid"])

    def engine_ref(self, name: str = "eng") -> Ref:
        return Ref(FIREBOLT_ENGINES, self.namespace, name)

    async def point(self, engine: str, *addresses: str, part: str = "a") -> None:
        """What the endpoints controller writes when pods turn ready; no address: none is."""
        slice_name = f"{names.engine_service_name(engine)}-{part}"
        endpoints = [{"addresses": [each], "conditions": {"ready": True}} for each in addresses]
        manifest = self._manifest(ENDPOINT_SLICES, slice_name)
        manifest["metadata"]["labels"] = {"kubernetes.io/service-name": names.engine_service_name(engine)}
        await self.client.apply(manifest | {"addressType": "IPv4", "endpoints": endpoints, "ports": []})

    def kubeconfig_of(self, account: str) -> Path:
        """With a token that the server issued for this account."""
        content: Manifest = json.loads(self.plane.kubeconfig.read_text())
        content["users"][0]["user"] = {"token": self._token_of(account)}
        kubeconfig = self.folder / f"{account}.kubeconfig"
        kubeconfig.write_text(json.dumps(content))
        return kubeconfig

    def account_folder(self, account: str) -> Path:
        """What the kubelet mounts for this account."""
        folder = self.folder / account
        folder.mkdir(exist_ok=True)
        (folder / "token").write_text(self._token_of(account))
        (folder / "namespace").write_text(self.namespace)
        (folder / "ca.crt").write_bytes(self.plane.ca_file.read_bytes())
        return folder

    def _token_of(self, account: str) -> str:
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        path = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/{account}/token"
        return str(self.plane.http.create(path, request)["status"]["token"])

    async def make_gateway_account(self, instance: str = INSTANCE, drain_timeout: str = "15s") -> str:
        """With exactly the rights that the operator gives it."""
        gateway = an_instance(instance, self.namespace, drain_timeout=drain_timeout)
        for manifest in gateway_identity(gateway_inputs(gateway, wake=True)):
            del manifest["metadata"]["ownerReferences"]  # to a made-up instance: it would be collected
            await self.client.apply(manifest)
        return names.gateway_name(instance)

    async def list_gateways(self, instance: str = INSTANCE, template: Manifest | None = None) -> Ref:
        """What the operator writes for the policy."""
        manifest = gateway_accounts(gateway_inputs(an_instance(instance, self.namespace, template)))
        del manifest["metadata"]["ownerReferences"]
        await self.client.apply(manifest)
        return Ref(CONFIG_MAPS, self.namespace, manifest["metadata"]["name"])

    async def make_account(self, name: str, *verbs: str) -> str:
        """Of a user's own, with any rights on engines, their status and their scale."""
        metadata = {"name": name, "namespace": self.namespace}
        await self.client.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
        plural = FIREBOLT_ENGINES.plural
        rule: Manifest = {
            "apiGroups": [FIREBOLT_ENGINES.group],
            "resources": [plural, f"{plural}/status", f"{plural}/scale"],
            "verbs": list(verbs),
        }
        await self.grant({"kind": "ServiceAccount", **metadata}, name, [rule])
        return name

    async def allow_slices(self, account: str, *verbs: str) -> Ref:
        """The right to look at endpoints; deleting what is returned takes it away."""
        rule: Manifest = {"apiGroups": [ENDPOINT_SLICES.group], "resources": [ENDPOINT_SLICES.plural]}
        subject: Manifest = {"kind": "ServiceAccount", "name": account, "namespace": self.namespace}
        await self.grant(subject, f"{account}-slices", [{**rule, "verbs": list(verbs)}])
        return Ref(ROLE_BINDINGS, self.namespace, f"{account}-slices")

    async def grant(self, subject: Manifest, role: str, rules: list[Manifest]) -> None:
        """A Role with these rules; without any, the cluster's role of that name."""
        metadata = {"name": role, "namespace": self.namespace}
        kind = "Role" if rules else "ClusterRole"
        if rules:
            await self.client.apply({"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": metadata, "rules": rules})
        await self.client.apply(
            {
                "apiVersion": f"{RBAC}/v1",
                "kind": "RoleBinding",
                "metadata": metadata,
                "subjects": [subject],
                "roleRef": {"apiGroup": RBAC, "kind": kind, "name": role},
            }
        )

    def patches_by(self, account: str, engine: str) -> list[int]:
        """The codes that patches of this engine by this account were answered with, as the audit log has them."""
        user = f"system:serviceaccount:{self.namespace}:{account}"
        lines = map(json.loads, self.plane.audit_log.read_text().splitlines())
        return [
            line["responseStatus"]["code"]
            for line in lines
            if line["user"].get("username") == user
            and line["verb"] == "patch"
            and line["objectRef"].get("name") == engine
            and line["objectRef"].get("namespace") == self.namespace
        ]

    def _manifest(self, resource: Resource, name: str, **fields: Manifest) -> Manifest:
        metadata: Manifest = {"name": name, "namespace": self.namespace}
        return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **fields}


def a_door(kubeconfig: Path) -> KubeClient:
    return KubeClient.from_credentials(load_credentials(str(kubeconfig), {}), kinds=[kind.resource for kind in KINDS])
