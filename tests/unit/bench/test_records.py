"""Does a benchmark's record survive, and can two of them be drawn beside each other?"""

from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bench.compare import drawn
from bench.support.audit import AuditLog
from bench.support.record import Record, read_record
from bench.support.report import Report

NOON = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)


def a_report(seconds: float) -> Report:
    report = Report()
    report.add("created to stable", seconds, 1.8, "s", floor=20.0)
    report.add("requests for each creation", 14.0, 10)
    report.add("a write, median", 0.01, None, "s")
    return report


def a_record(seconds: float) -> Record:
    return Record(benchmark="engines", engines=500, began=NOON, revision="abc", cores=2, rows=a_report(seconds).rows)


def test_a_record_is_read_as_it_was_kept(tmp_path: Path) -> None:
    record = a_record(30.0)
    record.keep(tmp_path / "new" / "record.json", a_report(40.0))
    assert read_record(tmp_path / "new" / "record.json") == a_record(40.0)


def test_what_has_a_floor_is_judged_by_how_many_floors_it_took(capsys: pytest.CaptureFixture[str]) -> None:
    a_report(30.0).show()
    told = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in told if "created" in line or "requests" in line] == ["ok", "MISSED"]
    assert "1.50" in next(line for line in told if "created" in line)


def test_two_records_are_drawn_by_their_targets() -> None:
    picture = ET.fromstring(drawn(a_record(72.0), a_record(18.0)))
    texts = ["".join(each.itertext()) for each in picture.iter() if each.tag.endswith("text")]
    assert "72.00 s = 3.60 floors" in texts
    assert "18.00 s = 0.90 floors" in texts
    assert not any("median" in text for text in texts)
    widths = [float(each.get("width", "0")) for each in picture.iter() if each.get("rx")]
    assert widths[0] == pytest.approx(4 * widths[1], abs=0.2)


def an_entry(number: int, verb: str, resource: str, *, user: str = "operator", milliseconds: int = 10) -> str:
    began, ended = (NOON.replace(microsecond=each * 1000).isoformat() for each in (0, milliseconds))
    return (
        f'{{"auditID":"{number}","verb":"{verb}","requestReceivedTimestamp":"{began}","stageTimestamp":"{ended}",'
        f'"user":{{"username":"{user}"}},"objectRef":{{"resource":"{resource}"}},"responseStatus":{{"code":200}}}}\n'
    )


def test_of_the_audit_log_one_users_requests_are_counted_once_and_the_servers_own_time_is_told(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.log", "operator")
    log.path.write_text(an_entry(0, "create", "events", milliseconds=900))
    begin = log.size()
    with log.path.open("a") as more:
        more.write(an_entry(1, "patch", "services", milliseconds=20))
        more.write(an_entry(1, "patch", "services", milliseconds=20))
        more.write(an_entry(2, "update", "statefulsets", milliseconds=40))
        more.write(an_entry(3, "get", "pods", milliseconds=500))
        more.write(an_entry(4, "update", "leases", milliseconds=600))
        more.write(an_entry(5, "patch", "services", user="somebody"))
    found = log.requests(NOON, NOON.replace(hour=13), begin=begin)
    assert (found.total, found.mutating, found.leases) == (3, 2, 1)
    assert found.write_seconds == pytest.approx((0.02, 0.04))
