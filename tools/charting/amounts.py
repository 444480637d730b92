"""Numbers as people read them: separators, units, and as many digits as tell them apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

MINUS: Final = "\u2212"
CURRENCIES: Final = frozenset("$€£¥₹₩₽₺₴₪₫₱฿₿")
# Written at the number itself, also on an axis; any other unit is said once beside the axis.
TIGHT: Final = frozenset({"%", "‰", "°"})
MAGNITUDES: Final = ((1e12, "T"), (1e9, "B"), (1e6, "M"))
BEYOND: Final = 1e15  # from here on powers of ten say more than letters
SCIENTIFIC_BELOW: Final = 1e-4  # and below this
LEAST_MONEY: Final = 1e-6  # as exact as money is kept; nobody reads a price in powers of ten
MOST_DIGITS: Final = 6  # behind the point
DIGITS: Final = (
    (10, 1),
    (1, 2),
    (0.01, 3),
    (SCIENTIFIC_BELOW, 4),
    (0, MOST_DIGITS),
)  # in a place for three, from this size on


def exact(value: float, unit: str = "") -> str:
    """`value` for text: all that matters of it.

    >>> exact(1234567, "$"), exact(0.5, "ms"), exact(12.5, "%")
    ('$1,234,567', '0.5 ms', '12.5%')
    """
    size = abs(value)
    if _needs_powers(size, unit):
        return _dressed(value, _powers(size), unit)
    return _dressed(value, _plain(size, 2 if size >= 1000 else MOST_DIGITS), unit)


def short(value: float, unit: str = "") -> str:
    """`value` for a place in a picture: three digits and a letter where it is large.

    >>> short(1234567, "$"), short(12345.6), short(0.12345, "s"), short(0.000098, "$")
    ('$1.23M', '12,346', '0.123 s', '$0.000098')
    """
    size = abs(value)
    if _needs_powers(size, unit):
        return _dressed(value, _powers(size), unit)
    for step, letter in MAGNITUDES:
        if round(size) >= step:
            return _dressed(value, _three(size / step) + letter, unit)
    return _dressed(value, _three(size), unit)


def told_apart(values: Sequence[float], unit: str = "") -> list[str]:
    """`values` short, or exact where two that differ would read alike.

    >>> told_apart([1_000_001, 1_000_002]), told_apart([1_000_000, 2_500_000])
    (['1,000,001', '1,000,002'], ['1M', '2.5M'])
    """
    texts = [short(value, unit) for value in values]
    return texts if len(set(texts)) == len(set(values)) else [exact(value, unit) for value in values]


def on_axis(ticks: Sequence[float], unit: str = "") -> list[str]:
    """The `ticks` of an axis, all in one scale and with the same number of digits.

    >>> on_axis([0, 0.5, 1.0]), on_axis([0, 2_500_000, 5_000_000], "$"), on_axis([0, 1000], "ms")
    (['0', '0.5', '1.0'], ['$0', '$2.5M', '$5.0M'], ['0', '1,000'])
    """
    shown = "" if beside_axis(unit) else unit
    most = max(map(abs, ticks), default=0)
    if _needs_powers(most, unit):
        return [_dressed(tick, _powers(abs(tick)) if tick else "0", shown) for tick in ticks]
    step, letter = _scale(ticks, most)
    digits = _digits([tick / step for tick in ticks])
    return [_dressed(tick, f"{abs(tick) / step:,.{digits}f}{letter}" if tick else "0", shown) for tick in ticks]


def _needs_powers(size: float, unit: str) -> bool:
    return size >= BEYOND or 0 < size < (LEAST_MONEY if unit in CURRENCIES else SCIENTIFIC_BELOW)


def _scale(ticks: Sequence[float], most: float) -> tuple[float, str]:
    """The scale to count in; ones if millions would need more digits than they save."""
    for step, letter in MAGNITUDES:
        if most >= step and _digits([tick / step for tick in ticks]) <= 2:
            return step, letter
    return 1.0, ""


def beside_axis(unit: str) -> str:
    """Label beside an axis of `unit`: nothing where each number carries it."""
    return "" if unit in CURRENCIES or unit in TIGHT else unit


def share(value: float, total: float) -> str:
    """`value` in percent of `total`.

    >>> share(1, 3), share(1, 1000), share(0, 5)
    ('33%', '0.1%', '0%')
    """
    percent = 100 * (value / total)
    if 0 < percent < 0.1:
        return "<0.1%"
    return f"{percent:.1f}%" if 0 < percent < 1 else f"{percent:.0f}%"


def _dressed(value: float, number: str, unit: str) -> str:
    sign = MINUS if value < 0 and any(digit in "123456789" for digit in number) else ""
    if unit in CURRENCIES:
        return f"{sign}{unit}{number}"
    return f"{sign}{number}{'' if not unit or unit in TIGHT else ' '}{unit}"


def _digits(ticks: Sequence[float]) -> int:
    """Fewest decimals at which no tick moves visibly by rounding; at most `MOST_DIGITS`."""
    gap = min((b - a for a, b in pairwise(ticks) if b > a), default=1.0)
    for digits in range(MOST_DIGITS):
        if all(abs(round(tick, digits) - tick) < gap / 1000 for tick in ticks):
            return digits
    return MOST_DIGITS


def _plain(size: float, digits: int) -> str:
    text = f"{size:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _three(size: float) -> str:
    if size >= 100:
        return f"{size:,.0f}"
    return _plain(size, next(digits for least, digits in DIGITS if size >= least))


def _powers(size: float) -> str:
    mantissa, power = f"{size:.2e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}"
