"""What people do to an engine, at random but the same every time."""

import random
from collections.abc import Callable
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.refs import Manifest

CLASSES: Final = ("small", "large")
Edit = Callable[[random.Random], Manifest]
"""A merge patch."""


def new_image(rng: random.Random) -> Manifest:
    container = {"name": names.CONTAINER_ENGINE, "image": f"engine:{rng.randrange(1000)}"}
    return {"spec": {"template": {"spec": {"containers": [container]}}}}


def new_replicas(rng: random.Random) -> Manifest:
    return {"spec": {"replicas": rng.randrange(4)}}


def new_class(rng: random.Random) -> Manifest:
    return {"spec": {"engineClassRef": rng.choice((None, *CLASSES))}}


def new_pod_label(rng: random.Random) -> Manifest:
    return {"spec": {"template": {"metadata": {"labels": {"team": f"team-{rng.randrange(5)}"}}}}}


def new_label(rng: random.Random) -> Manifest:
    """On the engine itself: nothing to roll for."""
    return {"metadata": {"labels": {"owner": f"person-{rng.randrange(5)}"}}}


def new_config(rng: random.Random) -> Manifest:
    return {"spec": {"customEngineConfig": {"cache": {"size": rng.randrange(100)}}}}


EDITS: Final[tuple[Edit, ...]] = (new_image, new_replicas, new_class, new_pod_label, new_label, new_config)


def unlike(engine: Manifest, statefulset: Manifest, config_map: Manifest) -> list[str]:
    """Where what was made differs from what was asked for last."""
    spec, template = engine["spec"], statefulset["spec"]["template"]
    asked, labels = spec.get("template", {}), template["metadata"]["labels"]
    containers = {each["name"]: each for each in asked.get("spec", {}).get("containers", [])}
    image = containers.get(names.CONTAINER_ENGINE, {}).get("image")
    made_image = next(each for each in template["spec"]["containers"] if each["name"] == names.CONTAINER_ENGINE)[
        "image"
    ]
    team = asked.get("metadata", {}).get("labels", {}).get("team")
    size = spec.get("customEngineConfig", {}).get("cache", {}).get("size")
    checks = {
        "replicas": statefulset["spec"]["replicas"] == spec["replicas"],
        "image": image in {None, made_image},
        "label": labels.get("team") == team,
        "class": labels.get("class") == spec.get("engineClassRef"),
        "config": size is None or f'"size": {size}' in config_map["data"]["config.yaml"],
    }
    return [name for name, is_right in checks.items() if not is_right]
