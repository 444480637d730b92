"""The page of settings: each with its value, where it comes from, and whether it may be changed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, filled, tag, with_code
from bot.console.layout import badge, nothing, page, table
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.contract import Role
from runtime.text.glyphs import legible, visible
from runtime.text.words import count, marked, say, several

SETTINGS_PLACE: Final = "/console/settings"
SETTING_HEADS: Final = (marked("Setting"), marked("Value"), marked("From"), marked("Change"))
HEADS_OF_LISTS: Final = ("policy", "rooms", "models", "schedules")
OWNERS_ONLY: Final = marked("Only owners change settings.")
VALUE_SHOWN_MAX_CHARS: Final = 300
READ_FROM: Final = marked("They are read from {file}.")
NO_VALUES: Final = (marked("none"), marked("required"))
NO_FILE: Final = marked("There is no settings file yet: everything has its default, or comes from variables and flags.")
MAKES_FILE: Final = marked("Your first change here makes {place}.")


async def settings(request: web.Request, do: Operations) -> Html:
    words = request.query.get("q", "")
    told = await do.settings(words)
    is_owner = do.actor.person.role is Role.OWNER
    return page(
        say("Settings"),
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
            tag("strong", say("The settings file has faults.")),
            " ",
            legible(told["trouble"]),
            class_="notice wrong",
            role="alert",
        )
    if told["unwritable"]:
        yield tag(
            "p",
            tag("strong", say("Nothing can be changed here now.")),
            " ",
            legible(told["unwritable"]),
            class_="notice",
        )


def _first(told: View, is_owner: bool) -> Iterator[Html]:
    read_from = filled(say(READ_FROM), file=tag("code", told["file"]))
    yield tag("p", *read_from) if told["file"] else tag("p", say(NO_FILE))
    if told["makes"] and is_owner and not told["unwritable"]:
        yield tag("p", say(MAKES_FILE, place=told["makes"]))
    if not is_owner:
        yield tag("p", say(OWNERS_ONLY), class_="faint")
    yield from notices(told)


def _search(words: str) -> Html:
    return tag(
        "form",
        tag(
            "label", say("Search"), tag("input", type="search", name="q", id="search", value=words, autocomplete="off")
        ),
        tag("button", say("Search"), type="submit"),
        method="get",
        action=SETTINGS_PLACE,
        class_="filter",
        role="search",
    )


def _shortcuts(is_owner: bool) -> Html | None:
    if not is_owner:
        return None
    ways = (
        (say("A model and its key"), f"{SETTINGS_PLACE}-model"),
        (say("Connect a channel"), f"{SETTINGS_PLACE}-channels"),
        (say("Rules"), place_of("policy")),
        (say("Rooms"), place_of("rooms")),
    )
    return tag("p", *(tag("a", words, href=place) for words, place in ways), class_="shortcuts")


def _areas(told: View, is_owner: bool, *, is_open: bool) -> Iterator[Html]:
    if not told["rows"]:
        yield nothing(say("No setting has these words."))
    for area in told["areas"]:
        rows = [row for row in told["rows"] if row["area"] == area]
        if rows:
            yield tag("h2", say(area))
            for name, some in _by_table(rows).items():
                yield _table(name, some, is_owner, is_open=is_open)


def _by_table(rows: Sequence[View]) -> Mapping[str, Sequence[View]]:
    """Settings by their tables, each once, also one with a table in the midst of its settings."""
    found: dict[str, list[View]] = {}
    for row in sorted(rows, key=lambda row: row["order"]):
        found.setdefault(str(row["table"]), []).append(row)
    return found


def _table(name: str, rows: Sequence[View], is_owner: bool, *, is_open: bool) -> Html:
    changed = [row for row in rows if row["source"] != "default"]
    told = (
        say(
            "{settings}, {changed} not the default", settings=several(len(rows), "setting"), changed=count(len(changed))
        )
        if changed
        else several(len(rows), "setting")
    )
    title = name or say("Top level")
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
            tag("small", told, class_="faint"),
        ),
        tag("p", tag("a", say("Change {title}", title=title), href=place_of(name))) if may else None,
        table(say("Settings of {title}", title=title), SETTING_HEADS, (_line(row, is_owner) for row in rows)),
        id=f"table-{name or 'top'}",
        open=is_open,
        class_="settings",
    )


def _empty(row: View, is_owner: bool) -> Html:
    """A list without a table, on one line."""
    add = tag("a", say("Add one"), href=f"{place_of(row['name'])}?add=1") if is_owner and row["editable"] else None
    why = None if row["editable"] else tag("small", legible(row["why"]), class_="faint")
    return tag(
        "details",
        tag("summary", tag("strong", row["name"]), " ", tag("small", say("none"), class_="faint")),
        tag("p", *with_code(row["doc"])),
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
            tag("p", *with_code(row["doc"]), class_="faint"),
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
    now = tag("code", whole) if whole else tag("span", say("none"), class_="faint")
    if not row["running"]:
        return tag("div", now)
    return tag(
        "div",
        now,
        tag(
            "p",
            *filled(say("Until a restart: {value}"), value=tag("code", visible(row["running"], one_line=True))),
            class_="faint",
        ),
    )


def said_value(told: str) -> str:
    """A default; one that is no value but a word about it is said."""
    return say(told) if told in NO_VALUES else told


def source_of(row: View) -> Html:
    return tag("span", legible(row["from"]), class_="faint" if row["source"] == "default" else None)


def _change(row: View, is_owner: bool) -> Html:
    if not row["editable"]:
        return tag("small", legible(row["why"]), class_="faint")
    if not is_owner:
        return tag("small", say(OWNERS_ONLY), class_="faint")
    return tag("a", say("Change"), href=place_of(row["name"]), aria_label=say("Change {name}", name=row["name"]))
