"""What goes wrong for each alert: the series that differ from a calm cluster, and who else has a reason to fire."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tests.unit.monitoring import calm
from tests.unit.monitoring.calm import Series, spans, steadily

START: Final = 20  # minutes; when a fault begins
_ENG: Final = 'namespace="shop",name="eng",firebolt_io_instance="inst"'
_INST: Final = 'namespace="shop",name="inst"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    series: Mapping[str, str]
    fires_after: int  # minutes
    also: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()  # beginnings of series that are not there at all


def since(value: float, before: float = 0) -> str:
    return spans((before, START), (value, calm.MINUTES))


def rising(by: float, before: float = 0) -> str:
    """A counter that stands, and grows from then on."""
    return f"{before:g}x{START - 1} {before:g}+{by:g}x{calm.MINUTES}"


def _engine(**values: str) -> Series:
    return {f"firebolt_engine_{name}{{{_ENG}}}": text for name, text in values.items()}


def _engine_is(phase: str) -> Series:
    name = "firebolt_engine_status_phase"
    return {f'{name}{{{_ENG},phase="stable"}}': since(0, 1), f'{name}{{{_ENG},phase="{phase}"}}': since(1)}


def _condition(kind: str, *, is_true: bool) -> Series:
    return {f'firebolt_engine_status_condition{{{_ENG},type="{kind}"}}': since(is_true, not is_true)}


def _instance_condition(kind: str, *, is_true: bool) -> Series:
    return {f'firebolt_instance_status_condition{{{_INST},type="{kind}"}}': since(is_true, not is_true)}


def _instance_is(phase: str) -> Series:
    name = "firebolt_instance_status_phase"
    return {f'{name}{{{_INST},phase="Ready"}}': since(0, 1), f'{name}{{{_INST},phase="{phase}"}}': since(1)}


def _operator(name: str, labels: str, values: str) -> Series:
    return {f"firebolt_operator_{name}{{{labels}}}": values}


def _controller(name: str, values: str) -> Series:
    return {f'controller_runtime_{name}{{controller="fireboltengine"}}': values}


def _wake(name: str, labels: str, values: str) -> Series:
    return {f'firebolt_gateway_wake_{name}{{namespace="shop",{labels}}}': values}


FAULTS: Final[Mapping[str, Fault]] = {
    "FireboltEngineDown": Fault(
        series=_engine(pods_ready=since(0, 2)) | _condition("Ready", is_true=False),
        fires_after=20,
        also=("FireboltEngineNotReady",),
    ),
    "FireboltEngineNodesMissing": Fault(
        series=_engine(pods_ready=since(1, 2)) | _condition("Ready", is_true=False),
        fires_after=20,
        also=("FireboltEngineNotReady",),
    ),
    "FireboltEngineNotReady": Fault(series=_engine_is("creating") | _condition("Ready", is_true=False), fires_after=20),
    "FireboltEngineStalled": Fault(series=_condition("Stalled", is_true=True), fires_after=7),
    "FireboltEngineDrainStuck": Fault(
        series=_engine_is("draining") | _condition("Ready", is_true=False), fires_after=65
    ),
    "FireboltEngineDrainCheckFailing": Fault(series=_engine(drain_check_errors_total=rising(10, 2)), fires_after=10),
    "FireboltEngineNotReconciled": Fault(
        series=_engine(last_reconciled_timestamp=f"0+60x{START} {START * 60}x{calm.MINUTES}"), fires_after=20
    ),
    "FireboltInstanceFailed": Fault(
        series=_instance_is("Failed")
        | _instance_condition("Stalled", is_true=True)
        | _instance_condition("GatewayReady", is_true=False)
        | _instance_condition("MetadataReady", is_true=False),
        fires_after=20,
    ),
    "FireboltGatewayDown": Fault(
        series=_instance_is("Degraded") | _instance_condition("GatewayReady", is_true=False), fires_after=12
    ),
    "FireboltMetadataDown": Fault(
        series=_instance_is("Degraded") | _instance_condition("MetadataReady", is_true=False), fires_after=12
    ),
    "FireboltInstanceStalled": Fault(series=_instance_condition("Stalled", is_true=True), fires_after=7),
    "FireboltSigningKeyRotationStalled": Fault(
        series={f"firebolt_instance_signing_key_rotation_pending_seconds{{{_INST}}}": f"0x{START} 0+60x{calm.MINUTES}"},
        fires_after=45,
    ),
    "FireboltOperatorDown": Fault(
        series={},
        gone=("controller_runtime_", "leader_election_", "workqueue_", "firebolt_operator_", "firebolt_engine_"),
        fires_after=7,
    ),
    "FireboltOperatorNoLeader": Fault(
        series={'leader_election_master_status{name="c662f7f5.firebolt.io",pod="op-1"}': since(0, 1)}, fires_after=4
    ),
    "FireboltOperatorPassesFail": Fault(series=_controller("reconcile_errors_total", rising(1, 40)), fires_after=30),
    "FireboltOperatorBug": Fault(series=_controller("reconcile_panics_total", rising(1)), fires_after=5),
    "FireboltOperatorQueueStuck": Fault(
        series={
            'workqueue_oldest_key_age_seconds{name="fireboltengine",controller="fireboltengine"}': f"2x{START} 0+60x200"
        },
        fires_after=15,
    ),
    "FireboltOperatorViewStale": Fault(
        series=_operator("watch_staleness_seconds", 'resource="pods"', f"500x{START} 0+60x200"), fires_after=25
    ),
    "FireboltOperatorMayNotList": Fault(
        series=_operator("list_refused", 'resource="pods",namespace="*"', since(1)), fires_after=7
    ),
    "FireboltOperatorMayNotWatch": Fault(
        series=_operator("watches_refused_total", 'resource="pods",namespace="*"', rising(2, 1)), fires_after=20
    ),
    "FireboltOperatorRelists": Fault(
        series=_operator("relists_total", 'resource="pods",namespace="*"', rising(2, 4)), fires_after=45
    ),
    "FireboltOperatorUnreadableObjects": Fault(
        series=_operator("cache_broken_objects", 'resource="pods"', since(1)), fires_after=12
    ),
    "FireboltOperatorEventsLost": Fault(
        series=_operator("events_lost_total", 'controller="fireboltengine",why="refused"', rising(1)), fires_after=15
    ),
    "FireboltOperatorApiErrors": Fault(series=calm.requests("0.05", "error", by=60), fires_after=25),
    "FireboltOperatorApiSlow": Fault(series=calm.requests("5.0"), fires_after=25),
    "FireboltOperatorLoopLag": Fault(series=calm.loop_lag("2.5"), fires_after=25),
    "FireboltAdmissionFails": Fault(series=calm.admissions("failed"), fires_after=10),
    "FireboltAdmissionSlow": Fault(series=calm.admissions("allowed", "10.0", by=60), fires_after=20),
    "FireboltCertificateExpires": Fault(
        series=_operator("certificate_expiry_timestamp_seconds", 'server="webhook"', steadily(4 * 86400)),
        fires_after=70,
    ),
    "FireboltWakeTimeouts": Fault(series=_wake("hold_seconds_count", 'outcome="timeout"', rising(1)), fires_after=10),
    "FireboltWakeShed": Fault(series=_wake("answers_total", 'decision="shed"', rising(5)), fires_after=10),
    "FireboltWakeRefused": Fault(series=_wake("stamps_total", 'result="forbidden"', rising(2)), fires_after=10),
    "FireboltWakeAgentBlind": Fault(series=_wake("synced", 'pod="gw-1"', since(0, 1)), fires_after=7),
}


def with_fault(series: Mapping[str, str], fault: Fault) -> Series:
    kept = {name: values for name, values in series.items() if not name.startswith(fault.gone or ("\0",))}
    return {**kept, **fault.series}
