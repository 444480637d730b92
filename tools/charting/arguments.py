"""Arguments of a model, made an Order; each fault is a sentence it can act upon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from runtime.errors import ToolRetry
from tools.charting.letters import clean
from tools.charting.order import MOST_LABELS, MOST_SERIES, Kind, Order, Series, ThemeName

MOST_BARS: Final = 400  # more are thinner than three pixels
MOST_LYING: Final = 60  # labels beside lying bars
LONGEST_TITLE: Final = 200  # characters
LONGEST_LABEL: Final = 300
LONGEST_UNIT: Final = 20
LONGEST_ALT: Final = 2000
FARTHEST: Final = 1e30  # beyond it, sums and the places of a picture are no numbers any more
NEAREST: Final = 1e-30


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of a call, of the right types and not checked yet."""

    kind: Kind
    title: str
    labels: Sequence[str | int | float]
    series: Sequence[Mapping[str, Any]]
    unit: str = ""
    alt: str = ""
    theme: ThemeName = "light"
    stacked: bool = False
    horizontal: bool = False


def order_of(asked: Asked) -> Order:
    """Errors: ToolRetry names the argument, what is wrong with it and what would be right."""
    labels = tuple(_label(label, at) for at, label in enumerate(asked.labels))
    _count("labels", len(labels), MOST_LABELS, "draw fewer points, such as one a day or a week")
    _count("series", len(asked.series), MOST_SERIES, "draw the most important ones, or several charts")
    series = tuple(_series(given, at, labels) for at, given in enumerate(asked.series))
    order = Order(
        kind=asked.kind,
        title=_text("title", asked.title, LONGEST_TITLE, needed=True),
        labels=labels,
        series=series,
        unit=_text("unit", asked.unit, LONGEST_UNIT),
        alt=_text("alt", asked.alt, LONGEST_ALT),
        theme=asked.theme,
        stacked=asked.stacked and asked.kind == "bar",
        horizontal=asked.horizontal and asked.kind == "bar",
    )
    _check_names(order)
    _check_values(order)
    return order


def _count(name: str, count: int, most: int, instead: str) -> None:
    if not count:
        raise ToolRetry(f"{name}: there is nothing to draw. Give at least one.")
    if count > most:
        raise ToolRetry(f"{name}: you gave {count:,}; a chart shows at most {most:,}: {instead}.")


def _text(name: str, text: str, most: int, *, needed: bool = False) -> str:
    said = clean(text)
    if needed and not said:
        raise ToolRetry(f"{name}: it is empty. Say in a few words what the chart shows.")
    if len(said) > most:
        raise ToolRetry(f"{name}: it has {len(said):,} characters; at most {most:,} can be shown. Shorten it.")
    return said


def _label(label: str | float, at: int) -> str:
    if isinstance(label, float) and label.is_integer() and abs(label) < 1e15:
        label = int(label)
    return _text(f"labels[{at}]", str(label), LONGEST_LABEL)


def _series(given: Mapping[str, Any], at: int, labels: tuple[str, ...]) -> Series:
    where = f"series[{at}]"
    if unknown := sorted(str(key)[:40] for key in given.keys() - {"name", "values"}):
        raise ToolRetry(f"{where}: it has {', '.join(map(repr, unknown[:5]))}; a series has 'name' and 'values' only.")
    name, values = given.get("name", ""), given.get("values")
    if not isinstance(name, str):
        raise ToolRetry(f"{where}.name: it must be a text.")
    if not isinstance(values, list):
        raise ToolRetry(f"{where}.values: it must be a list of numbers, one for each label.")
    if len(values) != len(labels):
        raise ToolRetry(
            f"{where}.values: it has {len(values):,} numbers for {len(labels):,} labels. Give one for each label; null "
            "where there is none."
        )
    numbers = tuple(_number(value, f"{where}.values[{place}]") for place, value in enumerate(values))
    return Series(_text(f"{where}.name", name, LONGEST_LABEL), numbers)


def _number(value: object, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ToolRetry(f"{where}: it must be a number without quotes and unit, or null for a gap.")
    if isinstance(value, float) and not isfinite(value):
        raise ToolRetry(f"{where}: it is not a finite number. Give null where there is no value.")
    if abs(value) > FARTHEST or 0 < abs(value) < NEAREST:
        raise ToolRetry(f"{where}: its size must be 0 or from {NEAREST:g} to {FARTHEST:g}. Use another unit.")
    return float(value)


def _check_names(order: Order) -> None:
    names = [series.name for series in order.series]
    if len(names) < 2:
        return
    if "" in names:
        raise ToolRetry(
            f"series[{names.index('')}].name: it is missing. Several series need names that tell them apart."
        )
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise ToolRetry(f"series[{names.index(name)}].name: {times} series have this name. Name them apart.")


def _check_values(order: Order) -> None:
    if not order.values:
        raise ToolRetry("series: there is nothing to draw, since all values are null.")
    if order.kind == "pie":
        _check_pie(order)
    if order.kind == "bar":
        _check_bars(order)


def _check_pie(order: Order) -> None:
    if len(order.series) > 1:
        raise ToolRetry(f"series: a pie shows one; you gave {len(order.series)}. Draw bars, or one pie each.")
    for place, value in enumerate(order.series[0].values):
        if value is not None and value < 0:
            raise ToolRetry(f"series[0].values[{place}]: it is negative, and a pie has no such slices. Draw bars.")
    if not any(order.values):
        raise ToolRetry("series[0].values: all are 0, so a pie has no slices. Draw bars, or say it in words.")


def _check_bars(order: Order) -> None:
    bars = len(order.labels) * (1 if order.stacked else len(order.series))
    if bars > MOST_BARS:
        raise ToolRetry(
            f"labels: {len(order.labels):,} of them with {len(order.series)} series are {bars:,} bars; at most "
            f"{MOST_BARS:,} can be seen side by side. Draw lines, or fewer labels."
        )
    if order.horizontal and len(order.labels) > MOST_LYING:
        raise ToolRetry(
            f"horizontal: at most {MOST_LYING} labels can lie; you gave {len(order.labels):,}. Leave horizontal out, "
            "or draw the largest ones only."
        )
