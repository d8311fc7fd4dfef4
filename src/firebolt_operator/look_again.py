"""When is an object looked at again? One type for every reconciler, so that nobody has to guess what None means."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Progress goes on: the next pass has something to do already."""

    is_urgent: bool = False  # it must not wait behind others, because queries wait for it


@dataclass(frozen=True, slots=True)
class After:
    """When nothing happens before."""

    wait: timedelta


@dataclass(frozen=True, slots=True)
class WhenChanged:
    """Not before something happens."""


LookAgain = AtOnce | After | WhenChanged
WHEN_CHANGED = WhenChanged()


def sooner(one: LookAgain, other: LookAgain) -> LookAgain:
    """Whichever comes first; of two that come at once, the urgent one."""
    return min(one, other, key=_instant)


def _instant(look_again: LookAgain) -> tuple[int, timedelta]:
    match look_again:
        case AtOnce(is_urgent):
            return (0 if is_urgent else 1), timedelta(0)
        case After(wait):
            return 2, wait
        case WhenChanged():
            return 3, timedelta(0)
