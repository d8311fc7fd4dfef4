"""When is a configuration file acceptable? When every key is known and has the right type."""

from typing import Annotated, Any, Final, TypeVar

import msgspec

EXIT_CONFIG: Final = 78  # what sysexits.h calls EX_CONFIG
T = TypeVar("T")
Text = Annotated[str, msgspec.Meta(min_length=1)]
"""What is not known is left out, never written as nothing."""


class ConfigError(Exception):
    """The file cannot be used; a person has to change it."""


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A level of a file that refuses keys it does not know."""


def read_strictly(content: Any, schema: type[T], *, numbers_as_text: bool = False) -> T:
    try:
        return msgspec.convert(content, schema, strict=not numbers_as_text)
    except msgspec.ValidationError as err:
        raise ConfigError(str(err)) from err
