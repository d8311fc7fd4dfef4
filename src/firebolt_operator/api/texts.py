"""How long may a text be that we read a meaning out of, and how much of it is quoted back?"""

from typing import Final

MOST_CHARACTERS: Final = 64  # of a duration, a quantity or the name of a time zone


def shortened(text: str) -> str:
    """For messages: statuses and events are small, and whoever wrote it knows the rest."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."
