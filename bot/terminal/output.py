"""Output of commands: tables for people, JSON for programs. Nothing in it can steer the terminal."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import typer

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH: Final = 200  # columns where there is no terminal to ask
TONES: Final = {
    "ok": "green",
    "shown": "green",
    "approved": "green",
    "warn": "yellow",
    "pending": "yellow",
    "held": "yellow",
    "fail": "red",
    "dead": "red",
    "denied": "red",
}


BEYOND_ASCII: Final = re.compile("[^\x20-\x7e\n]")


def show_json(value: object) -> None:
    typer.echo(json_text(value, indent=2))


def json_text(value: object, *, indent: int | None = None) -> str:
    """`value` as JSON, in which signs that nobody sees are written as escapes: some of them steer a terminal.

    >>> json_text({"said": "\u009b2J \u202e"})
    '{"said": "\\\\u009b2J \\\\u202e"}'
    """
    text = json.dumps(value, indent=indent, ensure_ascii=not _is_utf8())
    return BEYOND_ASCII.sub(lambda one: one[0] if one[0].isprintable() else json.dumps(one[0])[1:-1], text)


def show_rows(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], *, empty: str) -> None:
    """A table of `columns` (key to head); `empty` is said when there is no row."""
    from rich.table import Column, Table
    from rich.text import Text

    if not rows:
        typer.echo(empty)
        return
    heads = (
        Column(head, overflow="fold") for head in columns.values()
    )  # a long word goes on below: nothing is cut off
    table = Table(*heads, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(word(row[key]), style=TONES.get(str(row[key]), "")) for key in columns))
    console().print(table)


def by_name(columns: Mapping[str, str], *, with_ids: bool) -> Mapping[str, str]:
    """`columns` with rooms as people call them, or by their addresses."""
    return {"address" if with_ids and key == "room" else key: head for key, head in columns.items()}


def show_facts(pairs: Iterable[tuple[str, object]]) -> None:
    for name, value in pairs:
        typer.echo(f"{name:<12} {word(value)}")


def show_markdown(text: str) -> None:
    """Rendered on a terminal, as it is for programs."""
    if not sys.stdout.isatty():
        typer.echo(clean(text))
        return
    from rich.markdown import Markdown

    console().print(Markdown(clean(text), hyperlinks=False))


def tell(words: str) -> None:
    """Something for the person, beside the answer: on standard error."""
    typer.echo(clean(words), err=True)


def word(value: object) -> str:
    """A value in a cell: times by the local clock, lists with commas, one line."""
    match value:
        case None | "":
            return "-"
        case list():
            return ", ".join(clean(str(item)) for item in value) or "-"
        case bool():
            return "yes" if value else "no"
        case str():
            return _local(value) or " ".join(clean(value).splitlines())
        case _:
            return str(value)


def clean(text: str) -> str:
    """Without control characters: a message must not move the cursor, ring or rename the window."""
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def console() -> Console:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)


def _local(text: str) -> str | None:
    if len(text) < 20 or text[10:11] != "T":
        return None
    try:
        return f"{datetime.fromisoformat(text).astimezone():%Y-%m-%d %H:%M:%S %Z}"
    except ValueError:
        return None


def _is_utf8() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
