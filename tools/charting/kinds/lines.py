"""Line charts."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Final

from tools.charting.amounts import told_apart
from tools.charting.labels import laid
from tools.charting.looks import HEIGHT, SMALL
from tools.charting.scales import captioned, scaled, span_of_lines, zero_line
from tools.charting.sheet import Look, Sheet, axes_on, dash_of, fit, legend, sheet, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tools.charting.order import Order

MANY: Final = 120  # points; more need a thinner line
DOTTED: Final = 31  # up to so many points each has a dot


def line_chart(order: Order, families: tuple[str, ...]) -> Sheet:
    page = sheet(order, families, HEIGHT)
    top = captioned(page, legend(page, titled(page), lines=True))
    axes = axes_on(page, upright=True)
    span = span_of_lines(order.values)
    scaled(page, axes, span, upright=True)
    zero_line(page, axes, span, upright=True)
    count = len(order.labels)
    pad = 0.5 if count == 1 else (count - 1) * 0.025
    axes.set_xlim(-pad, count - 1 + pad)
    axes.set_xticks([])
    _draw(page, axes)
    _label(page, axes, fit(page, axes, top) / (count - 1 + 2 * pad))
    fit(page, axes, top)
    return page


def _draw(page: Sheet, axes: Axes) -> None:
    order, theme = page.order, page.theme
    for number, series in enumerate(order.series):
        values = [nan if value is None else value for value in series.values]
        colour = theme.accent(number)
        alone = _alone(series.values)
        axes.plot(
            range(len(values)),
            values,
            color=colour,
            lw=2.4 if len(values) <= MANY else 1.3,
            ls=dash_of(page, number),
            solid_capstyle="round",
            marker="o",
            ms=6,
            mec=theme.ground,
            mew=0.8,
            zorder=3,
            markevery=None if len(values) <= DOTTED else alone,
        )
        if len(order.series) == 1:
            axes.fill_between(range(len(values)), values, max(0.0, axes.get_ylim()[0]), color=colour, alpha=0.10, lw=0)
            _last(page, axes)


def _alone(values: tuple[float | None, ...]) -> list[int]:
    """Points between two gaps: no line shows them, so a dot must."""
    around = (None, *values, None)
    return [
        at for at, value in enumerate(values) if value is not None and around[at] is None and around[at + 2] is None
    ]


def _last(page: Sheet, axes: Axes) -> None:
    """The newest value at the end of the one line: what people look for first."""
    series = page.order.series[0]
    at, value = max((at, value) for at, value in enumerate(series.values) if value is not None)
    text = told_apart(series.known, page.order.unit)[-1]
    axes.annotate(
        text,
        (at, value),
        xytext=(9, 0),
        textcoords="offset points",
        va="center",
        fontsize=SMALL,
        weight="bold",
        color=page.theme.ink,
        annotation_clip=False,
    )


def _label(page: Sheet, axes: Axes, slot: float) -> None:
    done = laid(page.order.labels, slot, page.measure(SMALL), ordered=True)
    turned: Look = {"rotation": done.turned, "ha": "right", "rotation_mode": "anchor"} if done.turned else {}
    axes.set_xticks(done.at, labels=done.texts, **turned)
