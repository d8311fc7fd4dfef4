"""What does the gateway say when an engine took a query and never answered it?"""

from typing import Final

from firebolt_operator.refs import Manifest

OUTCOME_HEADER: Final = "x-firebolt-outcome"
OUTCOME_UNKNOWN: Final = "unknown"
CONNECTION_ENDED: Final = "UC"  # Envoy's flag: the upstream connection ended before the answer began
NO_HTTP: Final = "UPE"  # what came back was no answer that Envoy understands
EXPLANATION: Final = (
    "the engine went away while it was running this query, or gave no answer in HTTP; the query was not run again,"
    " and whether it took effect is unknown\n"
)


def local_replies() -> Manifest:
    """A query that reached an engine is run once: its sender has to know that the outcome is open."""
    header = {"key": OUTCOME_HEADER, "value": OUTCOME_UNKNOWN}
    return {
        "mappers": [
            {
                "filter": {"response_flag_filter": {"flags": [CONNECTION_ENDED, NO_HTTP]}},
                "headers_to_add": [{"header": header, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}],
                "body": {"inline_string": EXPLANATION},
            }
        ]
    }
