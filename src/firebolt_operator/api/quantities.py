"""How much does this text mean, and how would Kubernetes write it? (`0.5` is `500m`, `1024Mi` is `1Gi`)"""

import re
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from firebolt_operator.api.texts import MOST_CHARACTERS, shortened

# Nothing is tried twice (possessive repetitions): the time to refuse a text grows with its length, not faster.
_SYNTAX: Final = re.compile(
    r"([+-]?+)([0-9]++\.?+[0-9]*+|\.[0-9]++)([KMGTPE]i|[eE][+-]?+[0-9]++|[numkMGTPE])?+",
)
_DECIMAL: Final = {-9: "n", -6: "u", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P", 18: "E"}
_BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL_POWER: Final = {suffix: power for power, suffix in _DECIMAL.items()}
_NANO: Final = 10**9
_MOST_INTEGER: Final = 10**MOST_CHARACTERS  # Python refuses to print much longer ones
_MOST_BINARY: Final = 2**63 - 1
_MOST_EXPONENT: Final = 64  # beyond any resource; keeps a hostile exponent from filling the memory


class _Notation(Enum):
    DECIMAL = "decimal suffix"
    EXPONENT = "decimal exponent"
    BINARY = "binary suffix"


class _Parsed(NamedTuple):
    value: Fraction
    notation: _Notation


def parse_quantity(text: int | str) -> Fraction:
    """The exact value; what is finer than a nano is rounded away from zero, as Kubernetes does."""
    return _read(text).value


def is_same_quantity(left: int | str, right: int | str) -> bool:
    """Whether both mean the same amount, however they are written."""
    return parse_quantity(left) == parse_quantity(right)


def canonical_quantity(text: int | str) -> str:
    """The form in which Kubernetes prints it."""
    value, notation = _read(text)
    if notation is _Notation.BINARY and abs(value) >= 1024 and value.denominator == 1:
        return _in_powers_of_1024(int(value))
    return _in_powers_of_1000(value, with_exponent=notation is _Notation.EXPONENT)


def _read(given: int | str) -> _Parsed:
    """Without remembering texts that are too long to be one, let alone quoting them."""
    if isinstance(given, int) and abs(given) >= _MOST_INTEGER:
        raise ValueError("a number of more than 64 digits is not a quantity")
    text = str(given)
    if len(text) > MOST_CHARACTERS:
        raise _malformed(text)
    return _parse(text)


def _malformed(text: str) -> ValueError:
    return ValueError(f'"{shortened(text)}" is not a quantity; write it like 500m, 2 or 1Gi')


@lru_cache(maxsize=4096)
def _parse(text: str) -> _Parsed:
    match = _SYNTAX.fullmatch(text)
    if match is None:
        raise _malformed(text)
    sign, number, suffix = match[1], match[2], match[3] or ""
    factor, notation = _factor(suffix, text)
    whole, _, decimals = number.partition(".")
    amount = Fraction(int(f"{whole}{decimals}"), 10 ** len(decimals)) * factor
    rounded = Fraction(-(-amount.numerator * _NANO // amount.denominator), _NANO)
    if notation is _Notation.BINARY:
        rounded = min(rounded, Fraction(_MOST_BINARY))
    return _Parsed(-rounded if sign == "-" else rounded, notation)


def _factor(suffix: str, text: str) -> tuple[Fraction, _Notation]:
    if suffix.endswith("i"):
        return Fraction(1024 ** _BINARY.index(suffix)), _Notation.BINARY
    if suffix in _DECIMAL_POWER:
        return _power_of_ten(_DECIMAL_POWER[suffix]), _Notation.DECIMAL
    exponent = int(suffix[1:])
    if abs(exponent) > _MOST_EXPONENT:
        raise ValueError(f'"{text}" is not a quantity; its exponent is out of range')
    return _power_of_ten(exponent), _Notation.EXPONENT


def _power_of_ten(exponent: int) -> Fraction:
    return Fraction(10) ** exponent


def _in_powers_of_1024(value: int) -> str:
    power = 0
    while power < len(_BINARY) - 1 and value % 1024 == 0:
        value //= 1024
        power += 1
    return f"{value}{_BINARY[power]}"


def _in_powers_of_1000(value: Fraction, *, with_exponent: bool) -> str:
    if value == 0:
        return "0"
    mantissa, power = int(value * _NANO), -9
    while mantissa % 1000 == 0 and (with_exponent or power < max(_DECIMAL)):
        mantissa //= 1000
        power += 3
    if not with_exponent:
        return f"{mantissa}{_DECIMAL[power]}"
    return f"{mantissa}e{power}" if power else str(mantissa)
