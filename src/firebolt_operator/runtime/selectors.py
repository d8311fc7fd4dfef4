"""Does a set of labels match a selector? The full grammar of Kubernetes label selectors."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from firebolt_operator.errors import ConfigurationError

Operator = Literal["exists", "!", "in", "notin", ">", "<"]

_TOKEN = re.compile(r"\s*(==|!=|[=!(),<>]|[^\s=!(),<>]+)")
_SYMBOLS = frozenset({"", "==", "!=", "=", "!", "(", ")", ",", "<", ">"})
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")


@dataclass(frozen=True, slots=True)
class Requirement:
    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "exists":
                return value is not None
            case "!":
                return value is None
            case "in":
                return value in self.values
            case "notin":
                return value not in self.values
            case _:
                return self._compares(value)

    def _compares(self, value: str | None) -> bool:
        if value is None or not _is_integer(value):
            return False
        (bound,) = self.values
        return int(value) > int(bound) if self.operator == ">" else int(value) < int(bound)


@dataclass(frozen=True, slots=True)
class Selector:
    """All requirements must hold; no requirement matches everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        return all(requirement.matches(labels) for requirement in self.requirements)


EVERYTHING = Selector()


def parse_selector(text: str) -> Selector:
    """Raises ConfigurationError: a typo must stop the process, not select everything."""
    if not text.strip():
        return EVERYTHING
    parser = _Parser(text)
    requirements = [parser.requirement()]
    while parser.peek():
        parser.expect(",")
        requirements.append(parser.requirement())
    return Selector(tuple(requirements))


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _TOKEN.findall(text)
        self._position = 0

    def peek(self) -> str:
        """The next token, or the empty string at the end."""
        return self._tokens[self._position] if self._position < len(self._tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self._position += 1
        return token

    def expect(self, wanted: str) -> None:
        found = self.take()
        if found != wanted:
            raise self._error(f"expected {wanted!r}, found {found!r}")

    def requirement(self) -> Requirement:
        if self.peek() == "!":
            self.take()
            return Requirement(self._key(), "!")
        key = self._key()
        if self.peek() in {"", ","}:
            return Requirement(key, "exists")
        return self._comparison(key, self.take())

    def _comparison(self, key: str, operator: str) -> Requirement:
        match operator:
            case "=" | "==":
                return Requirement(key, "in", frozenset({self._value()}))
            case "!=":
                return Requirement(key, "notin", frozenset({self._value()}))
            case "in" | "notin":
                return Requirement(key, operator, self._values())
            case ">" | "<":
                return Requirement(key, operator, frozenset({self._integer()}))
            case _:
                raise self._error(f"unknown operator {operator!r}")

    def _key(self) -> str:
        key = self.take()
        prefix, slash, name = key.rpartition("/")
        has_prefix = bool(_PREFIX.fullmatch(prefix)) and len(prefix) <= 253
        if key in _SYMBOLS or not _NAME.fullmatch(name) or (slash and not has_prefix):
            raise self._error(f"{key!r} is not a label key")
        return key

    def _value(self) -> str:
        if self.peek() in {"", ",", ")"}:
            return ""  # `k=` asks for the empty value
        value = self.take()
        if not _NAME.fullmatch(value):
            raise self._error(f"{value!r} is not a label value")
        return value

    def _values(self) -> frozenset[str]:
        self.expect("(")
        values = {self._value()}
        while self.peek() == ",":
            self.take()
            values.add(self._value())
        self.expect(")")
        return frozenset(values)

    def _integer(self) -> str:
        value = self.take()
        if not _is_integer(value):
            raise self._error(f"{value!r} is not an integer")
        return value

    def _error(self, problem: str) -> ConfigurationError:
        return ConfigurationError(f"label selector {self._text!r}: {problem}")


def _is_integer(text: str) -> bool:
    return re.fullmatch(r"[+-]?[0-9]+", text) is not None
