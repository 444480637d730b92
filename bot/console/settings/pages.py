"""The page of settings: each with its value, where it comes from, and whether it may be changed here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, nothing, page, table
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.contract import Role
from runtime.markup.moments import several
from runtime.text.glyphs import legible, visible

SETTINGS_PLACE: Final = "/console/settings"
SETTING_HEADS: Final = ("Setting", "Value", "From", "Change")
HEADS_OF_LISTS: Final = ("policy", "rooms", "models", "schedules")
OWNERS_ONLY: Final = "Only owners change settings."
VALUE_SHOWN_MAX_CHARS: Final = 300
NO_FILE: Final = "There is no settings file yet: everything has its default, or comes from variables and flags."
MAKES_FILE: Final = "Your first change here makes {place}."


async def settings(request: web.Request, do: Operations) -> Html:
    words = request.query.get("q", "")
    told = await do.settings(words)
    is_owner = do.actor.person.role is Role.OWNER
    return page(
        "Settings",
        SETTINGS_PLACE,
        *_first(told, is_owner),
        _search(words),
        _shortcuts(is_owner),
        *_areas(told, is_owner, is_open=bool(words.strip())),
        refreshed=False,
        script="settings.js",
        style="settings.css",
    )


def place_of(name: str) -> str:
    return f"{SETTINGS_PLACE}/{quote(name, safe='')}"


def notices(told: View) -> Iterator[Html]:
    """Faults of the file, and what keeps everything from being changed."""
    if told["trouble"]:
        yield tag(
            "p",
            tag("strong", "The settings file has faults. "),
            legible(told["trouble"]),
            class_="notice wrong",
            role="alert",
        )
    if told["unwritable"]:
        yield tag("p", tag("strong", "Nothing can be changed here now. "), legible(told["unwritable"]), class_="notice")


def _first(told: View, is_owner: bool) -> Iterator[Html]:
    yield tag("p", "They are read from ", tag("code", told["file"]), ".") if told["file"] else tag("p", NO_FILE)
    if told["makes"] and is_owner and not told["unwritable"]:
        yield tag("p", MAKES_FILE.format(place=told["makes"]))
    if not is_owner:
        yield tag("p", OWNERS_ONLY, class_="faint")
    yield from notices(told)


def _search(words: str) -> Html:
    return tag(
        "form",
        tag("label", "Search", tag("input", type="search", name="q", id="search", value=words, autocomplete="off")),
        tag("button", "Search", type="submit"),
        method="get",
        action=SETTINGS_PLACE,
        class_="filter",
        role="search",
    )


def _shortcuts(is_owner: bool) -> Html | None:
    if not is_owner:
        return None
    ways = (
        ("A model and its key", f"{SETTINGS_PLACE}-model"),
        ("Connect a channel", f"{SETTINGS_PLACE}-channels"),
        ("Rules", place_of("policy")),
        ("Rooms", place_of("rooms")),
    )
    return tag("p", *(tag("a", words, href=place) for words, place in ways), class_="shortcuts")


def _areas(told: View, is_owner: bool, *, is_open: bool) -> Iterator[Html]:
    if not told["rows"]:
        yield nothing("No setting has these words.")
    for area in told["areas"]:
        rows = [row for row in told["rows"] if row["area"] == area]
        if rows:
            yield tag("h2", area)
            for name, some in groupby(sorted(rows, key=lambda row: row["order"]), key=lambda row: str(row["table"])):
                yield _table(name, list(some), is_owner, is_open=is_open)


def _table(name: str, rows: Sequence[View], is_owner: bool, *, is_open: bool) -> Html:
    changed = [row for row in rows if row["source"] != "default"]
    count = (
        f"{several(len(rows), 'setting')}, {len(changed)} not the default" if changed else several(len(rows), "setting")
    )
    title = name or "Top level"
    may = is_owner and name and any(row["editable"] for row in rows)
    if rows[0]["kind"] == "list of tables":
        return _empty(rows[0], is_owner)
    return tag(
        "details",
        tag(
            "summary",
            tag("strong", title),
            " ",
            tag("small", rows[0]["called"], class_="faint"),
            " ",
            tag("small", count, class_="faint"),
        ),
        tag("p", tag("a", f"Change {title}", href=place_of(name))) if may else None,
        table(f"Settings of {title}", SETTING_HEADS, (_line(row, is_owner) for row in rows)),
        id=f"table-{name or 'top'}",
        open=is_open,
        class_="settings",
    )


def _empty(row: View, is_owner: bool) -> Html:
    """A list without a table, on one line."""
    add = tag("a", "Add one", href=f"{place_of(row['name'])}?add=1") if is_owner and row["editable"] else None
    why = None if row["editable"] else tag("small", legible(row["why"]), class_="faint")
    return tag(
        "details",
        tag("summary", tag("strong", row["name"]), " ", tag("small", "none", class_="faint")),
        tag("p", row["doc"]),
        tag("p", add or why),
        id=f"table-{row['name']}",
        class_="settings",
    )


def _line(row: View, is_owner: bool) -> tuple[Html, ...]:
    name = row["name"].rpartition(".")[2]
    return (
        tag(
            "div",
            tag("a", tag("code", name), href=place_of(row["name"]), title=row["name"]),
            tag("p", row["doc"], class_="faint"),
        ),
        value_of(row),
        source_of(row),
        _change(row, is_owner),
    )


def value_of(row: View) -> Html:
    if row["is_secret"] and row["value"] in ("set", "not set"):
        return badge(row["value"])
    shown = visible(row["value"], one_line=True)
    whole = shown if len(shown) <= VALUE_SHOWN_MAX_CHARS else f"{shown[:VALUE_SHOWN_MAX_CHARS]}…"
    now = tag("code", whole) if whole else tag("span", "none", class_="faint")
    if not row["running"]:
        return tag("div", now)
    return tag(
        "div", now, tag("p", "Until a restart: ", tag("code", visible(row["running"], one_line=True)), class_="faint")
    )


def source_of(row: View) -> Html:
    return tag("span", legible(row["from"]), class_="faint" if row["source"] == "default" else None)


def _change(row: View, is_owner: bool) -> Html:
    if not row["editable"]:
        return tag("small", legible(row["why"]), class_="faint")
    if not is_owner:
        return tag("small", OWNERS_ONLY, class_="faint")
    return tag("a", "Change", href=place_of(row["name"]), aria_label=f"Change {row['name']}")
