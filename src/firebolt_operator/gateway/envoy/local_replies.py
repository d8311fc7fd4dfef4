"""What does the gateway say when an engine took a query and never answered it, or when none took it?"""

from typing import Final

from firebolt_operator.refs import Manifest

OUTCOME_HEADER: Final = "x-firebolt-outcome"
OUTCOME_UNKNOWN: Final = "unknown"
CONNECTION_ENDED: Final = "UC"  # Envoy's flag: the upstream connection ended before the answer began
NO_HTTP: Final = "UPE"  # what came back was no answer that Envoy understands
NO_HOST: Final = "UH"  # no pod is healthy, or speaks as the gateway does
NO_CONNECTION: Final = "UF"
RETRY_SECONDS: Final = 1  # engines that roll, or change to TLS, are back at any moment
EXPLANATION: Final = (
    "the engine went away while it was running this query, or gave no answer in HTTP; the query was not run again,"
    " and whether it took effect is unknown\n"
)


def local_replies() -> Manifest:
    """A query that reached an engine is run once: its sender has to know that the outcome is open.

    One that surely reached none may be sent again, and its sender is told so. The first match counts.
    """
    unknown = _mapper((CONNECTION_ENDED, NO_HTTP), OUTCOME_HEADER, OUTCOME_UNKNOWN)
    return {
        "mappers": [
            {**unknown, "body": {"inline_string": EXPLANATION}},
            _mapper((NO_HOST, NO_CONNECTION), "retry-after", str(RETRY_SECONDS)),
        ]
    }


def _mapper(flags: tuple[str, ...], header: str, value: str) -> Manifest:
    added = {"header": {"key": header, "value": value}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}
    return {"filter": {"response_flag_filter": {"flags": list(flags)}}, "headers_to_add": [added]}
