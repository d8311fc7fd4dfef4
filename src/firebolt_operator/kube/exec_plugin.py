"""Which credentials does the kubeconfig's helper program hand out (client.authentication.k8s.io)?"""

import asyncio
import json
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

import msgspec

from firebolt_operator.errors import ConfigurationError, TransientError
from firebolt_operator.kube.identity import Proof, bearer
from firebolt_operator.kube.set_aside import Undecodable
from firebolt_operator.kube.tls import ClientTls, Trust
from firebolt_operator.kube.translate import quoted

SUPPORTED_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
DEADLINE_SECONDS: Final = 60.0
REPEAT_AFTER_SECONDS: Final = 10.0  # a refused credential starts the program at most this often


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecCommand:
    api_version: str
    argv: tuple[str, ...]
    env: Mapping[str, str]  # the whole environment of the program
    install_hint: str = ""
    cluster: Mapping[str, Any] | None = None  # told to the program if it asked for it
    deadline_seconds: float = DEADLINE_SECONDS

    def exec_info(self) -> str:
        spec: dict[str, Any] = {"interactive": False}
        if self.cluster is not None:
            spec["cluster"] = self.cluster
        return json.dumps({"apiVersion": self.api_version, "kind": "ExecCredential", "spec": spec})

    def problem(self, what: str) -> str:
        hint = f" ({self.install_hint})" if self.install_hint else ""
        return f"credential program {self.argv[0]!r} {what}{hint}"


class _Issued(msgspec.Struct, frozen=True, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: datetime | None = None


class _ExecCredential(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    status: _Issued


@dataclass(slots=True)
class ExecPlugin:
    """An identity that a program hands out; kept until it expires or the server refuses it."""

    command: ExecCommand
    trust: Trust
    clock: Callable[[], float] = time.time
    _shown: Proof | None = None
    _expires_at: float | None = None  # None: only a refusal ends it
    _ran_at: float = float("-inf")
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    _plain_tls: ClientTls = field(init=False)  # one for all tokens: a new context would mean new connections
    _tls: ClientTls = field(init=False)  # of what is shown

    def __post_init__(self) -> None:
        self._plain_tls = self._tls = ClientTls(self.trust)

    async def proof(self) -> Proof:
        if (shown := self._still_good()) is not None:
            return shown
        async with self._one_at_a_time:
            return self._still_good() or await self._run()

    async def renew(self, rejected: Proof) -> bool:
        async with self._one_at_a_time:
            if self._shown is not rejected:
                return True
            if self.clock() - self._ran_at < REPEAT_AFTER_SECONDS:
                return False
            return await self._run() != rejected

    async def reread_authorities(self, proof: Proof) -> bool:
        has_others = self._tls.reread(proof.tls)
        if self._shown is not None:
            self._shown = replace(self._shown, tls=self._tls.context)
        return has_others

    def _still_good(self) -> Proof | None:
        if self._expires_at is not None and self.clock() >= self._expires_at:
            return None
        return self._shown

    async def _run(self) -> Proof:
        self._ran_at = self.clock()
        issued = _issued(self.command, await _output(self.command))
        pair = _key_pair(self.command, issued)
        self._tls = ClientTls(self.trust, pair) if pair else self._plain_tls
        self._shown = Proof(bearer(issued.token) if issued.token else "", self._tls.context)
        expires = issued.expiration_timestamp
        self._expires_at = expires.timestamp() if expires else None
        return self._shown


async def _output(command: ExecCommand) -> bytes:
    env = {**command.env, "KUBERNETES_EXEC_INFO": command.exec_info()}
    try:
        process = await asyncio.create_subprocess_exec(*command.argv, env=env, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)
    except OSError as err:
        raise ConfigurationError(command.problem(f"cannot be started: {err.strerror}")) from err
    try:
        async with asyncio.timeout(command.deadline_seconds):
            output, complaints = await process.communicate()
    except TimeoutError as err:
        raise TransientError(command.problem(f"did not answer within {command.deadline_seconds:g} s")) from err
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        raise TransientError(command.problem(f"failed with exit code {process.returncode}: {quoted(complaints)}"))
    return output


def _issued(command: ExecCommand, output: bytes) -> _Issued:
    try:
        credential = msgspec.json.decode(output, type=_ExecCredential)
    except Undecodable as err:
        raise ConfigurationError(command.problem(f"did not print an ExecCredential: {err}")) from err
    if credential.api_version != command.api_version:
        raise ConfigurationError(
            command.problem(f"printed {credential.api_version}, but the kubeconfig asks for {command.api_version}")
        )
    return credential.status


def _key_pair(command: ExecCommand, issued: _Issued) -> bytes | None:
    has_certificate = bool(issued.client_certificate_data)
    if has_certificate != bool(issued.client_key_data):
        raise ConfigurationError(command.problem("printed a certificate without its key, or a key alone"))
    if not has_certificate and not issued.token:
        raise ConfigurationError(command.problem("printed neither a token nor a certificate"))
    return f"{issued.client_certificate_data}\n{issued.client_key_data}\n".encode() if has_certificate else None
