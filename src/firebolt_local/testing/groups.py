"""How does one error come out of the task groups that it passed through?"""

from collections.abc import Generator
from contextlib import contextmanager

from firebolt_local.errors import LocalError


@contextmanager
def without_groups() -> Generator[None]:
    """Raise the first error that is meant for people as itself; anything else is a bug and stays as it is."""
    try:
        yield
    except BaseExceptionGroup as group:
        found = _first(group)
        if found is None:
            raise
        raise found from group


def _first(group: BaseExceptionGroup[BaseException]) -> LocalError | None:
    for error in group.exceptions:
        if isinstance(error, LocalError):
            return error
        if isinstance(error, BaseExceptionGroup) and (found := _first(error)):
            return found
    return None
