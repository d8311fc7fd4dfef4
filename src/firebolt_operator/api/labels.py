"""Which labels do our objects carry, and which do selectors ask for?"""

from firebolt_operator.api import names


def engine_labels(engine: str) -> dict[str, str]:
    return {names.LABEL_ENGINE: engine}


def generation_labels(engine: str, generation: int) -> dict[str, str]:
    return {names.LABEL_ENGINE: engine, names.LABEL_GENERATION: str(generation)}


def component_labels(instance: str, component: str) -> dict[str, str]:
    """On every object and pod of an instance's component, and in every selector."""
    return {names.LABEL_INSTANCE: instance, names.LABEL_COMPONENT: component}
