"""An engine executes SQL for real and answers as Firebolt's clients expect."""

import asyncio
import json
from pathlib import Path

from tests.support.standins.programs import EngineProcess, engine_document, eventually, running_engine
from tests.unit.local.standins.conftest import MetadataHealth

RUNNING = "firebolt_running_queries"
SUSPENDED = "firebolt_suspended_queries"
ENDLESS = "SELECT count(*) FROM range(1000000000000) a(i) WHERE i % 7 = 3"
WRONG_QUERIES = {
    "SELEC 1": "syntax error",
    "SELECT * FROM missing": "missing does not exist",
    "SELECT 'x'::int": "Could not convert",
    "SELECT * FROM read_csv('/etc/passwd')": "disabled",  # the pod's own files
    "  ": "the query is empty",
    "-- nothing": "the query is empty",
}


async def test_given_a_query_then_columns_rows_and_totals_are_answered(engine: EngineProcess) -> None:
    sql = (
        "SELECT 1::int AS i, 2::bigint AS l, 1.5::double AS d, 1.50::decimal(10,2) AS m, 'x' AS t, true AS b, "
        "date '2026-05-01' AS day, timestamp '2026-05-01 12:00:00.5' AS at, "
        "timestamptz '2026-05-01 12:00:00+00' AS tz, "
        "[1, NULL] AS a, 'ab'::blob AS y, NULL::int AS n, 170141183460469231731687303715884105727 AS h"
    )
    status, body = await engine.sql(sql, database="shop", output_format="JSON_Compact", engine="sales")
    answer = json.loads(body)
    assert status == 200
    assert {column["name"]: column["type"] for column in answer["meta"]} == {
        "i": "int",
        "l": "long",
        "d": "double",
        "m": "Decimal(10, 2)",
        "t": "text",
        "b": "boolean",
        "day": "date",
        "at": "timestampntz",
        "tz": "timestamptz",
        "a": "array(int)",
        "y": "bytea",
        "n": "int",
        "h": "Decimal(38, 0)",
    }
    (row,) = answer["data"]
    # The time zone of the answer is the machine's.
    assert row[:8] + row[9:] == [
        1,
        2,
        1.5,
        "1.50",
        "x",
        True,
        "2026-05-01",
        "2026-05-01 12:00:00.500000",
        [1, None],
        "\\x6162",
        None,
        "170141183460469231731687303715884105727",
    ]
    assert answer["rows"] == 1
    assert answer["statistics"]["elapsed"] >= 0


async def test_given_tables_when_queried_later_then_their_rows_are_there(engine: EngineProcess) -> None:
    status, body = await engine.sql("CREATE TABLE t (a int)")
    assert (status, json.loads(body)["meta"], json.loads(body)["data"]) == (200, [], [])
    assert await engine.rows("INSERT INTO t SELECT * FROM range(2500)") == []
    assert await engine.rows("SELECT count(*), sum(a) FROM t") == [[2500, "3123750"]]
    async with engine.session.get(engine.url, params={"query": "SELECT max(a) FROM t"}) as response:
        assert json.loads(await response.text())["data"] == [[2499]]


async def test_given_a_wrong_query_then_the_answer_says_what_is_wrong(engine: EngineProcess) -> None:
    for sql, expected in WRONG_QUERIES.items():
        status, body = await engine.sql(sql)
        assert (status, expected in body) == (400, True), body
    assert await engine.sql("SELECT 1", output_format="CSV") == (
        400,
        "unknown output_format 'CSV'; this stand-in knows JSON_Compact\n",
    )
    assert await engine.measure(RUNNING) == 0


async def test_given_a_long_result_then_it_is_streamed_and_a_slow_client_counts_as_suspended(
    engine: EngineProcess,
) -> None:
    async with engine.session.post(engine.url, data="SELECT i, i::text FROM range(50000000) t(i)") as response:
        assert response.headers["Transfer-Encoding"] == "chunked"
        assert await response.content.readexactly(8) == b'{"meta":'
        await engine.until(SUSPENDED, 1)
        assert await engine.measure(RUNNING) == 0
        assert _peak_memory_mb(engine.process.pid) < 300
        response.close()  # with most of the rows unread
    await engine.until(SUSPENDED, 0)
    await engine.until("firebolt_queries_cancelled_total", 1)


async def test_given_a_client_that_goes_away_then_its_query_is_cancelled(engine: EngineProcess) -> None:
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(engine.sql(ENDLESS))
        await engine.until(RUNNING, 1)
        asking.cancel()
    await engine.until(RUNNING, 0)
    assert await engine.measure("firebolt_queries_cancelled_total") == 1
    assert await engine.rows("SELECT 1") == [[1]]


async def test_given_more_queries_than_slots_then_the_rest_wait(
    tmp_path: Path, metadata_health: MetadataHealth
) -> None:
    settings = {"STANDIN_QUERY_SLOTS": "2"}
    document = engine_document(metadata_health.port)
    async with running_engine(tmp_path, document, environment=settings) as engine:
        await eventually(engine.is_ready, "the engine is ready")
        loop = asyncio.get_running_loop()
        started_at = loop.time()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(engine.rows("SELECT sleep(0.5)")) for _ in range(3)]
            await engine.until(RUNNING, 3)
        assert [task.result() for task in tasks] == [[[0]]] * 3
        assert loop.time() - started_at >= 1.0


def _peak_memory_mb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) // 1024
