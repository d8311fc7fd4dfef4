"""Draws two records of a benchmark side by side, as a picture for the docs.

    python bench/compare.py BEFORE.json AFTER.json --output docs/pictures/engines.svg

Each figure is drawn as a multiple of its target: what ends left of the line is as it should be. A figure that was
measured against a floor is drawn as its ratio, so that records of two machines can be compared.
"""

import argparse
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from bench.support.record import Record, read_record  # noqa: E402 - found through the line above
from bench.support.report import Row  # noqa: E402

WIDTH: Final = 900
NAMES: Final = 330  # where the bars begin
BAR: Final = 12
GROUP: Final = 40
TOP: Final = 66
MOST_TARGETS: Final = 3.0  # a longer bar is cut off, and its figure tells
SCALE: Final = (WIDTH - NAMES - 110) / MOST_TARGETS
COLOURS: Final = ("#9aa5b1", "#d9480f")
STYLE: Final = (
    "text{font:12px system-ui,sans-serif;fill:#1f2933}"
    ".name{font-weight:600}.quiet{fill:#52606d}"
    "@media (prefers-color-scheme:dark){text{fill:#e4e7eb}.quiet{fill:#9aa5b1}}"
)


def drawn(before: Record, after: Record) -> str:
    """A picture that stands on its own: no script and no font from anywhere else."""
    pairs = list(_pairs(before, after))
    height = TOP + GROUP * len(pairs) + 24
    target = NAMES + SCALE
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(_title(before, after))}</title><style>{STYLE}</style>",
        f'<text class="name" x="0" y="16">{escape(_title(before, after))}</text>',
        *(_legend(place, record) for place, record in enumerate((before, after))),
        *(_group(TOP + GROUP * place, pair) for place, pair in enumerate(pairs)),
        f'<line x1="{target:.0f}" y1="{TOP - 12}" x2="{target:.0f}" y2="{height - 20}" stroke="#2f9e44"/>',
        f'<text class="quiet" x="{target:.0f}" y="{height - 6}" text-anchor="middle">as it should be</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _title(before: Record, after: Record) -> str:
    counts = str(after.engines) if before.engines == after.engines else f"{before.engines} and {after.engines}"
    return f"{after.benchmark}: {counts} of them"


def _legend(place: int, record: Record) -> str:
    told = f"{record.engines} engines, {record.revision}, {record.began:%-d %B %Y}, {record.cores} cores"
    x, y = NAMES, 16 + 18 * place
    square = f'<rect x="{x}" y="{y - 10}" width="10" height="10" fill="{COLOURS[place]}"/>'
    return f'{square}<text class="quiet" x="{x + 16}" y="{y}">{escape(told)}</text>'


def _pairs(before: Record, after: Record) -> Iterator[tuple[Row | None, Row]]:
    """What the second one has, in its order; a figure without a target cannot be drawn."""
    known = {row.what: row for row in before.rows}
    for row in after.rows:
        if row.target:
            yield known.get(row.what), row


def _group(top: int, pair: tuple[Row | None, Row]) -> str:
    what = f'<text class="name" x="0" y="{top + 10}">{escape(pair[1].what)}</text>'
    wanted = f'<text class="quiet" x="0" y="{top + 25}">{escape(_wanted(pair[1]))}</text>'
    bars = (_bar(top + place * (BAR + 2), row, COLOURS[place]) for place, row in enumerate(pair) if row is not None)
    return what + wanted + "".join(bars)


def _wanted(row: Row) -> str:
    unit = "of the floor" if row.floor is not None else row.unit
    return f"at most {row.target:g} {unit}".strip()


def _bar(top: int, row: Row, colour: str) -> str:
    width = SCALE * min(row.judged / (row.target or 1.0), MOST_TARGETS)
    beside = "" if row.floor is None else f" = {row.judged:.2f} floors"
    told = f"{row.measured:.2f} {row.unit}".strip() + beside
    rectangle = f'<rect x="{NAMES}" y="{top}" width="{max(width, 1):.1f}" height="{BAR}" fill="{colour}" rx="2"/>'
    return f'{rectangle}<text class="quiet" x="{NAMES + width + 6:.1f}" y="{top + 10}">{escape(told)}</text>'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--output", type=Path, help="where the picture goes; to standard output without it")
    words = parser.parse_args()
    picture = drawn(read_record(words.before), read_record(words.after))
    if words.output:
        words.output.write_text(picture)
    else:
        print(picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
