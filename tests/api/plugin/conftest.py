"""The plugin beside a running operator and simulated pods."""

import pytest

from firebolt_local.programs import provision
from tests.api.engine.fixtures import operator, person, start_operator
from tests.api.engine.person import Person
from tests.support.plugin import Plugin

__all__ = ["operator", "person", "start_operator"]


@pytest.fixture
def plugin(person: Person) -> Plugin:
    program = provision.provide(["kubectl"])["kubectl"]
    return Plugin(program, person.namespace, {"KUBECONFIG": str(person.kubeconfig)})
