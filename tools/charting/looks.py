"""Colours and sizes. The colours tell apart for the colour-blind and on their ground: a test computes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tools.charting.order import ThemeName

DOTS: Final = 200  # pixels an inch: a chat shows a picture at about half of its size
WIDTH: Final = 1600  # pixels
HEIGHT: Final = 900
MARGIN: Final = 56.0

TITLE: Final = 14.0  # points
TEXT: Final = 9.5
SMALL: Final = 8.5
MOST_SLICES: Final = 8

# A ninth line has the colour of the first, so it is dashed.
DASHES: Final = ("-", (0, (2.4, 1.4)))
HATCHES: Final = ("", "////")


@dataclass(frozen=True, slots=True)
class Theme:
    """One ground and what is drawn on it."""

    ground: str
    ink: str
    faint: str
    grid: str
    accents: tuple[str, ...]

    def accent(self, number: int) -> str:
        return self.accents[number % len(self.accents)]


THEMES: Final[Mapping[ThemeName, Theme]] = {
    "light": Theme(
        ground="#FFFFFF",
        ink="#1B1F27",
        faint="#5A6372",
        grid="#E4E7EC",
        accents=("#3159F0", "#C2410C", "#44A075", "#983388", "#B58900", "#4FA3D9", "#6F50B9", "#727B8E"),
    ),
    "dark": Theme(
        ground="#16181D",
        ink="#F2F4F8",
        faint="#A3ABBA",
        grid="#2C313B",
        accents=("#496CE2", "#E47F31", "#2CBFA9", "#D77DF4", "#E8B935", "#8CC8F0", "#9878C3", "#BFDAD1"),
    ),
}


def brightness(colour: str) -> float:
    """Relative luminance of `#RRGGBB`, from 0 to 1. Source: WCAG 2.2, "relative luminance"."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """From 1 (the same) to 21. Source: WCAG 2.2, "contrast ratio"."""
    low, high = sorted((brightness(one), brightness(other)))
    return (high + 0.05) / (low + 0.05)


def readable_on(colour: str) -> str:
    """The ink for text upon `colour`."""
    return max("#FFFFFF", "#14161B", key=lambda ink: contrast(ink, colour))
