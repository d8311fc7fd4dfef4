"""With which flags does each program of the control plane run? Pure: options in, command lines out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from firebolt_local.cluster import scrape
from firebolt_local.cluster.pki import KeyPair
from firebolt_local.cluster.ports import LOOPBACK
from firebolt_operator.refs import Manifest

ETCD = "etcd"
APISERVER = "kube-apiserver"
CONTROLLER_MANAGER = "kube-controller-manager"
SCHEDULER = "kube-scheduler"

SERVICE_RANGE = "10.96.0.0/16"
ETCD_SOCKET = "etcd.sock"
# A single member never dials its peers, but etcd insists on an address with a port.
_NO_PEER = "http://127.0.0.1:1"
_GIBIBYTE = 1024**3

AUDIT_POLICY: Manifest = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}

# The way to pods ends at a socket file, where the scrape server answers for simulated ones: the API server would refuse
# to dial a loopback address, and any other would need a network namespace, thus root.
PODS_EGRESS: Manifest = {
    "apiVersion": "apiserver.k8s.io/v1beta1",
    "kind": "EgressSelectorConfiguration",
    "egressSelections": [
        {
            "name": "cluster",
            "connection": {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": scrape.SOCKET}}},
        }
    ],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What kind of control plane; the defaults suit API tests."""

    folder: Path
    controllers: tuple[str, ...] = ("*",)  # as the controller-manager's own flag: "*", "name", "-name"; empty: none
    scheduler: bool = True
    simulated_pods: bool = False  # send the API server's traffic to pods to the scrape server
    bind_address: str = LOOPBACK
    port: int | None = None  # None: any that is free
    server_names: tuple[str, ...] = ()  # more names and addresses for the API server's certificate
    service_range: str = SERVICE_RANGE
    prefix: tuple[str, ...] = ()  # put before every command line; see Launch.prefix
    benchmark_limits: bool = False  # raise the controllers' own limits, or they are what gets measured
    extra_flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])  # by program
    dies_with_parent: bool = True  # of the thread that starts it; a command that returns says False


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """What the flags point at."""

    data: Path
    audit_policy: Path
    audit_log: Path
    egress: Path
    authority: KeyPair
    server: KeyPair
    kubelet_client: KeyPair
    service_account_key: Path
    service_account_public_key: Path


def etcd_flags(files: Files) -> list[str]:
    return [
        "--name=local",
        f"--data-dir={files.data}",
        "--unsafe-no-fsync",
        f"--quota-backend-bytes={8 * _GIBIBYTE}",
        f"--listen-client-urls=unix://{ETCD_SOCKET}",
        f"--advertise-client-urls={_NO_PEER}",
        "--listen-peer-urls=unix://etcd-peer.sock",
        f"--initial-advertise-peer-urls={_NO_PEER}",
        f"--initial-cluster=local={_NO_PEER}",
        "--log-level=warn",
    ]


def apiserver_flags(options: Options, files: Files, port: int) -> list[str]:
    return [
        f"--etcd-servers=unix://{ETCD_SOCKET}",
        f"--bind-address={options.bind_address}",
        f"--advertise-address={options.bind_address}",
        # Endpoints of the "kubernetes" Service may not be loopback; nobody there needs them.
        *(["--endpoint-reconciler-type=none"] if options.bind_address == LOOPBACK else ()),
        f"--secure-port={port}",
        f"--service-cluster-ip-range={options.service_range}",
        f"--client-ca-file={files.authority.certificate}",
        f"--tls-cert-file={files.server.certificate}",
        f"--tls-private-key-file={files.server.key}",
        f"--kubelet-client-certificate={files.kubelet_client.certificate}",
        f"--kubelet-client-key={files.kubelet_client.key}",
        f"--kubelet-certificate-authority={files.authority.certificate}",
        "--kubelet-preferred-address-types=InternalIP",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-signing-key-file={files.service_account_key}",
        f"--service-account-key-file={files.service_account_public_key}",
        "--authorization-mode=Node,RBAC",
        "--allow-privileged=true",
        f"--audit-policy-file={files.audit_policy}",
        f"--audit-log-path={files.audit_log}",
        # Never rotate: request counts are taken from one file.
        "--audit-log-maxsize=1000000",
        *([f"--egress-selector-config-file={files.egress}"] if options.simulated_pods else ()),
        *(_APISERVER_BENCHMARK if options.benchmark_limits else ()),
        *options.extra_flags.get(APISERVER, ()),
    ]


def controller_manager_flags(options: Options, files: Files, kubeconfig: Path) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        f"--controllers={','.join(options.controllers)}",
        f"--service-account-private-key-file={files.service_account_key}",
        f"--root-ca-file={files.authority.certificate}",
        # It makes this folder, by default one of the machine's own.
        "--flex-volume-plugin-dir=volume-plugins",
        *(_CONTROLLER_BENCHMARK if options.benchmark_limits else ()),
        *options.extra_flags.get(CONTROLLER_MANAGER, ()),
    ]


def scheduler_flags(options: Options, kubeconfig: Path) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--secure-port=0",
        *(_CLIENT_BENCHMARK if options.benchmark_limits else ()),
        *options.extra_flags.get(SCHEDULER, ()),
    ]


_CLIENT_BENCHMARK = ("--kube-api-qps=1000", "--kube-api-burst=2000")
_CONTROLLER_BENCHMARK = (
    *_CLIENT_BENCHMARK,
    "--concurrent-statefulset-syncs=20",
    "--concurrent-deployment-syncs=20",
)
_APISERVER_BENCHMARK = ("--max-requests-inflight=2000", "--max-mutating-requests-inflight=1000")
