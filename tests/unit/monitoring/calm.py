"""The series of a cluster where all is well: engines that run, are parked and roll, and those who watch over them."""

from collections.abc import Mapping
from typing import Final

MINUTES: Final = 100
ENGINE_PHASES: Final = ("creating", "switching", "draining", "cleaning", "stable", "stopped")
ENGINE_CONDITIONS: Final = ("Ready", "InstanceReady", "Stalled", "Reconciling")
INSTANCE_PHASES: Final = ("Provisioning", "Ready", "Degraded", "Failed")
INSTANCE_CONDITIONS: Final = ("Ready", "Stalled", "Reconciling", "MetadataReady", "GatewayReady")
REQUEST_BUCKETS: Final = ("0.01", "0.05", "0.1", "0.5", "1.0", "5.0", "30.0", "+Inf")
LAG_BUCKETS: Final = ("0.005", "0.05", "0.5", "1.0", "2.5", "5.0", "+Inf")
ADMISSION_BUCKETS: Final = ("0.005", "0.5", "2.5", "5.0", "10.0", "+Inf")

Series = dict[str, str]
"""What promtool reads: a series, and its values minute by minute."""


def steadily(value: float) -> str:
    return f"{value:g}x{MINUTES}"


def growing(by: float = 60) -> str:
    return f"0+{by:g}x{MINUTES}"


def spans(*parts: tuple[float, int]) -> str:
    """A value for so many minutes, then the next one; the last one goes on."""
    return " ".join(f"{value:g}x{minutes - 1}" for value, minutes in parts)


def engine(name: str, phase: str = "stable", *, replicas: int = 2, ready: int = 2) -> Series:
    where = f'namespace="shop",name="{name}",firebolt_io_instance="inst"'
    is_serving = phase == "stable" and ready == replicas
    truths = {"Ready": is_serving, "InstanceReady": True, "Stalled": False, "Reconciling": False}
    numbers = {
        "spec_replicas": steadily(replicas),
        "pods_ready": steadily(ready),
        "pods_total": steadily(replicas),
        "active_generation": steadily(3),
        "draining_generation": steadily(-1),
        "last_reconciled_timestamp": growing(),
    }
    return {
        **{
            f'firebolt_engine_status_phase{{{where},phase="{each}"}}': steadily(each == phase) for each in ENGINE_PHASES
        },
        **{f'firebolt_engine_status_condition{{{where},type="{each}"}}': steadily(truths[each]) for each in truths},
        **{f"firebolt_engine_{each}{{{where}}}": values for each, values in numbers.items()},
        f"firebolt_engine_drain_check_errors_total{{{where}}}": steadily(2),
    }


def rolling() -> Series:
    """Ten minutes until the pods are ready, half an hour of queries to wait for, and then rest."""
    series = engine("rolling")
    where = 'namespace="shop",name="rolling",firebolt_io_instance="inst"'
    first = 20
    told = {
        "creating": spans((0, first), (1, 10), (0, MINUTES)),
        "switching": spans((0, first + 10), (1, 1), (0, MINUTES)),
        "draining": spans((0, first + 11), (1, 30), (0, MINUTES)),
        "cleaning": spans((0, first + 41), (1, 1), (0, MINUTES)),
        "stable": spans((1, first), (0, 42), (1, MINUTES)),
    }
    series |= {f'firebolt_engine_status_phase{{{where},phase="{phase}"}}': told[phase] for phase in told}
    series[f'firebolt_engine_status_condition{{{where},type="Ready"}}'] = spans((1, first), (0, 42), (1, MINUTES))
    series[f"firebolt_engine_pods_ready{{{where}}}"] = spans((2, first), (0, 10), (2, MINUTES))
    return series


def instance() -> Series:
    where = 'namespace="shop",name="inst"'
    truths = {each: each not in {"Stalled", "Reconciling"} for each in INSTANCE_CONDITIONS}
    phases = {each: each == "Ready" for each in INSTANCE_PHASES}
    return {
        **{
            f'firebolt_instance_status_phase{{{where},phase="{each}"}}': steadily(is_so)
            for each, is_so in phases.items()
        },
        **{f'firebolt_instance_status_condition{{{where},type="{each}"}}': steadily(truths[each]) for each in truths},
        f"firebolt_instance_signing_key_rotation_pending_seconds{{{where}}}": steadily(0),
    }


def histogram(name: str, labels: str, buckets: tuple[str, ...], *, below: str, by: float = 60) -> Series:
    """All that is observed is as long as `below` at the most."""
    first = buckets.index(below)
    told = {
        f'{name}_bucket{{{labels},le="{each}"}}': growing(by if number >= first else 0)
        for number, each in enumerate(buckets)
    }
    return {**told, f"{name}_count{{{labels}}}": growing(by)}


def requests(below: str = "0.05", code: str = "200", by: float = 60) -> Series:
    labels = f'job="operator",pod="op-1",verb="patch",resource="services",code="{code}"'
    return histogram("firebolt_operator_request_duration_seconds", labels, REQUEST_BUCKETS, below=below, by=by)


def loop_lag(below: str = "0.005") -> Series:
    labels = 'job="operator",pod="op-1"'
    return histogram("firebolt_operator_event_loop_lag_seconds", labels, LAG_BUCKETS, below=below, by=120)


def admissions(outcome: str = "allowed", below: str = "0.005", by: float = 2) -> Series:
    labels = f'kind="fireboltengines",outcome="{outcome}"'
    return histogram("firebolt_operator_admission_duration_seconds", labels, ADMISSION_BUCKETS, below=below, by=by)


def operator() -> Series:
    levels = {
        'controller_runtime_max_concurrent_reconciles{controller="fireboltengine",pod="op-1"}': 16,
        'leader_election_master_status{name="c662f7f5.firebolt.io",pod="op-1"}': 1,
        'leader_election_master_status{name="c662f7f5.firebolt.io",pod="op-2"}': 0,
        'controller_runtime_reconcile_errors_total{controller="fireboltengine"}': 40,
        'controller_runtime_reconcile_panics_total{controller="fireboltengine"}': 0,
        'workqueue_oldest_key_age_seconds{name="fireboltengine",controller="fireboltengine"}': 2,
        'firebolt_operator_watch_staleness_seconds{resource="pods"}': 500,
        'firebolt_operator_list_refused{resource="pods",namespace="*"}': 0,
        'firebolt_operator_watches_refused_total{resource="pods",namespace="*"}': 1,
        'firebolt_operator_relists_total{resource="pods",namespace="*"}': 4,
        'firebolt_operator_cache_broken_objects{resource="pods"}': 0,
        'firebolt_operator_events_lost_total{controller="fireboltengine",why="refused"}': 0,
        'firebolt_operator_certificate_expiry_timestamp_seconds{server="webhook"}': 60 * 86400,
    }
    limited = 'firebolt_operator_events_lost_total{controller="fireboltengine",why="limited"}'
    return {
        **{series: steadily(value) for series, value in levels.items()},
        limited: growing(3),
        **requests(),
        **requests("0.05", "500", by=1),
        **loop_lag(),
        **admissions(),
        **admissions("denied"),
        **admissions("failed", by=0),
    }


def agent() -> Series:
    holds = "firebolt_gateway_wake_hold_seconds_count"
    return {
        f'{holds}{{namespace="shop",outcome="released"}}': growing(2),
        f'{holds}{{namespace="shop",outcome="timeout"}}': steadily(0),
        'firebolt_gateway_wake_answers_total{namespace="shop",decision="ready"}': growing(100),
        'firebolt_gateway_wake_answers_total{namespace="shop",decision="shed"}': steadily(0),
        'firebolt_gateway_wake_stamps_total{namespace="shop",result="stamped"}': growing(1),
        'firebolt_gateway_wake_stamps_total{namespace="shop",result="missing"}': growing(1),
        'firebolt_gateway_wake_stamps_total{namespace="shop",result="forbidden"}': steadily(0),
        'firebolt_gateway_wake_synced{namespace="shop",pod="gw-1"}': steadily(1),
    }


def calm() -> Mapping[str, str]:
    parked = engine("parked", "stopped", replicas=0, ready=0)
    return {**engine("eng"), **parked, **rolling(), **instance(), **operator(), **agent()}
