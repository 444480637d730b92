"""A CSV file as labels and series: its first column, and the others that have numbers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from itertools import zip_longest
from math import isfinite
from typing import Any, Final

from runtime.errors import ToolRetry

TABLE_MAX_BYTES: Final = 1 << 20
SAMPLE_CHARS: Final = 8_192
DELIMITERS: Final = ",;\t|"
GROUPED: Final = re.compile(r"[+-]?\d{1,3}(?:[,' \u00a0]\d{3})+(?:\.\d+)?")
BETWEEN_GROUPS: Final = re.compile(r"[,' \u00a0]")
UNITS: Final = "%$€£ \u00a0"


def columns_of(text: str) -> tuple[list[str | int | float], list[dict[str, Any]]]:
    """Labels and series of a table whose first row has names. Errors: ToolRetry where there is nothing to draw.

    >>> columns_of("month,sales,by\\nMay,1200,Ann\\nJune,,Bob\\n")
    (['May', 'June'], [{'name': 'sales', 'values': [1200.0, None]}])
    """
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(text[:SAMPLE_CHARS], DELIMITERS)
    except csv.Error:
        dialect = csv.excel
    try:
        names, *rows = [row for row in csv.reader(io.StringIO(text.lstrip("\ufeff")), dialect) if any(row)]
    except (csv.Error, ValueError) as error:
        raise ToolRetry("path: the file has no table in it: a row of names, and rows below it.") from error
    first, *columns = [list(column) for column in zip_longest(*rows, fillvalue="")] or [[]]
    labels: list[str | int | float] = [*first]
    series = [
        {"name": name, "values": values}
        for name, column in zip(names[1:], columns, strict=False)
        if (values := _numbers(column))
    ]
    if not labels or not series:
        raise ToolRetry("path: the table has no column of numbers behind its first one, which has the labels.")
    return labels, series


def _numbers(column: Sequence[str]) -> list[float | None]:
    """Values of a column of numbers; none where it is another one. An empty cell is a gap."""
    values = [number_of(cell) for cell in column]
    gaps = sum(not cell.strip() for cell in column)
    return values if sum(value is None for value in values) == gaps < len(column) else []


def number_of(cell: str) -> float | None:
    """A number as people write it into tables.

    >>> number_of("1,234.5"), number_of("12 %"), number_of("n/a")
    (1234.5, 12.0, None)
    """
    text = cell.strip().strip(UNITS)
    if GROUPED.fullmatch(text):
        text = BETWEEN_GROUPS.sub("", text)
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) and "_" not in text else None
