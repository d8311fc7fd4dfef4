"""What do all objects of an instance have in common: name, two labels and their owner?"""

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.refs import Manifest


def component_labels(instance: FireboltInstance, component: str) -> dict[str, str]:
    """On every object and pod of the component, and in every selector."""
    return {names.LABEL_INSTANCE: instance.metadata.name, names.LABEL_COMPONENT: component}


def child_metadata(instance: FireboltInstance, name: str, component: str) -> Manifest:
    return {
        "name": name,
        "namespace": instance.metadata.namespace,
        "labels": component_labels(instance, component),
        "ownerReferences": [owner_reference(instance)],
    }


def owner_reference(instance: FireboltInstance) -> Manifest:
    return {
        "apiVersion": FIREBOLT_INSTANCES.api_version,
        "kind": FIREBOLT_INSTANCES.kind,
        "name": instance.metadata.name,
        "uid": instance.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
