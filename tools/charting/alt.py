"""The picture in words, for people who cannot see it and for the model, which never sees it."""

from __future__ import annotations

from typing import Final

from runtime.text.glyphs import head
from tools.charting.amounts import exact, share
from tools.charting.order import Order, Series

SERIES_TOLD: Final = 4  # series, or slices; a picture in words must end
LABEL_MAX_CHARS: Final = 60  # characters of a label


def alt_of(order: Order) -> str:
    """Alternative text that `order` asked for, or that its data gives."""
    if order.alt:
        return order.alt
    return f"{order.kind.capitalize()} chart “{_cut(order.title, 120)}”. {_pie(order) if order.kind == 'pie' else _axes(order)}"


def _axes(order: Order) -> str:
    count = len(order.labels)
    where = (
        f"{order.labels and _cut(order.labels[0])} to {_cut(order.labels[-1])}" if count > 1 else _cut(order.labels[0])
    )
    told = [_series(series, order) for series in order.series[:SERIES_TOLD]]
    if more := len(order.series) - SERIES_TOLD:
        told += [f"{more} more series."] if more > 0 else []
    return f"{count:,} {'label' if count == 1 else 'labels'}: {where}. {' '.join(told)}"


def _series(series: Series, order: Order) -> str:
    name = f"{_cut(series.name)}: " if series.name else ""
    known = [(value, label) for value, label in zip(series.values, order.labels, strict=True) if value is not None]
    if not known:
        return f"{name}no values."
    low, high = min(known, key=lambda pair: pair[0]), max(known, key=lambda pair: pair[0])
    if low[0] == high[0]:
        return f"{name}{exact(low[0], order.unit)}{' throughout' if len(known) > 1 else ''}."
    return (
        f"{name}lowest {exact(low[0], order.unit)} ({_cut(low[1])}), highest {exact(high[0], order.unit)} "
        f"({_cut(high[1])}), last {exact(known[-1][0], order.unit)}."
    )


def _pie(order: Order) -> str:
    pairs = [(value or 0.0, label) for value, label in zip(order.series[0].values, order.labels, strict=True)]
    pairs.sort(key=lambda pair: -pair[0])
    total = sum(value for value, _ in pairs)
    told = [f"{_cut(label)} {share(value, total)} ({exact(value, order.unit)})" for value, label in pairs[:SERIES_TOLD]]
    more = len(pairs) - SERIES_TOLD
    return ", ".join(told) + (f", and {more:,} smaller" if more > 0 else "") + "."


def _cut(text: str, most: int = LABEL_MAX_CHARS) -> str:
    return text if len(text) <= most else head(text, most - 1).rstrip() + "…"
