"""Does somebody who has the pages and a cluster get from a checkout to a query, through an outage, and out again?"""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.environment import own_place
from tests.e2e.first_hour import NAME, PSQL, FirstHour, external_patch, instance_with_id, restore_elsewhere
from tests.e2e.leaks import assert_nothing_left, inventory
from tests.e2e.watching import watching
from tests.support.workloads import eventually

PARKED = "kubectl wait fireng/analytics --for=jsonpath='{.status.phase}'=stopped --timeout=150s"
SETTLED = "kubectl wait fireng/analytics --for=jsonpath='{.status.phase}'=stable --timeout=150s"
READY = "kubectl wait fire/demo fireng/analytics --for=condition=Ready --timeout=150s"
ASKED = "kubectl firebolt query analytics"
BROKEN = """kubectl patch fireng analytics --type=merge --patch \
'{"spec": {"template": {"spec": {"containers": [{"name": "engine", "image": "nowhere.invalid/engine:none"}]}}}}'"""
MENDED = """kubectl patch fireng analytics --type=merge --patch '{"spec": {"template": null}}'"""
UNINSTALL = "docs/upgrade.md:2"


@pytest.mark.timeout(2400)
@pytest.mark.usefixtures("may_run_containers")
async def test_given_a_checkout_and_a_cluster_when_the_pages_are_followed_then_all_of_it_works(tmp_path: Path) -> None:
    with own_place(NAME):
        hour = await asyncio.to_thread(FirstHour.begin, tmp_path)
        before = await asyncio.to_thread(inventory, hour.environment)
        for chapter in (_install, _query, _refused, _class, _rollout, _park_and_wake, _look_around):
            await _told(chapter, hour)
        await _alert(hour, tmp_path)
        for chapter in (_lose_and_restore, _move_out, _upgrade, _leave):
            await _told(chapter, hour)
        assert set(hour.blocks) == hour.done, "every block that needs real pods was run"
        await asyncio.to_thread(assert_nothing_left, hour.environment, before)


async def _told(chapter: Callable[[FirstHour], None], hour: FirstHour) -> None:
    print(f"==> {chapter.__name__.strip('_').replace('_', ' ')}", flush=True)
    await asyncio.to_thread(chapter, hour)


def _install(hour: FirstHour) -> None:
    hour.follow("README.md:4")
    hour.push()
    hour.follow("README.md:5", "docs/quickstart.md:2", "docs/quickstart.md:3", "docs/install.md:4")
    hour.type(READY)


def _query(hour: FirstHour) -> None:
    assert '"data":[[42]]' in re.sub(r"\s", "", hour.follow("docs/quickstart.md:4"))
    assert hour.follow("docs/quickstart.md:5") == "answer\n42\n"
    hour.write("report.sql", "SELECT 1 AS one")
    hour.follow("docs/kubectl-firebolt.md:5", "docs/object-storage.md:4")
    hour.follow("docs/clients.md:1", "docs/instances.md:12", GATEWAY=hour.gateway())


def _refused(hour: FirstHour) -> None:
    hour.write_files_of("admission.md")
    assert "denied the request" in hour.type("! kubectl apply -f engine.yaml")


def _class(hour: FirstHour) -> None:
    hour.type("kubectl apply -f examples/engine-class.yaml")
    hour.type("kubectl wait fireng/reports --for=condition=Ready --timeout=150s")
    assert hour.type("kubectl get fireng -o custom-columns=NAME:.metadata.name,CLASS:.spec.engineClassRef").split() == [
        *("NAME", "CLASS", "analytics", "<none>", "reports", "small")
    ]
    assert "reports" in hour.type("! kubectl delete fireboltengineclass small && kubectl get fireng reports")
    hour.type("kubectl delete fireng reports; kubectl delete fireboltengineclass small --wait=false")


def _rollout(hour: FirstHour) -> None:
    """In one window and in another."""
    told = hour.type(
        "kubectl firebolt record analytics --until-settled > recorded.txt &\n"
        "until command grep -q stable recorded.txt; do sleep 0.2; done\n"
        "kubectl scale fireng/analytics --replicas=3\n"
        "kubectl firebolt status analytics\n"
        "wait; cat recorded.txt"
    )
    assert "serving 3/3" in told
    assert "analytics: 2 generations, 5 pods" in (hour.desk.files / "analytics.html").read_text()


def _park_and_wake(hour: FirstHour) -> None:
    example = (hour.desk.files / "examples/engine-auto-stop.yaml").read_text()
    # As the example says, but for somebody who has not got twenty minutes, at any hour of the week.
    hurried = re.sub(
        r"    timeZone.*?\n(?=  custom)", "", example.replace("20m", "10s\n    pollInterval: 2s"), flags=re.DOTALL
    )
    hour.write("hurried.yaml", hurried)
    hour.type(f"kubectl apply -f hurried.yaml; {PARKED}")
    assert hour.type(f"{ASKED} 'SELECT 42 AS answer'") == "answer\n42\n"
    hour.type('kubectl patch fireng analytics --type=merge --patch \'{"spec": {"autoStop": null}}\'')
    hour.type(f"kubectl scale fireng/analytics --replicas=2; {SETTLED}; {READY}")


def _look_around(hour: FirstHour) -> None:
    later = [
        name for name in hour.blocks if name.startswith(("docs/backup.md", "docs/upgrade.md", "docs/instances.md"))
    ]
    hour.type("kubectl get pods --all-namespaces")
    generation = hour.get("fireng analytics", "{.status.activeGeneration}")
    hour.follow_the_rest_but(*later, GENERATION=f"g{generation}")
    assert "stack" in hour.type("kubectl logs --namespace firebolt-system deployment/firebolt-operator | grep -i stack")


async def _alert(hour: FirstHour, folder: Path) -> None:
    with watching(hour.environment, folder) as watch:
        await watch.until_scraped()
        await asyncio.to_thread(hour.type, BROKEN)
        await watch.until_firing("FireboltEngineNotReady")
        assert "nowhere.invalid" in await asyncio.to_thread(hour.type, "kubectl firebolt explain analytics")
        # A rollout that cannot come up takes nothing from what serves.
        assert await asyncio.to_thread(hour.type, f"{ASKED} 'SELECT 1 AS one'") == "one\n1\n"
        await asyncio.to_thread(hour.type, f"{MENDED}; {SETTLED}; {READY}")
        await watch.until_silent("FireboltEngineNotReady")


def _lose_and_restore(hour: FirstHour) -> None:
    in_database = f"kubectl exec demo-metadata-pg-0 -- {PSQL}"
    hour.type(f"{in_database} \"CREATE TABLE kept (word text); INSERT INTO kept VALUES ('remember')\"")
    identity = hour.get("fire demo", "{.spec.id}")
    hour.follow("docs/backup.md:1")
    # Its credentials are lost, and put back by the page.
    password = hour.type("kubectl exec demo-metadata-pg-0 -- printenv POSTGRES_PASSWORD").strip()
    hour.type("kubectl delete secret demo-metadata-postgres-creds")
    hour.type("kubectl wait fire/demo --for=jsonpath='{.status.phase}'=Failed --timeout=150s")
    hour.follow("docs/instances.md:7", KEPT=f"password={password}")
    hour.type(READY)
    # All of it is lost.
    hour.type("kubectl firebolt engine stop analytics; kubectl delete fire demo --timeout=150s")
    hour.type("kubectl wait --for=delete pvc/data-demo-metadata-pg-0 --timeout=150s")
    hour.write("again.yaml", instance_with_id(identity))
    hour.type("kubectl apply -f again.yaml; kubectl wait fire/demo --for=condition=Ready --timeout=150s")
    hour.follow("docs/backup.md:3", "docs/backup.md:4", "docs/backup.md:5")
    assert hour.type(f"{in_database} 'SELECT word FROM kept'") == "remember\n"
    assert hour.type(f"{READY} >/dev/null; {ASKED} 'SELECT 1 AS one'") == "one\n1\n"


def _move_out(hour: FirstHour) -> None:
    """From the internal database to another."""
    hour.external_server()
    hour.follow("docs/backup.md:6")
    hour.type("kubectl firebolt engine stop analytics")
    hour.type("kubectl create job --from=cronjob/demo-metadata-backup last-backup")
    hour.type("kubectl wait --for=condition=complete job/last-backup --timeout=150s")
    hour.write("move.yaml", restore_elsewhere())
    hour.type("kubectl apply -f move.yaml; kubectl wait --for=condition=complete job/demo-metadata-move --timeout=150s")
    hour.write("demo-postgres.json", external_patch())
    hour.follow("docs/backup.md:8")
    hour.type(f"kubectl firebolt engine start analytics --replicas 2; {READY}")
    assert hour.type(f"kubectl exec elsewhere -- {PSQL} 'SELECT word FROM kept'") == "remember\n"
    assert hour.type(f"{ASKED} 'SELECT 1 AS one'") == "one\n1\n"
    # The way back.
    hour.type('kubectl patch fire demo --type=merge --patch \'{"spec": {"metadata": {"postgres": null}}}\'')
    hour.type(READY)


def _upgrade(hour: FirstHour) -> None:
    hour.follow("docs/upgrade.md:1")
    hour.type("helm rollback firebolt-operator --namespace firebolt-system --wait")
    hour.type(f"kubectl scale fireng/analytics --replicas=1; {SETTLED}; {READY}")
    assert hour.type(f"{ASKED} 'SELECT 1 AS one'") == "one\n1\n"


def _leave(hour: FirstHour) -> None:
    hour.follow(UNINSTALL)
    hour.type("kubectl delete namespace firebolt firebolt-system --timeout=150s")
    eventually(lambda: "firebolt" not in hour.type("kubectl get namespaces --output=name"), seconds=90)
