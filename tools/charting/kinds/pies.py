"""Pie charts: a ring, and beside it a list that says what each slice is."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin
from typing import TYPE_CHECKING, Final

from tools.charting.amounts import beside_axis, share, short
from tools.charting.letters import cut
from tools.charting.looks import HEIGHT, MARGIN, MOST_SLICES, SMALL, TEXT, TITLE, WIDTH, readable_on
from tools.charting.sheet import Sheet, sheet, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Wedge

    from tools.charting.order import Order

RING: Final = 0.40  # of the radius is colour
SAID: Final = 0.06  # slices smaller than this have no room for their share
LIST: Final = 0.50  # of the width, where the list begins
ROW: Final = 74.0  # pixels


@dataclass(frozen=True, slots=True)
class Slice:
    label: str
    value: float


def slices(order: Order) -> list[Slice]:
    """The greatest first; what comes after MOST_SLICES is one slice together. Slices of nothing are left out."""
    values = order.series[0].values
    found = [Slice(label, value) for label, value in zip(order.labels, values, strict=True) if value]
    found.sort(key=lambda each: -each.value)
    if len(found) <= MOST_SLICES:
        return found
    rest = found[MOST_SLICES - 1 :]
    return [*found[: MOST_SLICES - 1], Slice(f"Other ({len(rest)})", sum(each.value for each in rest))]


def pie_chart(order: Order, families: tuple[str, ...]) -> Sheet:
    page = sheet(order, families, HEIGHT)
    top = titled(page)
    found = slices(order)
    middle = (top + MARGIN * 0.8) / 2
    _ring(page, found, top, middle)
    _list(page, found, middle)
    return page


def _ring(page: Sheet, found: list[Slice], top: float, middle: float) -> None:
    size = min(top - MARGIN * 0.8, WIDTH * LIST - 2 * MARGIN)
    left = MARGIN + (WIDTH * LIST - 2 * MARGIN - size) / 2
    axes = page.figure.add_axes((left / WIDTH, (middle - size / 2) / page.height, size / WIDTH, size / page.height))
    axes.set(xlim=(-1, 1), ylim=(-1, 1))
    total = sum(each.value for each in found)
    colours = [page.theme.accent(number) for number in range(len(found))]
    # Shares, since the sum of large values may be beyond what a float holds exactly.
    seam = {"width": RING, "ec": page.theme.ground, "lw": 2.0 if len(found) > 1 else 0}
    wedges = axes.pie(
        [each.value / total for each in found], colors=colours, startangle=90, counterclock=False, wedgeprops=seam
    )[0]
    for wedge, each, colour in zip(wedges, found, colours, strict=True):
        if each.value / total >= SAID:
            _say(axes, wedge, share(each.value, total), readable_on(colour))
    if page.order.unit != "%":
        _sum_up(page, axes, total, size * (1 - RING) * 0.84)


def _say(axes: Axes, wedge: Wedge, text: str, ink: str) -> None:
    """Write `text` in the middle of `wedge`."""
    angle = radians((wedge.theta1 + wedge.theta2) / 2)
    away = 1 - RING / 2
    place = (away * cos(angle), away * sin(angle))
    axes.text(*place, text, fontsize=TEXT, weight="bold", color=ink, ha="center", va="center")


def _sum_up(page: Sheet, axes: Axes, total: float, room: float) -> None:
    """The total in the hole, which is `room` pixels wide."""
    unit = beside_axis(page.order.unit)
    number = short(total, "" if unit else page.order.unit)
    size = min(TITLE + 4, (TITLE + 4) * room / page.measure(TITLE + 4, "bold")(number))
    below = cut(f"{unit} in total".strip(), room, page.measure(SMALL))
    axes.text(0, 0.07, number, fontsize=size, weight="bold", color=page.theme.ink, ha="center", va="center")
    axes.text(0, -0.14, below, fontsize=SMALL, color=page.theme.faint, ha="center", va="center")


def _list(page: Sheet, found: list[Slice], middle: float) -> None:
    """One row a slice: its colour, its name, its value and its share."""
    total = sum(each.value for each in found)
    shares = [share(each.value, total) for each in found]
    amounts = [short(each.value, page.order.unit) for each in found]
    measure, strong = page.measure(TEXT), page.measure(TEXT, "bold")
    left, right = WIDTH * LIST + 20, WIDTH - MARGIN
    plain = page.order.unit == "%"  # the value is a share itself
    beside = right - max(map(strong, shares)) - 40
    room = beside - left - 60 - (0 if plain else max(map(measure, amounts)) + 30)
    y = middle + (len(found) - 1) * ROW / 2
    for number, each in enumerate(found):
        page.chip(left, y, page.theme.accent(number))
        page.write(left + 46, y, cut(each.label, room, measure), va="center")
        if not plain:
            page.write(beside, y, amounts[number], colour=page.theme.faint, ha="right", va="center")
        page.write(right, y, shares[number], weight="bold", ha="right", va="center")
        y -= ROW
