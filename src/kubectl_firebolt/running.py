"""How is something run that goes on in several places at once, and how does one error come out of it?"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from kubectl_firebolt.errors import PluginError

T = TypeVar("T")


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """The first error that is meant for people comes out as itself; anything else is a bug and stays as it is."""
    try:
        return asyncio.run(work)
    except BaseExceptionGroup as group:
        found = _first(group)
        if found is None:
            raise
        raise found from group


def _first(group: BaseExceptionGroup[BaseException]) -> PluginError | None:
    leaves = [each for each in group.exceptions if isinstance(each, PluginError)]
    inner = [_first(each) for each in group.exceptions if isinstance(each, BaseExceptionGroup)]
    return next((each for each in [*leaves, *inner] if each), None)
