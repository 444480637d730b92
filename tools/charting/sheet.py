"""The picture that every kind of chart is drawn on: its title, its legend, and the room they leave.

All is placed in pixels from the lower left corner: what was measured is then where it was meant to be. matplotlib is
imported in the functions that need it, so that importing our modules does not load it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tools.charting.letters import Measure, cut, wrapped
from tools.charting.looks import DASHES, DOTS, HATCHES, MARGIN, SMALL, TEXT, THEMES, TITLE, WIDTH, Theme
from tools.charting.order import Order

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
    from matplotlib.figure import Figure

Look = dict[str, Any]
"""Keyword arguments for matplotlib."""

LINE_HEIGHT_FACTOR: Final = 1.28  # line height as a multiple of the size
SWATCH: Final = 46.0  # pixels
CHIP: Final = 26.0
LEGEND_NAME_PIXELS: Final = 420.0  # pixels of a name in the legend


@dataclass(frozen=True, slots=True)
class Sheet:
    """An empty picture. `families` are the fonts."""

    order: Order
    figure: Figure
    canvas: FigureCanvasAgg
    theme: Theme
    height: int
    families: tuple[str, ...]

    @property
    def renderer(self) -> RendererAgg:
        renderer: RendererAgg = self.canvas.get_renderer()  # type: ignore[no-untyped-call]
        return renderer

    def pixels(self) -> bytes:
        """The finished picture, four bytes a pixel."""
        self.canvas.draw()  # type: ignore[no-untyped-call]
        return bytes(self.canvas.buffer_rgba())  # type: ignore[no-untyped-call]

    def measure(self, size: float, weight: str = "normal") -> Measure:
        from matplotlib.font_manager import FontProperties

        font = FontProperties(family=list(self.families), size=size, weight=weight)
        renderer = self.renderer

        def width(text: str) -> float:
            return float(renderer.get_text_width_height_descent(text, font, ismath=False)[0])  # type: ignore[no-untyped-call]

        return width

    def write(self, x: float, y: float, text: str, *, size: float = TEXT, colour: str = "", **more: Any) -> None:
        """`text` with its upper left corner at (x, y), unless `more` says otherwise."""
        from matplotlib.transforms import IdentityTransform

        place: Look = {"ha": "left", "va": "top", "transform": IdentityTransform()} | more
        self.figure.text(x, y, text, fontsize=size, color=colour or self.theme.ink, **place)

    def chip(
        self, x: float, middle: float, colour: str, *, width: float = CHIP, hatch: str = "", dash: Any = None
    ) -> None:
        """A sample of a colour; of a line where `dash` says which."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Rectangle
        from matplotlib.transforms import IdentityTransform

        if dash is None:
            low = (x, middle - width / 2)
            self.figure.add_artist(
                Rectangle(
                    low, width, width, fc=colour, ec=self.theme.ground, lw=0, hatch=hatch, transform=IdentityTransform()
                )
            )
        else:
            ends = ([x, x + width], [middle, middle])
            self.figure.add_artist(Line2D(*ends, color=colour, lw=2.6, ls=dash, transform=IdentityTransform()))


def sheet(order: Order, families: tuple[str, ...], height: int) -> Sheet:
    from matplotlib import rcParams
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # A dollar is a dollar here, and no formula.
    rcParams.update({"font.family": list(families), "text.parse_math": False})
    theme = THEMES[order.theme]
    figure = Figure(figsize=(WIDTH / DOTS, height / DOTS), dpi=DOTS, facecolor=theme.ground)
    return Sheet(order, figure, FigureCanvasAgg(figure), theme, height, families)


def titled(sheet: Sheet) -> float:
    """Write the title. The height at which it ends."""
    y = sheet.height - MARGIN
    for line in wrapped(sheet.order.title, WIDTH - 2 * MARGIN, 2, sheet.measure(TITLE, "bold")):
        sheet.write(MARGIN, y, line, size=TITLE, weight="bold")
        y -= line_height(TITLE)
    return y - 12


def legend(sheet: Sheet, y: float, *, lines: bool) -> float:
    """Name the series where there are several. The height at which it ends."""
    names = [series.name for series in sheet.order.series]
    if len(names) < 2:
        return y
    measure = sheet.measure(TEXT)
    x = MARGIN
    for number, name in enumerate(names):
        name = cut(name, LEGEND_NAME_PIXELS, measure)
        sample = SWATCH if lines else CHIP
        wide = sample + 14 + measure(name)
        if x > MARGIN and x + wide > WIDTH - MARGIN:
            x, y = MARGIN, y - line_height(TEXT) - 6
        look: Look = {"dash": dash_of(sheet, number)} if lines else {"hatch": hatch_of(sheet, number)}
        sheet.chip(x, y - line_height(TEXT) / 2 + 2, sheet.theme.accent(number), width=sample, **look)
        sheet.write(x + sample + 14, y, name, colour=sheet.theme.faint)
        x += wide + 40
    return y - line_height(TEXT) - 14


def dash_of(sheet: Sheet, number: int) -> Any:
    """Dash that tells a line from an earlier one of the same colour."""
    return DASHES[number // len(sheet.theme.accents) % len(DASHES)]


def hatch_of(sheet: Sheet, number: int) -> str:
    """Hatch of a series of bars."""
    return HATCHES[number // len(sheet.theme.accents) % len(HATCHES)]


def axes_on(sheet: Sheet, *, upright: bool) -> Axes:
    """Axes without a frame: a thin grid across the values, which go up where `upright`, else to the right."""
    axes = sheet.figure.add_axes((0.1, 0.1, 0.8, 0.6), facecolor=sheet.theme.ground)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(axis="y" if upright else "x", color=sheet.theme.grid, lw=0.8)
    axes.tick_params(length=0, pad=6, labelsize=SMALL, labelcolor=sheet.theme.faint)
    return axes


def fit(sheet: Sheet, axes: Axes, top: float) -> float:
    """Move the edges of `axes` so that all about them ends at the margins and below `top`. The width inside."""
    for _ in range(2):  # moving one edge may turn a label over another
        outer = axes.get_tightbbox(sheet.renderer, for_layout_only=True)
        inner = axes.get_window_extent()
        if outer is None:
            break
        left, low = MARGIN + inner.x0 - outer.x0, MARGIN * 0.8 + inner.y0 - outer.y0
        right, high = WIDTH - MARGIN + inner.x1 - outer.x1, top + inner.y1 - outer.y1
        wide, tall = max(right - left, WIDTH * 0.3), max(high - low, sheet.height * 0.25)
        axes.set_position((left / WIDTH, low / sheet.height, wide / WIDTH, tall / sheet.height))
    return float(axes.get_window_extent().width)


def all_whole(values: Sequence[float]) -> bool:
    return all(value == round(value) for value in values)


def line_height(size: float) -> float:
    """Pixels from one line of text to the next."""
    return size * LINE_HEIGHT_FACTOR * DOTS / 72
