"""What the page and a reader without markup get of every construct, as files that a person can read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from runtime.markup import mass_mentions, neutralised, parse, split, to_html, to_plain
from runtime.markup.mentions import NOTHING_WIDE
from tests.golden import SAMPLE, same_as

HERE: Final = Path(__file__).parent / "golden"
MASS: Final = mass_mentions("@everyone", "@here", "@channel", "<!channel>", "<!here>")


def test_the_page() -> None:
    same_as(HERE / "sample.html", to_html(parse(SAMPLE)))


def test_a_reader_without_markup() -> None:
    same_as(HERE / "sample.txt", to_plain(parse(SAMPLE)))


def test_in_pieces_and_with_nobody_called() -> None:
    document = neutralised(parse(SAMPLE), MASS)
    made = split(document, lambda part: len(to_plain(part)), 400)
    pieces = [f"════ {number} of {len(made)}\n{to_plain(piece)}" for number, piece in enumerate(made, 1)]
    same_as(HERE / "pieces.txt", "\n".join(pieces).replace(NOTHING_WIDE, "·"))
