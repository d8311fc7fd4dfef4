"""What does an API server say when it says no?"""

import json
from typing import Final

from firebolt_local.campaign.faults.fault import Harm
from firebolt_operator.refs import Manifest

_SAID: Final = {
    Harm.REFUSE: (403, "Forbidden", "is forbidden: no quota is left for it"),
    Harm.CONFLICT: (409, "Conflict", "the object has been modified; please apply your changes to the latest version"),
    Harm.GONE: (410, "Expired", "the provided continue parameter is too old"),
    Harm.BUSY: (429, "TooManyRequests", "the server has received too many requests and has asked us to try again"),
    Harm.ERROR: (500, "InternalError", "an error on the server has prevented the request from succeeding"),
    Harm.UNAVAILABLE: (503, "ServiceUnavailable", "the server is currently unable to handle the request"),
}
ANSWERED: Final = frozenset(_SAID)
"""Those that the server never sees and that are answered for it."""
EXPIRED_EVENT: Final = json.dumps(
    {
        "type": "ERROR",
        "object": {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": "too old resource version",
            "reason": "Expired",
            "code": 410,
        },
    }
).encode()


def refusal(harm: Harm, seconds: float) -> tuple[int, dict[str, str], Manifest]:
    """Code, headers and body."""
    code, reason, message = _SAID[harm]
    details: Manifest = {"retryAfterSeconds": int(seconds)} if harm is Harm.BUSY else {}
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
        "code": code,
    }
    return code, {"Retry-After": str(int(seconds))} if harm is Harm.BUSY else {}, body
