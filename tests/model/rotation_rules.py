"""What must hold of signing keys, whatever happened before; each rule names itself."""

from collections.abc import Iterator
from typing import Final

from tests.model.rotation_world import World, good_tokens

REFUSED: Final = "a good token is refused"
RETIRED: Final = "an engine accepts what a retired key signed"
ONE_SIGNS: Final = "exactly one key signs"
REUSED: Final = "a key id is used again"
ORPHAN: Final = "engines are told of a key that is not there"
LEFT_BEHIND: Final = "what belonged to a retired key is left behind"
PLANTED: Final = "an engine holds a key that cert-manager did not make"
TWO_OTHERS: Final = "at most one key is on its way in or out"


def broken_world(world: World) -> Iterator[str]:
    good = good_tokens(world)
    for engine in world.engines:
        if any(material < 0 for gen in engine.generations for _, material in gen.keys):
            yield PLANTED
        for gen in engine.routed:
            if gen.keys and not _is_orphaned(world, gen.keys[0][0]) and not good <= set(gen.keys):
                yield REFUSED
            if any(_is_retired(world, number) for number, _ in gen.keys):
                yield RETIRED


def _is_orphaned(world: World, number: int) -> bool:
    """An engine signs with a key that exists nowhere else: it learns of another one by rolling only."""
    return number <= world.void or number in world.lost


def _is_retired(world: World, number: int) -> bool:
    """Not what was destroyed: whoever holds it got it when it was good."""
    if world.issues[number - 1].last > 1:
        return False
    return world.void < number <= world.used and all(key.number != number for key in world.status.keys)


def broken_step(before: World, after: World) -> Iterator[str]:
    """Judged of every status that is written."""
    if after.status == before.status:
        return
    known, listed = ({key.number for key in world.status.keys} for world in (before, after))
    phases = [key.phase for key in after.status.keys]
    is_lost = any(issue.last > 1 for issue in after.issues)
    if phases and phases.count("Active") != 1 and not (is_lost and "Active" not in phases):
        yield ONE_SIGNS
    if len(phases) > 2:
        yield TWO_OTHERS
    if any(number <= before.used for number in listed - known):
        yield REUSED
    is_disturbed = any(issue.last > issue.secret or issue.last > 1 for issue in after.issues)
    if not is_disturbed and any(not after.issues[number - 1].secret for number in listed - known):
        yield ORPHAN
    if any(after.issues[number - 1].has_certificate for number in known - listed if number > after.void):
        yield LEFT_BEHIND
