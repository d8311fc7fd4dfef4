"""What does the gateway write down about a query?"""

from typing import Final

from firebolt_operator.gateway.envoy.extensions import extension
from firebolt_operator.refs import Manifest

# Flags, details and transport failure tell an answer that Envoy made from one that an engine made.
# What the client wrote has a length: a header of 60 KB is no log line.
FIELDS: Final = (
    "[%START_TIME%]",
    '"%REQ(:METHOD):32% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH):1024% %PROTOCOL%"',
    "%RESPONSE_CODE%",
    "flags=%RESPONSE_FLAGS%",
    "details=%RESPONSE_CODE_DETAILS%",
    "tx_fail=%UPSTREAM_TRANSPORT_FAILURE_REASON%",
    "upstream=%UPSTREAM_HOST%",
    "cluster=%UPSTREAM_CLUSTER%",
    "duration=%DURATION%ms",
    "rx=%BYTES_RECEIVED%",
    "tx=%BYTES_SENT%",
    # Whom the connection is with, not whom a header names.
    "client=%DOWNSTREAM_DIRECT_REMOTE_ADDRESS%",
    "authority=%REQ(:AUTHORITY):256%",
    "engine=%REQ(X-FIREBOLT-ENGINE):128%",
)


def access_log() -> Manifest:
    """One line per query on standard output."""
    line = " ".join(FIELDS) + "\n"
    return extension(
        "envoy.access_loggers.stdout",
        "access_loggers.stream.v3.StdoutAccessLog",
        {"log_format": {"text_format_source": {"inline_string": line}}},
    )
