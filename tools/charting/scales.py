"""The axis of values: from where to where, which numbers on it, and how they are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tools.charting.amounts import beside_axis, on_axis
from tools.charting.looks import MARGIN, SMALL
from tools.charting.sheet import Sheet, all_whole, line_height

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AIR: Final = 0.06  # of the span, beyond the outermost value
NEAR: Final = 0.5  # a line whose least value is below this part of its greatest starts at zero
TICKS: Final = 6

Span = tuple[float, float]


def span_of_bars(sums: Sequence[float]) -> Span:
    """Bars start at zero, always: their length is what people compare.

    >>> span_of_bars([100.0]), span_of_bars([0.0]), span_of_bars([-50.0, 50.0])
    ((0.0, 106.0), (0.0, 1.0), (-56.0, 56.0))
    """
    low, high = min(0.0, *sums), max(0.0, *sums)
    if low == high:
        return 0.0, 1.0
    air = (high - low) * AIR
    return (low - air if low else 0.0), (high + air if high else 0.0)


def span_of_lines(values: Sequence[float]) -> Span:
    """From zero where that costs little, else about the values, so that their changes can be seen.

    >>> span_of_lines([10.0, 100.0])[0], span_of_lines([90.0, 100.0])[0] > 80, span_of_lines([7.0, 7.0])[0]
    (0.0, True, 0.0)
    """
    low, high = min(values), max(values)
    if low == high or 0 <= low <= high * NEAR:
        return span_of_bars([low, high])
    air = (high - low) * AIR
    return low - air, high + air


def scaled(sheet: Sheet, axes: Axes, span: Span, *, upright: bool) -> None:
    """Give the axis of values its `span`, its numbers and its unit."""
    unit = sheet.order.unit
    axis = axes.yaxis if upright else axes.xaxis
    (axes.set_ylim if upright else axes.set_xlim)(*span)
    whole = all_whole(sheet.order.values)
    axes.locator_params(
        axis="y" if upright else "x",
        nbins=TICKS,
        steps=[1, 2, 2.5, 5, 10],
        integer=whole,
        min_n_ticks=1 if whole else 2,
    )
    inside = [float(tick) for tick in axis.get_majorticklocs() if span[0] <= tick <= span[1]]
    ticks = [0.0] if not any(sheet.order.values) else inside
    axis.set_ticks(ticks, labels=on_axis(ticks, unit))
    if not upright and (said := beside_axis(unit)):
        axes.set_xlabel(said, loc="right", fontsize=SMALL, color=sheet.theme.faint)


def captioned(sheet: Sheet, y: float) -> float:
    """The unit above the numbers and level, where it is read first. The height at which it ends."""
    if not (said := beside_axis(sheet.order.unit)):
        return y
    sheet.write(MARGIN, y, said, size=SMALL, colour=sheet.theme.faint)
    return y - line_height(SMALL) - 10


def zero_line(sheet: Sheet, axes: Axes, span: Span, *, upright: bool) -> None:
    """A line where the values are zero, if that is in sight."""
    if span[0] <= 0 <= span[1]:
        (axes.axhline if upright else axes.axvline)(0, color=sheet.theme.faint, lw=1.0, zorder=4)
