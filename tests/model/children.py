"""What writes do to the children of the one engine: by name, as the API server knows them."""

from functools import cache
from typing import Any

from firebolt_operator.api import names
from firebolt_operator.errors import InvalidError
from firebolt_operator.refs import Manifest
from tests.model import objects
from tests.model.world import (
    GENERATIONS,
    STRANGER,
    Budget,
    Children,
    Gen,
    Pods,
    Service,
    Sts,
    Truth,
    with_gen,
    with_pods,
)

TAKEN_OVER = "what somebody else made is taken over"
PATCHED = "a StatefulSet is patched in place"


BUDGET = names.disruption_budget_name(objects.ENGINE)


class ViolationError(AssertionError):
    """Something happened that must never happen."""


@cache
def child_names() -> list[str]:
    kinds = (names.statefulset_name, names.config_map_name, names.headless_service_name)
    own = [kind(objects.ENGINE, generation) for generation in range(GENERATIONS) for kind in kinds]
    return [*own, names.engine_service_name(objects.ENGINE), BUDGET]


@cache
def generation_of(name: str) -> int:
    return int(name.removeprefix(f"{objects.ENGINE}-g").split("-")[0])


def real_child(children: Children, name: str) -> Any:
    if name == names.engine_service_name(objects.ENGINE):
        return None if children.service is None else objects.real_service(children.service)
    if name == BUDGET:
        return None if children.budget is None else objects.real_budget(children.budget)
    generation = generation_of(name)
    gen = children.gens[generation]
    if name.endswith("-config"):
        return objects.real_config_map(gen.config_map, generation) if gen.config_map else None
    if name.endswith("-hl"):
        return objects.real_headless(gen.headless, generation) if gen.headless else None
    return None if gen.sts is None else objects.real_sts(gen.sts, generation)


def owner_of(children: Children, name: str) -> int:
    """0 if there is no such object."""
    if name == names.engine_service_name(objects.ENGINE):
        return children.service.owner if children.service else 0
    if name == BUDGET:
        return children.budget.owner if children.budget else 0
    gen = children.gens[generation_of(name)]
    if name.endswith("-config"):
        return gen.config_map
    if name.endswith("-hl"):
        return gen.headless
    return gen.sts.owner if gen.sts else 0


def applied(children: Children, name: str, owner: int, manifest: Manifest) -> Children:
    _refuse_two_owners(owner_of(children, name), owner, name)
    return _written(children, name, owner, manifest)


def _written(children: Children, name: str, owner: int, manifest: Manifest) -> Children:
    if name == names.engine_service_name(objects.ENGINE):
        selected = int(manifest["spec"]["selector"][names.LABEL_GENERATION])
        return children._replace(service=Service(owner, selected))
    if name == BUDGET:
        return children._replace(budget=Budget(owner, objects.covered_by(manifest)))
    generation = generation_of(name)
    gen = children.gens[generation]
    if name.endswith("-config"):
        return with_gen(children, generation, gen._replace(config_map=owner))
    if name.endswith("-hl"):
        return with_gen(children, generation, gen._replace(headless=owner))
    return with_gen(children, generation, gen._replace(sts=_applied_sts(gen, owner, manifest)))


def _applied_sts(gen: Gen, owner: int, manifest: Manifest) -> Sts:
    wanted = Sts(owner, objects.spec_of(manifest["spec"]), is_deleting=False)
    if gen.sts is None:
        return wanted
    if gen.sts.spec != wanted.spec:
        raise ViolationError(PATCHED)
    return gen.sts


def _refuse_two_owners(there: int, wanted: int, name: str) -> None:
    if there == STRANGER:
        raise ViolationError(TAKEN_OVER)
    if there not in {0, wanted}:
        raise InvalidError(f"{name}: only one owner can be the controller", status=422)


def deleted(truth: Truth, name: str, *, keeps_pods: bool) -> Truth:
    """Foreground deletion leaves the object until its pods are gone; anything else is gone at once."""
    children = truth.children
    if name == names.engine_service_name(objects.ENGINE):
        return truth._replace(children=children._replace(service=None))
    if name == BUDGET:
        return truth._replace(children=children._replace(budget=None))
    generation = generation_of(name)
    gen = children.gens[generation]
    if name.endswith("-config"):
        return truth._replace(children=with_gen(children, generation, gen._replace(config_map=0)))
    if name.endswith("-hl"):
        return truth._replace(children=with_gen(children, generation, gen._replace(headless=0)))
    if keeps_pods and gen.sts is not None and truth.pods[generation].total:
        going = gen.sts._replace(is_deleting=True)
        return truth._replace(children=with_gen(children, generation, gen._replace(sts=going)))
    without = with_gen(children, generation, gen._replace(sts=None))
    return truth._replace(children=without, pods=with_pods(truth.pods, generation, Pods()))


def copied(into: Children, source: Children, name: str) -> Children:
    if name == names.engine_service_name(objects.ENGINE):
        return into._replace(service=source.service)
    if name == BUDGET:
        return into._replace(budget=source.budget)
    generation = generation_of(name)
    mine, theirs = into.gens[generation], source.gens[generation]
    if name.endswith("-config"):
        return with_gen(into, generation, mine._replace(config_map=theirs.config_map))
    if name.endswith("-hl"):
        return with_gen(into, generation, mine._replace(headless=theirs.headless))
    return with_gen(into, generation, mine._replace(sts=theirs.sts))
