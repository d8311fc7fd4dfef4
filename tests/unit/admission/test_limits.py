"""Do the limits of answers fit those of API servers?"""

from datetime import timedelta

import pytest
import yaml

from firebolt_local.testing.installer import CHART
from firebolt_operator.admission.decide.answers import Allowed, review_response
from firebolt_operator.admission.server import DEADLINE_SECONDS
from firebolt_operator.wiring.shared import REQUEST_TIME

LONGEST_REQUEST = timedelta(seconds=60)  # that an API server carries on with, by default
LONGEST_WARNING = 256  # characters that it shows


@pytest.mark.parametrize("purpose", ["validating", "mutating"])
def test_we_give_up_before_the_api_server_does(purpose: str) -> None:
    """Our words say more than its own."""
    values = yaml.load((CHART / "values.yaml").read_text(), yaml.CSafeLoader)["webhook"]
    waited = values[f"{purpose}WebhookConfiguration"]["timeoutSeconds"]
    assert DEADLINE_SECONDS < waited < LONGEST_REQUEST.total_seconds()


def test_a_class_outlives_every_request_that_found_it() -> None:
    assert REQUEST_TIME > LONGEST_REQUEST


def test_warnings_are_cut_to_what_is_shown() -> None:
    response = review_response("x", Allowed(warnings=("short", "x" * 1000, *map(str, range(100)))))["response"]
    assert response["warnings"][0] == "short"
    assert response["warnings"][1].startswith("xxx")
    assert response["warnings"][1].endswith("...")
    assert len(response["warnings"][1]) <= LONGEST_WARNING
    assert len(response["warnings"]) == 20
