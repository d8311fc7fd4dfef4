"""Does a backup bring a lost instance back? The examples run as they are, in real pods."""

import asyncio
import json
import secrets
from pathlib import Path

from firebolt_operator.api.names import postgres_name
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.refs import Ref
from tests.e2e.environment import INSTANCE
from tests.e2e.scenario import Scenario

EXAMPLES = Path(__file__).parents[2] / "examples"
WRITE = "CREATE TABLE kept (word text); INSERT INTO kept VALUES ('remember')"
READ = "SELECT account_id || ' ' || word FROM pensieve_account, kept"
COMPLETE = ("--for=condition=complete", "--timeout=120s")


async def test_given_a_backup_when_its_instance_is_lost_then_a_new_one_holds_the_same(scenario: Scenario) -> None:
    namespace, environment = f"backup-{secrets.token_hex(3)}", scenario.environment

    async def kubectl(*words: str, stdin: str | None = None) -> str:
        return await asyncio.to_thread(environment.kubectl, f"--namespace={namespace}", *words, stdin=stdin)

    async def psql(statement: str) -> str:
        words = ("psql", "-U", "firebolt", "-d", "firebolt_metadata", "-Atc", statement)
        return (await kubectl("exec", f"{postgres_name(INSTANCE)}-0", "--", *words)).strip()

    await asyncio.to_thread(environment.make_namespace, namespace)
    await asyncio.to_thread(environment.make_instance, namespace)
    lost = json.loads(await kubectl("get", "fire", INSTANCE, "--output=json"))
    await psql(WRITE)
    await kubectl("apply", "-f", "-", stdin=_example("backup.yaml"))
    await kubectl("create", "job", f"--from=cronjob/{INSTANCE}-metadata-backup", "first")
    await kubectl("wait", *COMPLETE, "job/first")
    await scenario.delete(Ref(FIREBOLT_INSTANCES, namespace, INSTANCE))
    await kubectl("wait", "--for=delete", "--timeout=120s", f"fire/{INSTANCE}", f"pvc/data-{postgres_name(INSTANCE)}-0")

    spec = {"id": lost["spec"]["id"], "metadata": {}, "gateway": {}}
    manifest = {key: lost[key] for key in ("apiVersion", "kind")} | {"metadata": {"name": INSTANCE}, "spec": spec}
    await kubectl("apply", "-f", "-", stdin=json.dumps(manifest))
    await asyncio.to_thread(environment.wait_for_instance, namespace)
    await kubectl("apply", "-f", "-", stdin=_example("restore.yaml"))
    await kubectl("wait", *COMPLETE, f"job/{INSTANCE}-metadata-restore")
    await kubectl("rollout", "restart", f"deployment/{INSTANCE}-metadata")
    await kubectl("rollout", "status", f"deployment/{INSTANCE}-metadata", "--timeout=120s")
    await asyncio.to_thread(environment.wait_for_instance, namespace)
    assert await psql(READ) == f"{lost['spec']['id']} remember"
    await scenario.delete(Ref(FIREBOLT_INSTANCES, namespace, INSTANCE))
    await asyncio.to_thread(environment.kubectl, "delete", "namespace", namespace, "--timeout=120s")


def _example(name: str) -> str:
    return (EXAMPLES / name).read_text().replace("demo-", f"{INSTANCE}-")
