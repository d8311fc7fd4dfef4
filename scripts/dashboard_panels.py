"""Which panels does the dashboard have, and what do they ask Prometheus? Rows of panels, each with its queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

HERE: Final = 'namespace=~"$namespace"'
OURS: Final = 'controller=~"firebolt.+|webhook-certificates"'
QUEUES: Final = 'name=~"firebolt.+|webhook-certificates"'
WINDOW: Final = "$__rate_interval"
_REQUESTS: Final = "firebolt_operator_request_duration_seconds"
_ADMISSIONS: Final = "firebolt_operator_admission_duration_seconds"
_WAKE: Final = "firebolt_gateway_wake"


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    about: str
    queries: Mapping[str, str]  # by legend, in which {{label}} stands for a label's value
    unit: str = "short"
    is_number: bool = False  # one number instead of a graph


def rate(series: str) -> str:
    return f"rate({series}[{WINDOW}])"


def quantile(share: float, buckets: str, *by: str) -> str:
    return f"histogram_quantile({share:g}, sum by ({', '.join((*by, 'le'))}) ({rate(buckets)}))"


def _of_operator(series: str) -> str:
    """Every process has such series; the operator's are those of a target that runs our controllers."""
    ours = 'controller_runtime_max_concurrent_reconciles{controller="fireboltengine"}'
    return f"{series} and on (job, instance) {ours}"


OVERVIEW: Final = (
    Panel(
        "Engines ready",
        "Engines whose condition Ready is True.",
        {"ready": f'sum(firebolt_engine_status_condition{{type="Ready",{HERE}}})'},
        is_number=True,
    ),
    Panel(
        "Engines parked",
        "Stopped, by auto-stop or by their owner. Not a fault.",
        {"parked": f'sum(firebolt_engine_status_phase{{phase="stopped",{HERE}}})'},
        is_number=True,
    ),
    Panel(
        "Engines stalled",
        "They wait for a person: their condition Stalled says what is to be done.",
        {"stalled": f'sum(firebolt_engine_status_condition{{type="Stalled",{HERE}}})'},
        is_number=True,
    ),
    Panel(
        "Instances ready",
        "Instances in the phase Ready.",
        {"ready": f'sum(firebolt_instance_status_phase{{phase="Ready",{HERE}}})'},
        is_number=True,
    ),
    Panel(
        "Leader",
        "1 if a replica of the operator leads.",
        {"leads": 'max(leader_election_master_status{name="c662f7f5.firebolt.io"})'},
        is_number=True,
    ),
    Panel(
        "Certificates run out in",
        "Of the webhook server and, with files, of the metrics server.",
        {"{{server}}": "min by (server) (firebolt_operator_certificate_expiry_timestamp_seconds) - time()"},
        unit="s",
        is_number=True,
    ),
)
ENGINES: Final = (
    Panel(
        "Engines by phase",
        "Where engines are between two generations.",
        {"{{phase}}": f"sum by (phase) (firebolt_engine_status_phase{{{HERE}}})"},
    ),
    Panel(
        "Nodes",
        "Nodes that engines are asked to have, and ready ones of the generation that is current.",
        {
            "asked for": f"sum(firebolt_engine_spec_replicas{{{HERE}}})",
            "ready": f"sum(firebolt_engine_pods_ready{{{HERE}}})",
        },
    ),
    Panel(
        "Ready nodes by engine",
        "Of the current generation: a rollout begins at 0 while the old generation serves.",
        {"{{namespace}}/{{name}}": f"firebolt_engine_pods_ready{{{HERE}}}"},
    ),
    Panel(
        "Generations",
        "The generation that serves. A step is a rollout.",
        {"{{namespace}}/{{name}}": f"firebolt_engine_active_generation{{{HERE}}}"},
    ),
    Panel(
        "Since the last good pass",
        "Engines are looked at every 30 s; the longest.",
        {"longest": f"max(time() - firebolt_engine_last_reconciled_timestamp{{{HERE}}})"},
        unit="s",
    ),
    Panel(
        "Instances by phase",
        "Where instances are.",
        {"{{phase}}": f"sum by (phase) (firebolt_instance_status_phase{{{HERE}}})"},
    ),
)
WAKING: Final = (
    Panel(
        "Queries held now",
        "Queries that wait for their engine. An empty name stands for names that are no engine's.",
        {"{{engine}}": f"sum by (engine) ({_WAKE}_pending_holds{{{HERE}}})"},
    ),
    Panel(
        "Holds by outcome",
        "released: the engine came. timeout: it did not come in time. left: the caller gave up, or the gateway left.",
        {"{{outcome}}": f"sum by (outcome) ({rate(f'{_WAKE}_hold_seconds_count{{{HERE}}}')})"},
        unit="ops",
    ),
    Panel(
        "Wake latency",
        "From the first query that waits for an engine until the engine can take it.",
        {
            "half": quantile(0.5, f"{_WAKE}_latency_seconds_bucket{{{HERE}}}"),
            "nine of ten": quantile(0.9, f"{_WAKE}_latency_seconds_bucket{{{HERE}}}"),
        },
        unit="s",
    ),
    Panel(
        "Answers to Envoy",
        "What wake agents said to queries that asked whether they may go on.",
        {"{{decision}}": f"sum by (decision) ({rate(f'{_WAKE}_answers_total{{{HERE}}}')})"},
        unit="ops",
    ),
    Panel(
        "Wake requests",
        "Annotations that gateways wrote to ask for engines.",
        {"{{result}}": f"sum by (result) ({rate(f'{_WAKE}_stamps_total{{{HERE}}}')})"},
        unit="ops",
    ),
    Panel(
        "Room for held queries",
        "Over all gateway pods; negative if any number fits.",
        {"room": f"sum({_WAKE}_hold_cap{{{HERE}}})"},
    ),
    Panel(
        "Agents that see endpoints",
        "An agent that does not, holds nothing and wakes nobody.",
        {"seeing": f"sum({_WAKE}_synced{{{HERE}}})", "all": f"count({_WAKE}_synced{{{HERE}}})"},
    ),
)
OPERATOR: Final = (
    Panel(
        "Passes",
        "Passes over objects, by what became of them.",
        {
            "{{controller}} {{result}}": "sum by (controller, result) "
            f"({rate(f'controller_runtime_reconcile_total{{{OURS}}}')})"
        },
        unit="ops",
    ),
    Panel(
        "Length of passes",
        "99 of 100 are shorter.",
        {"{{controller}}": quantile(0.99, f"controller_runtime_reconcile_time_seconds_bucket{{{OURS}}}", "controller")},
        unit="s",
    ),
    Panel(
        "Work that waits",
        "Objects whose turn has not come yet, and the age of the oldest.",
        {
            "{{name}}": f"sum by (name) (workqueue_depth{{{QUEUES}}})",
            "oldest of {{name}}": f"max by (name) (workqueue_oldest_key_age_seconds{{{QUEUES}}})",
        },
    ),
    Panel(
        "Event loop lag",
        "How late timers run; 99 of 100 are less late.",
        {"{{job}}": quantile(0.99, "firebolt_operator_event_loop_lag_seconds_bucket", "job")},
        unit="s",
    ),
    Panel(
        "Memory",
        "Of the operator's processes.",
        {"{{pod}} {{instance}}": _of_operator("process_resident_memory_bytes")},
        unit="bytes",
    ),
    Panel(
        "CPU",
        "Of the operator's processes, in cores.",
        {"{{pod}} {{instance}}": _of_operator(rate("process_cpu_seconds_total"))},
    ),
    Panel(
        "Events lost",
        "limited: a namespace has too many. refused: by the API server.",
        {"{{controller}} {{why}}": f"sum by (controller, why) ({rate('firebolt_operator_events_lost_total')})"},
        unit="ops",
    ),
    Panel(
        "Drain checks that fail",
        "Pods that did not say whether they run queries.",
        {"all": f"sum({rate(f'firebolt_engine_drain_check_errors_total{{{HERE}}}')}) or vector(0)"},
        unit="ops",
    ),
)
API_SERVER: Final = (
    Panel(
        "Requests to the API server",
        "By verb; a watch counts when it begins.",
        {"{{verb}}": f"sum by (verb) ({rate(f'{_REQUESTS}_count')})"},
        unit="ops",
    ),
    Panel(
        "Time to the answer",
        "99 of 100 requests are answered sooner.",
        {"{{verb}}": quantile(0.99, f'{_REQUESTS}_bucket{{verb!="watch"}}', "verb")},
        unit="s",
    ),
    Panel(
        "Answers by code",
        "error: there was none.",
        {"{{code}}": f"sum by (code) ({rate(f'{_REQUESTS}_count')})"},
        unit="ops",
    ),
    Panel(
        "Changes heard of",
        "What watches told, by kind.",
        {"{{resource}}": f"sum by (resource) ({rate('firebolt_operator_watch_events_total')})"},
        unit="ops",
    ),
    Panel(
        "Lists and watches in trouble",
        "Whole lists after the first, watches that were refused, requests that broke off.",
        {
            "relists": f"sum({rate('firebolt_operator_relists_total')})",
            "refused": f"sum({rate('firebolt_operator_watches_refused_total')})",
            "broken": f"sum({rate('firebolt_operator_watch_failures_total')})",
        },
        unit="ops",
    ),
    Panel(
        "Age of what is known",
        "Time since a watch was heard of; API servers speak up every one to ten minutes.",
        {"{{resource}}": "max by (resource) (firebolt_operator_watch_staleness_seconds)"},
        unit="s",
    ),
    Panel("Objects cached", "By kind.", {"{{resource}}": "max by (resource) (firebolt_operator_cache_objects)"}),
    Panel(
        "Objects that cannot be decoded",
        "They are left alone; the log names them.",
        {"{{resource}}": "max by (resource) (firebolt_operator_cache_broken_objects)"},
    ),
)
ADMISSION: Final = (
    Panel(
        "Verdicts",
        "Over what people and tools write. denied: a mistake in it. failed: ours.",
        {"{{kind}} {{outcome}}": f"sum by (kind, outcome) ({rate(f'{_ADMISSIONS}_count')})"},
        unit="ops",
    ),
    Panel(
        "Time to a verdict",
        "99 of 100 come sooner; API servers wait for ten seconds.",
        {"{{kind}}": quantile(0.99, f"{_ADMISSIONS}_bucket", "kind")},
        unit="s",
    ),
)
ROWS: Final[Mapping[str, Sequence[Panel]]] = {
    "Overview": OVERVIEW,
    "Engines and instances": ENGINES,
    "Waking": WAKING,
    "Operator": OPERATOR,
    "API server": API_SERVER,
    "Admission": ADMISSION,
}
