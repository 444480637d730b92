"""Fonts that draw a chart: the one that comes with matplotlib, and what the machine has for other scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from tools.charting.letters import is_picture

FIRST_FAMILY: Final = "DejaVu Sans"
"""Comes with matplotlib, so a chart looks alike on every machine: Latin, Greek, Cyrillic, Hebrew, Arabic and signs."""

# Families with many other letters, the plainest first. Asked by name, since opening every font takes seconds.
OTHER_FAMILIES: Final = (
    "Noto Sans",
    "Source Han Sans",
    "WenQuanYi",
    "Droid Sans Fallback",
    "PingFang",
    "Hiragino",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Nanum",
    "IPA",
    "Lohit",
    "Arial Unicode",
    "FreeSans",
    "Noto Emoji",
    "Unifont",
)
FONTS_OPENED: Final = 80  # fonts opened


def chosen(wanted: set[int]) -> tuple[tuple[str, ...], set[int]]:
    """Font families that draw `wanted` code points, the first first, and all that they can draw."""
    from matplotlib import font_manager

    glyphs = _glyphs(font_manager.findfont(FIRST_FAMILY))
    families = [FIRST_FAMILY]
    for family, path in _candidates():
        missing = {point for point in wanted - glyphs if not is_picture(chr(point))}
        if not missing:
            break
        if found := missing & _glyphs(path):
            families.append(family)
            glyphs |= found
    return tuple(families), glyphs


def _candidates() -> Iterator[tuple[str, str]]:
    from matplotlib import font_manager

    upright = [font for font in font_manager.fontManager.ttflist if font.style == "normal" and "Color" not in font.name]
    upright.sort(key=lambda font: (_rank(font.name), abs(int(font.weight) - 400), font.name, font.fname))
    seen: set[str] = set()
    for font in upright[:]:
        if _rank(font.name) < len(OTHER_FAMILIES) and font.name not in seen and len(seen) < FONTS_OPENED:
            seen.add(font.name)
            yield font.name, font.fname


def _rank(name: str) -> int:
    return next((place for place, start in enumerate(OTHER_FAMILIES) if name.startswith(start)), len(OTHER_FAMILIES))


def _glyphs(path: str) -> set[int]:
    from matplotlib import font_manager

    try:
        return set(font_manager.get_font(path).get_charmap())
    except (OSError, RuntimeError):  # a broken font of the machine draws nothing
        return set()


def letters(points: Iterable[int]) -> str:
    """Some of `points` as text, for a sentence about them."""
    return "".join(chr(point) for point in sorted(points)[:12])
