"""How does a real control plane come up on loopback within seconds, and go away without a trace?"""

import hashlib
import http.client
import json
import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path

from firebolt_local.cluster import components, processes
from firebolt_local.cluster.components import APISERVER, CONTROLLER_MANAGER, ETCD, SCHEDULER, Files, Options
from firebolt_local.cluster.kube_http import KubeHttp
from firebolt_local.cluster.kubeconfig import Access, write_kubeconfig
from firebolt_local.cluster.pki import Authority, KeyPair, Subject, service_account_keys
from firebolt_local.cluster.ports import LOOPBACK, free_port
from firebolt_local.cluster.processes import Launch, ProcessRecord
from firebolt_local.cluster.unix_http import unix_request
from firebolt_local.errors import LocalError, PortTakenError

__all__ = ["ControlPlane", "Options"]

MASTERS = "system:masters"
_START_SECONDS = 120
_LOOK_AGAIN_SECONDS = 0.05
_PORT_ATTEMPTS = 5
# These programs live for minutes and collect garbage all the time: let it pile up a little (about 1 GB, not 0.6, for an
# API server), and a sixth of the processor time of all tests on control planes is saved.
_GARBAGE_PERCENT = "400"
_SERVER_NAMES = (LOOPBACK, "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


class ControlPlane:
    """etcd, API server, controllers and scheduler of one cluster; `start` returns when the cluster is usable."""

    def __init__(self, options: Options, programs: Mapping[str, Path]) -> None:
        self.options = options
        self.folder = options.folder.resolve()
        self.audit_log = self.folder / "audit.log"
        self._programs = programs
        self._running: dict[str, ProcessRecord] = {}
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._authority = Authority(self.folder / "pki")
        self.ca_file = self._authority.pair.certificate
        self._files = self._write_files()
        self._use_port(options.port or free_port())

    def start(self) -> "ControlPlane":
        try:
            self._start_with_a_free_port()
            self.wait_until(self._has_default_service_account, "the controllers to work")
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End everything at once: nothing here is worth a graceful goodbye, and the API server takes seconds for it."""
        # Also by their own records: an interruption may have come before we knew what had been started.
        recorded = processes.read_records(self.folder).values()
        stubborn = processes.kill(list({*self._running.values(), *recorded}))
        self._running.clear()
        shutil.rmtree(self._files.data, ignore_errors=True)
        if stubborn:
            raise LocalError(f"processes {[record.pid for record in stubborn]} did not end; reboot or kill them")

    def kubeconfig_for(self, user: str, groups: tuple[str, ...] = (MASTERS,)) -> Path:
        """A kubeconfig with a certificate of its own, so that the audit log tells this actor from others."""
        file_name = _file_name(user)
        pair = self._authority.issue(file_name, Subject(user, groups))
        path = self.folder / f"{file_name}.kubeconfig"
        return write_kubeconfig(path, Access(self.server, self.ca_file, pair), user)

    def kill_apiserver(self) -> None:
        """SIGKILL: requests in flight get no answer, clients see a reset."""
        if record := self._running.pop(APISERVER, None):
            processes.kill([record])

    def start_apiserver(self) -> None:
        """Again on the same data and the same port; returns when it is ready."""
        self._start_program(APISERVER, components.apiserver_flags(self.options, self._files, self.port))
        self.wait_until(self.http.is_ready, "the API server")

    def compact_etcd(self) -> None:
        """Forget all history: a watch from before gets 410. For a control plane of one's own: connections break."""
        revision = int(self._etcd("/v3/kv/range", {"key": "AA=="})["header"]["revision"])
        self._etcd("/v3/kv/compaction", {"revision": revision, "physical": True})
        # Its watch cache would still remember what etcd forgot.
        self.kill_apiserver()
        self.start_apiserver()

    def back_up(self) -> Path:
        """Everything that the cluster knows now, for `restore`. For a control plane of one's own: connections break."""
        copy = self.folder / f"backup-{secrets.token_hex(3)}"
        with self._without_data():
            shutil.copytree(self._files.data, copy)
        return copy

    def restore(self, backup: Path) -> None:
        """Go back to it, as people do after a disaster: objects and versions are what they were."""
        with self._without_data():
            shutil.rmtree(self._files.data)
            shutil.copytree(backup, self._files.data)

    @contextmanager
    def _without_data(self) -> Generator[None]:
        """Nobody holds the data while the block runs."""
        self.kill_apiserver()
        processes.kill([self._running.pop(ETCD)])
        yield
        self._start_etcd()
        self.start_apiserver()

    def launch(self, name: str, command: Sequence[str]) -> ProcessRecord:
        """Run one more program beside the cluster; it is recorded and stopped with it."""
        # Nothing of the caller's environment: a proxy setting would send the cluster's own traffic elsewhere.
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.folder),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "GOGC": _GARBAGE_PERCENT,
        }
        return self.launch_with(
            Launch(
                name=name,
                command=command,
                folder=self.folder,
                environment=environment,
                dies_with_parent=self.options.dies_with_parent,
                prefix=self.options.prefix,
            )
        )

    def launch_with(self, launch: Launch) -> ProcessRecord:
        """The same, with an environment and a place of its own."""
        record = processes.start(launch)
        self._running[launch.name] = record
        return record

    def issue(self, file_name: str, subject: Subject) -> KeyPair:
        """A certificate that this cluster trusts."""
        return self._authority.issue(file_name, subject)

    def log_file(self, name: str) -> Path:
        return self.folder / processes.LOGS / f"{name}.log"

    def wait_until(self, is_there: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not is_there():
            self._raise_if_one_died()
            if time.monotonic() > deadline:
                raise LocalError(f"gave up waiting for {what} after {_START_SECONDS} s; see {self.folder / 'logs'}")
            time.sleep(_LOOK_AGAIN_SECONDS)

    def _use_port(self, port: int) -> None:
        self.port = port
        self.server = f"https://{self.options.bind_address}:{port}"
        self._admin = self._authority.issue("admin", Subject("admin", (MASTERS,)))
        access = Access(self.server, self.ca_file, self._admin)
        self.kubeconfig = write_kubeconfig(self.folder / "admin.kubeconfig", access, "admin")
        self.http = KubeHttp.with_certificate(self.server, self.ca_file, self._admin)

    def _write_files(self) -> Files:
        policy = self.folder / "audit-policy.json"
        policy.write_text(json.dumps(components.AUDIT_POLICY))
        egress = self.folder / "egress.json"
        egress.write_text(json.dumps(components.PODS_EGRESS))
        private, public = service_account_keys(self._authority.folder)
        service = str(ip_network(self.options.service_range)[1])
        names = (*_SERVER_NAMES, service, self.options.bind_address, *self.options.server_names)
        return Files(
            data=self.folder / "etcd",
            audit_policy=policy,
            audit_log=self.audit_log,
            egress=egress,
            authority=self._authority.pair,
            server=self._authority.issue("apiserver", Subject("kube-apiserver", hosts=tuple(dict.fromkeys(names)))),
            kubelet_client=self._authority.issue("kubelet-client", Subject("kubelet-client", (MASTERS,))),
            service_account_key=private,
            service_account_public_key=public,
        )

    def _start_etcd(self) -> None:
        """An API server ends by itself when etcd does not answer it within twenty seconds."""
        self._start_program(ETCD, components.etcd_flags(self._files))
        self.wait_until(self._is_etcd_there, "etcd")

    def _is_etcd_there(self) -> bool:
        try:
            return unix_request(self.folder / components.ETCD_SOCKET, "GET", "/health")[0] == http.client.OK
        except OSError:
            return False

    def _start_with_a_free_port(self) -> None:
        self._start_etcd()
        attempts = 1 if self.options.port else _PORT_ATTEMPTS
        for attempt in range(1, attempts + 1):
            try:
                self._start_clients_of_port()
            except PortTakenError:
                if attempt == attempts:
                    raise
                self._kill_clients_of_port()
                self._use_port(free_port())
            else:
                return

    def _start_clients_of_port(self) -> None:
        self._start_program(APISERVER, components.apiserver_flags(self.options, self._files, self.port))
        self.wait_until(self.http.is_ready, "the API server")
        if self.options.controllers:
            kubeconfig = self.kubeconfig_for("system:kube-controller-manager")
            self._start_program(
                CONTROLLER_MANAGER, components.controller_manager_flags(self.options, self._files, kubeconfig)
            )
        if self.options.scheduler:
            kubeconfig = self.kubeconfig_for("system:kube-scheduler")
            self._start_program(SCHEDULER, components.scheduler_flags(self.options, kubeconfig))

    def _kill_clients_of_port(self) -> None:
        names = [name for name in (APISERVER, CONTROLLER_MANAGER, SCHEDULER) if name in self._running]
        processes.kill([self._running.pop(name) for name in names])

    def _start_program(self, name: str, flags: Sequence[str]) -> None:
        self.launch(name, [str(self._programs[name]), *flags])

    def _raise_if_one_died(self) -> None:
        for name, record in self._running.items():
            if record.is_alive():
                continue
            log = self.log_file(name).read_text(errors="replace")
            if "address already in use" in log:
                raise PortTakenError(f"port {self.port} is taken by another process; end that, or choose another port")
            last_line = log.strip().rpartition("\n")[2]
            raise LocalError(f"{name} ended by itself, see {self.log_file(name)}: {last_line}")

    def _has_default_service_account(self) -> bool:
        if not self.options.controllers:
            return True
        status, _ = self.http.text("GET", "/api/v1/namespaces/default/serviceaccounts/default")
        return status == http.client.OK

    def _etcd(self, path: str, body: Mapping[str, object]) -> "dict[str, dict[str, str]]":
        status, answer = unix_request(self.folder / components.ETCD_SOCKET, "POST", path, body)
        if status != http.client.OK:
            raise LocalError(f"etcd refused {path}: {answer.decode()}")
        parsed: dict[str, dict[str, str]] = json.loads(answer)
        return parsed


def _file_name(user: str) -> str:
    """Different users never share a file, whatever characters their names have."""
    plain = re.sub(r"[^A-Za-z0-9.-]", "_", user)
    return f"user-{user}" if plain == user else f"user-{plain}-{hashlib.sha256(user.encode()).hexdigest()[:8]}"
