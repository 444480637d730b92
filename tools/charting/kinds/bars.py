"""Bar charts: side by side or stacked, upright or lying."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tools.charting.amounts import told_apart
from tools.charting.labels import TURN, laid
from tools.charting.letters import cut
from tools.charting.looks import HEIGHT, SMALL
from tools.charting.scales import captioned, scaled, span_of_bars, zero_line
from tools.charting.sheet import Look, Sheet, axes_on, fit, hatch_of, legend, sheet, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tools.charting.order import Order

GROUP: Final = 0.74  # of the room of a label is bars
LONG: Final = 16  # characters; longer labels are read better beside lying bars
LYING: Final = 30  # so many labels may lie without being asked to
ROW: Final = 34.0  # pixels, the least for a lying label
BAR: Final = 16.0  # pixels, the least for a lying bar
HEAD: Final = 260  # pixels for what is above and below the bars
TALLEST: Final = 2200  # pixels
SIDE: Final = 460.0  # pixels, the most of a lying label
GAP: Final = 5.0  # points between a bar and its value
FEW: Final = 5  # so many bars fill a picture
SEAMED: Final = 80  # up to so many bars have a seam between them
VALUED: Final = 24  # up to so many bars have their value written


@dataclass(frozen=True, slots=True)
class Bar:
    """One rectangle: of which series, where along the labels, how wide there, and from where how far."""

    series: int
    at: float
    wide: float
    start: float
    length: float


def grouped(order: Order) -> list[Bar]:
    """The series of a label side by side."""
    wide = GROUP / len(order.series)
    return [
        Bar(number, at + (number - (len(order.series) - 1) / 2) * wide, wide, 0.0, value)
        for number, series in enumerate(order.series)
        for at, value in enumerate(series.values)
        if value is not None
    ]


def stacked(order: Order) -> list[Bar]:
    """The series of a label upon each other; what is below zero grows downwards by itself."""
    bars = []
    for at in range(len(order.labels)):
        ends = {True: 0.0, False: 0.0}
        for number, series in enumerate(order.series):
            if (value := series.values[at]) is not None:
                bars.append(Bar(number, at, GROUP, ends[value >= 0], value))
                ends[value >= 0] += value
    return bars


def lies(order: Order) -> bool:
    """True if the bars lie: as asked, or because upright ones could hardly be labelled."""
    return order.horizontal or (max(map(len, order.labels)) > LONG and 4 < len(order.labels) <= LYING)


def bar_chart(order: Order, families: tuple[str, ...]) -> Sheet:
    upright = not lies(order)
    bars = stacked(order) if order.stacked else grouped(order)
    page = sheet(order, families, HEIGHT if upright else _height(order))
    top = legend(page, titled(page), lines=False)
    if upright:
        top = captioned(page, top)
    axes = axes_on(page, upright=upright)
    span = span_of_bars([edge for bar in bars for edge in (bar.start, bar.start + bar.length)])
    scaled(page, axes, span, upright=upright)
    zero_line(page, axes, span, upright=upright)
    _draw(page, axes, bars, upright=upright)
    (_label_below if upright else _label_beside)(page, axes, top)
    return page


def _height(order: Order) -> int:
    each = max(ROW, BAR * (1 if order.stacked else len(order.series)) / GROUP)
    return min(max(HEIGHT, int(HEAD + each * len(order.labels))), TALLEST)


def _draw(page: Sheet, axes: Axes, bars: list[Bar], *, upright: bool) -> None:
    seam = page.theme.ground if len(page.order.series) > 1 and len(bars) <= SEAMED else "none"
    for bar in bars:
        look: Look = {"color": page.theme.accent(bar.series), "ec": seam, "lw": 0.8, "zorder": 2}
        if hatch := hatch_of(page, bar.series):
            look |= {"hatch": hatch, "ec": page.theme.ground, "lw": 0 if seam == "none" else 0.8}
        if upright:
            axes.bar(bar.at, bar.length, bar.wide, bottom=bar.start, **look)
        else:
            axes.barh(bar.at, bar.length, bar.wide, left=bar.start, **look)
    if len(page.order.series) == 1 and len(bars) <= VALUED:
        _value(page, axes, bars, upright=upright)
    first, last = -0.5 - _air(page), len(page.order.labels) - 0.5 + _air(page)
    if upright:
        axes.set_xlim(first, last)
    else:
        axes.set_ylim(last, first)  # the first label on top


def _air(page: Sheet) -> float:
    """Room beside few bars, which would be walls without it."""
    return max(0.0, (FEW - len(page.order.labels)) / 3)


def _value(page: Sheet, axes: Axes, bars: list[Bar], *, upright: bool) -> None:
    """Write at each bar how long it is, unless that would be wider than its room."""
    texts = told_apart([bar.length for bar in bars], page.order.unit)
    if upright and max(map(page.measure(SMALL), texts)) > axes.get_window_extent().width / len(page.order.labels):
        return
    for bar, text in zip(bars, texts, strict=True):
        away = -GAP if bar.length < 0 else GAP
        end = bar.start + bar.length
        if upright:
            place: Look = {"ha": "center", "va": "top" if away < 0 else "bottom"}
        else:
            place = {"va": "center", "ha": "right" if away < 0 else "left"}
        axes.annotate(
            text,
            (bar.at, end) if upright else (end, bar.at),
            xytext=(0, away) if upright else (away, 0),
            textcoords="offset points",
            fontsize=SMALL,
            color=page.theme.ink,
            annotation_clip=False,
            **place,
        )


def _label_below(page: Sheet, axes: Axes, top: float) -> None:
    axes.set_xticks([])
    slot = fit(page, axes, top) / (len(page.order.labels) + 2 * _air(page))
    done = laid(page.order.labels, slot, page.measure(SMALL), ordered=False)
    axes.set_xticks(done.at, labels=done.texts)
    if done.turned:
        axes.tick_params(axis="x", rotation=TURN)
        for text in axes.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")
    fit(page, axes, top)


def _label_beside(page: Sheet, axes: Axes, top: float) -> None:
    measure = page.measure(SMALL)
    axes.set_yticks(range(len(page.order.labels)), labels=[cut(label, SIDE, measure) for label in page.order.labels])
    fit(page, axes, top)
