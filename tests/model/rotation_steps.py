"""What engines, cert-manager, people and time can do next. Who is stuck simply never does anything."""

from collections.abc import Iterator

from tests.model import rotation_operator
from tests.model.rotation_world import Engine, Flight, Gen, Held, Issue, Status, World, good_tokens, later, rendered

Step = tuple[str, World]


def steps(world: World) -> Iterator[Step]:
    yield "time passes", later(world)
    for index in range(len(world.engines)):
        yield from engine_steps(world, index)
    yield from certificate_steps(world)
    yield from instance_steps(world)
    yield from _people(world)
    for index, seen in enumerate(world.seen or ()):
        if world.seen is not None and seen != world.engines[index]:
            news = (*world.seen[:index], world.engines[index], *world.seen[index + 1 :])
            yield f"the watch tells of e{index}", world._replace(seen=news)


def instance_steps(world: World) -> Iterator[Step]:
    flight = world.flight
    if flight is not None or world.may.drift:
        yield "another leader takes over", restarted(world)
    if flight is None:
        found = rotation_operator.decided(world)
        if found is not None:
            yield "the instance decides", world._replace(flight=found)
        return
    yield landed(world, flight)


def restarted(world: World) -> World:
    """The next leader's clock may differ; it reads live before it believes its cache."""
    offset = 1 - world.offset if world.may.drift else world.offset
    engines = tuple(engine._replace(making=None, is_switching=False) for engine in world.engines)
    return world._replace(flight=None, offset=offset, engines=engines, seen=engines if world.may.lag else None)


def landed(world: World, flight: Flight) -> Step:
    """The next write of a pass."""
    if not flight.writes:
        status = flight.status if flight.status is not None else world.status
        return "the status is written", recorded(world, status)
    (kind, number), left = flight.writes[0], flight.writes[1:]
    issue = world.issues[number - 1]
    changed = {
        "ensure": issue._replace(has_certificate=True),
        "delete certificate": issue._replace(has_certificate=False),
        "delete secret": issue._replace(secret=0),
    }[kind]
    after = with_issue(world, number, changed)
    is_last = not left and flight.status is None
    return f"{kind} {number}", after._replace(flight=None if is_last else Flight(left, flight.status))


def recorded(world: World, status: Status) -> World:
    """Without a key, be it off or all of them lost, every key and token of the time before is void."""
    used = max([world.used, *(key.number for key in status.keys)])
    return world._replace(status=status, flight=None, used=used, void=world.void if status.keys else used)


def with_issue(world: World, number: int, issue: Issue) -> World:
    issues = world.issues
    return world._replace(issues=(*issues[: number - 1], issue, *issues[number:]))


def certificate_steps(world: World) -> Iterator[Step]:
    for number, issue in enumerate(world.issues, 1):
        if issue.has_certificate and not issue.secret:
            made = issue.last + 1
            yield f"cert-manager issues {number}", with_issue(world, number, issue._replace(secret=made, last=made))


def engine_steps(world: World, index: int) -> Iterator[Step]:
    engine = world.engines[index]
    if not engine.exists:
        return
    for name, after in _moves(world, engine):
        yield f"e{index} {name}", with_engine(world, index, after)


def with_engine(world: World, index: int, engine: Engine) -> World:
    engines = world.engines
    return world._replace(engines=(*engines[:index], engine, *engines[index + 1 :]))


def _moves(world: World, engine: Engine) -> Iterator[tuple[str, Engine]]:
    told = rendered(world)
    if engine.old is not None:
        yield "has drained", engine._replace(old=None)
        return
    if engine.making is not None:
        if _can_start(world, engine.making):
            yield "makes a generation", made(engine, engine.making)
        return
    if engine.is_switching and engine.next is not None:
        old = engine.serving if engine.serving is not None and engine.serving.is_running else None
        yield "switches", engine._replace(serving=engine.next, old=old, next=None, is_switching=False)
        return
    if told is None:
        return
    if engine.next is not None:
        yield from _judged(engine, told)
    elif engine.wants and (engine.serving is None or engine.serving != Gen(told)):
        yield "begins a generation", engine._replace(making=told)


def _judged(engine: Engine, told: Held) -> Iterator[tuple[str, Engine]]:
    """Before queries are sent there, what it was made with is compared with what the instance says now."""
    if may_switch(engine, told):
        yield "is about to switch", engine._replace(is_switching=True)
    else:
        yield "abandons a generation", engine._replace(next=None)


def may_switch(engine: Engine, told: Held) -> bool:
    return engine.next is not None and engine.next.keys == told


def made(engine: Engine, keys: Held) -> Engine:
    """The pods of a first generation take queries as soon as they are ready."""
    if engine.serving is None:
        return engine._replace(serving=Gen(keys), making=None)
    return engine._replace(next=Gen(keys), making=None)


def _can_start(world: World, keys: Held) -> bool:
    """Pods wait for Secrets that are not there, and would hold another key if it was made anew."""
    return all(world.issues[number - 1].secret == material for number, material in keys)


def _people(world: World) -> Iterator[Step]:
    may = world.may
    for index, engine in enumerate(world.engines):
        if not engine.exists and world.births_left:
            born = with_engine(world, index, Engine())
            yield f"e{index} is created", born._replace(births_left=world.births_left - 1)
        if may.park and engine.exists and engine.serving is not None and index == 0:
            yield from _parking(world, index, engine, engine.serving)
    if may.be_edited:
        yield "rotation is edited", world._replace(rotates=not world.rotates)
    yield from _thieves(world)
    if world.switches_left:
        switched = world._replace(is_on=not world.is_on, switches_left=world.switches_left - 1)
        yield "authentication is switched", switched


def _thieves(world: World) -> Iterator[Step]:
    if world.deletions_left:
        for number, issue in enumerate(world.issues, 1):
            if issue.secret:
                left = _destroyed(world, number, issue._replace(secret=0))
                yield f"somebody deletes Secret {number}", left._replace(deletions_left=world.deletions_left - 1)
    if world.plants_left:
        for key in world.status.keys:
            issue = world.issues[key.number - 1]
            if issue.secret:
                planted = _destroyed(world, key.number, issue._replace(secret=-1, last=issue.last + 1))
                yield f"somebody replaces Secret {key.number}", planted._replace(plants_left=world.plants_left - 1)


def _destroyed(world: World, number: int, issue: Issue) -> World:
    """Nothing helps against the loss of a key that signs, or that is about to."""
    statuses = (world.status, world.flight.status if world.flight and world.flight.status else world.status)
    signing = {key.number for status in statuses for key in status.keys if key.phase == "Active"}
    used = signing | {key for key, _ in good_tokens(world)}
    lost = world.lost | {number} if number in used else world.lost
    return with_issue(world, number, issue)._replace(lost=lost)


def _parking(world: World, index: int, engine: Engine, serving: Gen) -> Iterator[Step]:
    if engine.wants and serving.is_running and engine.old is None and engine.next is None:
        parked = engine._replace(wants=False, serving=Gen(serving.keys, is_running=False), old=serving)
        yield f"e{index} is parked", with_engine(world, index, parked._replace(making=None))
    if not engine.wants:
        yield f"e{index} is woken", with_engine(world, index, engine._replace(wants=True))
