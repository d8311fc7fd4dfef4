"""How are the elements of a picture written down? Escaped, with numbers no finer than a screen can show."""

from collections.abc import Iterable
from html import escape


def tag(name: str, *children: str, **attributes: str | float) -> str:
    """`class_` becomes class, and other underscores become dashes."""
    words = "".join(f' {_name(key)}="{_value(value)}"' for key, value in attributes.items())
    return f"<{name}{words}>{''.join(children)}</{name}>" if children else f"<{name}{words}/>"


def text(x: float, y: float, words: str, **attributes: str | float) -> str:
    return tag("text", escape(words), x=x, y=y, **attributes)


def rect(x: float, y: float, width: float, height: float, *, tip: str = "", **attributes: str | float) -> str:
    """What cannot be seen is made visible: a moment is at least one unit wide."""
    return tag("rect", *hint(tip), x=x, y=y, width=max(width, 1.0), height=height, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: str | float) -> str:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, **attributes)


def path(points: Iterable[tuple[float, float]], *, tip: str = "", closed: bool = False, **attributes: str) -> str:
    steps = " L".join(f"{_value(x)} {_value(y)}" for x, y in points)
    return tag("path", *hint(tip), d=f"M{steps}{' Z' if closed else ''}", **attributes)


def hint(words: str) -> list[str]:
    """Browsers show it when the pointer rests there, and screen readers read it."""
    return [tag("title", escape(words))] if words else []


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")
