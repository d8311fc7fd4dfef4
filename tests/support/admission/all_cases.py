"""Every case there is."""

from typing import Final

import pytest

from tests.support.admission import auth, classes, components, engines, shared, tls
from tests.support.admission.case import Kind

CASES: Final = (*engines.ROWS, *classes.ROWS, *shared.ROWS, *components.ROWS, *auth.ROWS, *tls.ROWS)


def each(*kinds: Kind) -> pytest.MarkDecorator:
    chosen = [case for case in CASES if not kinds or case.kind in kinds]
    return pytest.mark.parametrize(
        "case",
        [
            pytest.param(case, id=f"{case.kind}: {case.id}", marks=[pytest.mark.slow] if case.is_heavy else [])
            for case in chosen
        ],
    )
