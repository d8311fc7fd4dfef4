"""What is a person told: at the end, when a step fails, when there is no root, and on the page?"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from firebolt_local.demo.secured import ADMIN, Door
from firebolt_local.packaged import packaged
from firebolt_local.testing.installer import NAMESPACE as OPERATOR_NAMESPACE
from firebolt_local.testing.installer import RELEASE, WHY_SETTLE
from kubectl_firebolt.picture.answers import spoken, totals
from kubectl_firebolt.picture.recording import Highlight, Recording, longest_tail

KICKER: Final = "firebolt-operator demo"
SINCE: Final = "the instance was created"
STORY: Final = "an engine went from 2 to 3 nodes, got a new image, was parked when nobody asked, and woken by a query."


@dataclass(frozen=True, slots=True, kw_only=True)
class Commands:
    """As the person has to type them."""

    demo: str
    simulated: str
    clean: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a person finds things afterwards."""

    kubeconfig: Path
    kubectl: Path
    page: Path
    engine: str
    commands: Commands


def commands(environment: Mapping[str, str]) -> Commands:
    """Of make, if it is what started us; with sudo, if that did: what root has started only root can end."""
    sudo = "sudo " if "SUDO_USER" in environment else ""
    if "MAKELEVEL" in environment:
        return Commands(demo=f"{sudo}make demo", simulated="make demo-simulated", clean=f"{sudo}make demo-clean")
    program = "firebolt-local demo"
    return Commands(demo=f"{sudo}{program}", simulated=f"{program} --simulated", clean=f"{sudo}{program} --clean")


def example(name: str) -> Path:
    return packaged("firebolt_local.demo", "examples", name)


def needs_root(packages: list[str], typed: Commands) -> str:
    installs = f"It would also install {', '.join(packages)}.\n" if packages else ""
    return f"""The demo with real containers needs root: it makes network and mount namespaces and cgroups for its
one node, which {typed.clean} removes again.
{installs}Run it with: sudo {typed.demo}

Going on without root, with simulated pods (the same as {typed.simulated}).
"""


def facts(version: str, processors: int, *, is_secure: bool = False) -> list[str]:
    secured = "cert-manager's controllers, too. Clients verified the gateway's certificate and presented tokens."
    return [
        f"Kubernetes {version} with one node, on {processors} processors that also made the load.",
        "The operator, its wake agent, PostgreSQL and Envoy are the real programs.",
        *([secured] if is_secure else []),
        "The engine, the metadata service and the UI are stand-ins; the engine executes SQL with DuckDB.",
        f"One value of the chart was set: {WHY_SETTLE}.",
    ]


def highlights(recording: Recording, *, woken_after: float | None) -> list[Highlight]:
    woken = "" if woken_after is None else spoken(woken_after)
    return [
        Highlight(value=woken or "not yet", label="from parked to answered"),
        Highlight(value=spoken(longest_tail(recording)), label="from a switch to the last query for old pods"),
    ]


def tries(place: Place) -> list[str]:
    return [
        f"export KUBECONFIG={place.kubeconfig}",
        f"alias kubectl={place.kubectl}",
        f"kubectl describe fireng {place.engine}",
        "kubectl get events --sort-by .lastTimestamp",
        f"kubectl logs -n {OPERATOR_NAMESPACE} deploy/{RELEASE} --tail 50",
        f"file://{place.page}    # what happened until then",
        f"{place.commands.demo:<28} # again; it begins afresh",
        f"{place.commands.clean:<28} # removes everything",
    ]


def ending(recording: Recording, place: Place, door: Door, *, seconds: float) -> str:
    return f"""
{totals(recording.answers)}; {seconds:.0f} s in all.
The picture of it: file://{place.page}

The cluster and the operator go on running. Try:

  export KUBECONFIG={place.kubeconfig}
  alias kubectl={place.kubectl}
  kubectl get firebolt -o wide                        # instances, engines, classes at a glance
  kubectl describe fireng {place.engine}                    # what is true of an engine, and why
{_asking(place, door)}
  kubectl scale fireng {place.engine} --replicas 4          # a new generation of four nodes
  kubectl scale fireng {place.engine} --replicas 0          # parked; the next curl wakes it
  kubectl apply -f {example("engine-class.yaml")}    # defaults that several engines share
  kubectl delete pods -n {OPERATOR_NAMESPACE} --all           # during a rollout: the next operator goes on where it was

Clean up with: {place.commands.clean}"""


def _asking(place: Place, door: Door) -> str:
    header = f"-H 'X-Firebolt-Engine: {place.engine}'"
    if not door.hosts:
        return f"  curl {door.url} {header} -d 'SELECT 42'"
    (host,) = door.hosts
    port = urlsplit(door.url).port
    ask = f"curl --cacert ca.crt --resolve {host}:{port}:{door.address} {header}"
    resource = "https://firebolt.io/instance/$(kubectl get fire demo -o jsonpath='{.spec.id}')"
    return rf"""  kubectl get secret demo-gateway-tls -o jsonpath='{{.data.ca\.crt}}' | base64 --decode > ca.crt
  PASSWORD=$(kubectl get secret {ADMIN} -o jsonpath='{{.data.password}}' | base64 --decode)
  TOKEN=$({ask} {door.url}oauth/token -s -d grant_type=client_credentials -d client_id=firebolt \
    --data-urlencode "client_secret=$PASSWORD" -d "resource={resource}" | sed 's/.*access_token": *"\([^"]*\).*/\1/')
  {ask} -H "Authorization: Bearer $TOKEN" {door.url} -d 'SELECT 42'"""
