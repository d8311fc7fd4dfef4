"""Everything that reads what a tenant, a client or a neighbour can write."""

from typing import Final

from tests.fuzz.target import Target
from tests.fuzz.targets import bodies, gateway, requests, reviews, specs, templates, words

TARGETS: Final[tuple[Target, ...]] = (
    *words.TARGETS,
    *bodies.TARGETS,
    *specs.TARGETS,
    *templates.TARGETS,
    *requests.TARGETS,
    *gateway.TARGETS,
    *reviews.TARGETS,
)
