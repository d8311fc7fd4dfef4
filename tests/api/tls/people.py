"""Somebody who turns TLS on and off, and looks at what becomes of it."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import yaml

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import CONFIG_MAPS, DEPLOYMENTS, SECRETS
from firebolt_operator.refs import Manifest
from tests.api.auth.people import Administrator
from tests.support.self_signed import Key, a_private_key, private_pem, self_signed

ISSUED: Final[Manifest] = {"enabled": True, "certManager": {"issuerRef": {"name": "ca"}}}
OWN: Final[Manifest] = {"enabled": True, "secretRef": {"name": "own"}}
MUTUAL: Final[Manifest] = {**OWN, "clientCASecretRef": {"name": "clients"}}


@dataclass(frozen=True, slots=True)
class Owner(Administrator):
    async def make_certificate(self, name: str = "own") -> None:
        key = a_private_key()
        await self.make_secret(name, {"tls.crt": self_signed(key), "tls.key": private_pem(key)})

    async def make_client_authority(self, key: Key | None = None) -> None:
        await self.make_secret("clients", {"ca.crt": self_signed(key or a_private_key())})

    async def ask_for(self, **listeners: Manifest | None) -> None:
        """gateway=..., engine=...; None takes one out."""
        await self.patch_instance({"spec": {"tls": listeners}})

    async def until_said(self, kind: str, reason: str) -> FireboltInstance:
        def says_so(instance: FireboltInstance) -> bool:
            found = find_condition(instance.status.conditions, kind)
            is_current = found is not None and found.observed_generation == instance.metadata.generation
            return found is not None and is_current and found.reason == reason

        return await self.until_instance(says_so)

    async def until_gateway(self, wanted: Callable[[Manifest], Any]) -> Manifest:
        found = await self.until(DEPLOYMENTS, "inst-gateway", lambda each: each is not None and bool(wanted(each)))
        assert found is not None
        return found

    async def gateway(self) -> Manifest:
        return await self.read(DEPLOYMENTS, "inst-gateway")

    async def envoy(self) -> Manifest:
        config_map = await self.read(CONFIG_MAPS, "inst-gateway-config")
        config: Manifest = yaml.load(config_map["data"]["envoy.yaml"], yaml.CSafeLoader)
        return config

    async def listeners(self) -> dict[str, Manifest | None]:
        """The transport socket of each, by name."""
        found = (await self.envoy())["static_resources"]["listeners"]
        return {each["name"]: each["filter_chains"][0].get("transport_socket") for each in found}

    async def upstream(self) -> Manifest | None:
        clusters = (await self.envoy())["static_resources"]["clusters"]
        return {each["name"]: each.get("transport_socket") for each in clusters}.get("dynamic_forward_proxy")

    async def generations(self) -> dict[str, list[str]]:
        """Which Secrets each CA was seen in, by its fingerprint."""
        secret = await self.read(SECRETS, "inst-engine-ca-bundle")
        written = secret["metadata"]["annotations"]["firebolt.io/engine-trust-generations"]
        found: dict[str, list[str]] = json.loads(written)
        return found

    async def bundle(self) -> str:
        secret = await self.read(SECRETS, "inst-engine-ca-bundle")
        return base64.b64decode(secret["data"]["ca.crt"]).decode()


def mounted(deployment: Manifest) -> set[str]:
    """Names of the Secrets that its pods mount."""
    volumes = deployment["spec"]["template"]["spec"]["volumes"]
    return {each["secret"]["secretName"] for each in volumes if "secret" in each}


def config_hash(deployment: Manifest) -> str:
    return str(deployment["spec"]["template"]["metadata"]["annotations"]["firebolt.io/config-hash"])
