"""Filters for values in templates: tables, money, times, and ways to show a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo

from jinja2 import Undefined
from markupsafe import Markup

from runtime.markup.moments import moment as written
from runtime.templating import marks
from runtime.text.glyphs import clip

MICROS: Final = 1_000_000
ROWS: Final = 200
"""Of one table; more of them nobody reads in a chat."""
NUMBER: Final = re.compile(r"-?\$?\d[\d,]*(\.\d+)?%?")
UNITS: Final = (("day", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def money(micros: float) -> str:
    """Millionths of a US dollar, with as many digits as tell something.

    >>> money(1_234_560_000), money(15_000), money(37), money(0)
    ('$1,234.56', '$0.015', '$0.000037', '$0.00')
    """
    dollars = Decimal(str(micros)) / MICROS
    if not dollars or abs(dollars) >= Decimal("0.1"):
        return f"{'-' if dollars < 0 else ''}${abs(dollars):,.2f}"
    digits = 1 - dollars.adjusted()
    return f"{'-' if dollars < 0 else ''}${abs(dollars):.{digits}f}"


def duration(seconds: float | timedelta) -> str:
    """
    >>> duration(7_500), duration(45.2), duration(200_000), duration(0.25)
    ('2 h 5 min', '45 s', '2 days 7 h', '0.25 s')
    """
    total = seconds.total_seconds() if isinstance(seconds, timedelta) else float(seconds)
    if abs(total) < 10 and total != int(total):
        return f"{total:.2g} s"
    left, parts = abs(round(total)), []
    for unit, size in UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append((count, unit, size))
    told = [f"{count} {unit}{'s' if unit == 'day' and count > 1 else ''}" for count, unit, _ in parts[:2]]
    return ("-" if total < 0 else "") + (" ".join(told) or "0 s")


def number(value: float, digits: int | None = None) -> str:
    """
    >>> number(1234567), number(3.14159), number(3.14159, 1)
    ('1,234,567', '3.14', '3.1')
    """
    if digits is None:
        return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}".rstrip("0").rstrip(".")
    return f"{value:,.{digits}f}"


def plural(count: int, one: str, more: str = "") -> str:
    """
    >>> plural(1, "message"), plural(1200, "message"), plural(2, "reply", "replies")
    ('1 message', '1,200 messages', '2 replies')
    """
    return f"{number(count)} {one if count == 1 else more or f'{one}s'}"


def moment(value: Any) -> datetime:
    """A time as tools tell it: ISO 8601; without a zone it is UTC. Errors: ValueError."""
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise ValueError(f"{value!r} isn't a time; write a time as 2026-03-01T09:00:00Z")
    try:
        found = datetime.fromisoformat(value.strip())
    except ValueError:
        raise ValueError(f"{value[:60]!r} isn't a time; write a time as 2026-03-01T09:00:00Z") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def table(rows: Iterable[Any], columns: Any = None, *, zone: ZoneInfo) -> Markup:
    """Rows, each a mapping or a sequence, as a table. `columns`: keys, or keys with their headings.

    Numbers stand to the right. Without rows there is nothing.
    """
    found = [_checked(row) for row in rows]
    if not found:
        return marks.trusted("")
    heads = _headings(found[0], columns)
    picked = [[_value(row, key) for key in heads] for row in found[:ROWS]]
    right = [all(_is_number(row[at]) for row in picked) for at in range(len(heads))]
    lines = [[marks.cell(title, zone) for title in heads.values()], ["--:" if one else "---" for one in right]]
    lines += [[marks.cell(value, zone) for value in row] for row in picked]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    more = len(found) - ROWS
    return marks.trusted(f"\n{text}\n" + (f"\n… and {number(more)} more\n" if more > 0 else ""))


def _checked(row: Any) -> Any:
    if not isinstance(row, dict | list | tuple):
        raise TypeError(f"a row of a table is a mapping or a list, not {row!r:.60}")
    return row


def _headings(row: Any, columns: Any) -> dict[Any, str]:
    """Keys and the words above them."""
    match columns:
        case dict():
            return {key: str(title) for key, title in columns.items()}
        case list() | tuple() if isinstance(row, dict):
            return {key: str(key) for key in columns}
        case list() | tuple():
            return {at: str(title) for at, title in enumerate(columns)}
        case None if isinstance(row, dict):
            return {key: str(key) for key in row}
        case None:
            return dict.fromkeys(range(len(row)), "")
        case _:
            raise TypeError("table: columns are a list of keys, or a mapping of keys to headings")


def _value(row: Any, key: Any) -> Any:
    try:
        return row[key]
    except (KeyError, IndexError, TypeError):
        return None


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return NUMBER.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def bullets(items: Iterable[Any], *, zone: ZoneInfo) -> Markup:
    """A list, a line each."""
    return marks.trusted("\n" + "".join(f"- {marks.shown(item, zone)}\n" for item in items))


def markdown(text: str) -> Markup:
    """A text whose marks shall work: for what is known to be Markdown, such as a report before this one."""
    return marks.trusted(clip(str(text), marks.BLOCK))


def joined(items: Iterable[Any], between: str, *, zone: ZoneInfo) -> Any:
    """Texts as one; where Markdown is among them it is Markdown, in which the others mean themselves."""
    found = [*items]
    if any(isinstance(item, Undefined) for item in found):
        str(next(item for item in found if isinstance(item, Undefined)))  # says which
    if not any(isinstance(item, Markup) for item in (between, *found)):
        return str(between).join(map(str, found))
    return marks.trusted(str(between).join(marks.shown(item, zone) for item in found))


def in_zone(zone: ZoneInfo, now: datetime) -> Mapping[str, Callable[..., Any]]:
    """All of them, by the names they have in templates."""

    def ago(value: Any) -> str:
        away = (now - moment(value)).total_seconds()
        if abs(away) < 1:
            return "now"
        return f"{duration(away)} ago" if away > 0 else f"in {duration(-away)}"

    def local(value: Any, form: str = marks.CLOCK) -> str:
        return moment(value).astimezone(zone).strftime(form)

    def instant(value: Any) -> Markup:
        return marks.trusted(written(moment(value), zone))

    def join(items: Iterable[Any], between: str = "", attribute: str = "") -> Any:
        values: Sequence[Any] = [item[attribute] if attribute else item for item in items]
        return joined(values, between, zone=zone)

    return {
        "ago": ago,
        "block": marks.block,
        "bullets": lambda items: bullets(items, zone=zone),
        "code": marks.code,
        "duration": duration,
        "e": lambda value: marks.shown(value, zone),
        "escape": lambda value: marks.shown(value, zone),
        "instant": instant,
        "join": join,
        "local": local,
        "markdown": markdown,
        "money": money,
        "number": number,
        "plural": plural,
        "quote": marks.quote,
        "table": lambda rows, columns=None: table(rows, columns, zone=zone),
    }
