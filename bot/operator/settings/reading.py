"""Reading settings: all of them with their sources, and one table as a form."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from bot.operator.partial_api import PartialApi, by_role
from bot.operator.settings.live import LiveSettings
from bot.operator.settings.meanwhile import mark_of
from bot.operator.settings.rows import (
    AREAS,
    SettingRows,
    area_of,
    is_found,
    plain_of,
    plain_words,
    reference_of,
    takes_more,
    variable,
)
from bot.operator.settings.secret_names import secret_name
from bot.operator.views import View
from bot.settings.editing.classes import ORDERED, is_editable, why_shown
from bot.settings.editing.edits import NO_SUCH, source_against
from bot.settings.editing.fields import FieldKind, SettingField, all_fields, tables
from bot.settings.editing.file import SettingsText, read_settings_file, unwritable
from bot.settings.editing.statements import lines_of
from bot.settings.editing.values import SETTING_NAME, form_text, path_of, shown_toml
from bot.settings.settings import Settings
from bot.settings.sources import value_at
from runtime.contract import Role
from runtime.errors import ConfigError
from runtime.http.errors import Refusal
from runtime.text.words import marked, say

NOT_HERE: Final = marked("There are no settings here.")
SEVERAL_NODES: Final = marked(
    "{number} processes work on this database ({names}), and this page can only change the file of one. Change {file} on each "
    "machine, then run `signalbox reload` there."
)
NEW_NUMBER: Final = 9999
"""Stands for the number of a table that isn't there yet."""
BY_A_RELOAD: Final = "at once"
WITH_A_RESTART: Final = "with a restart"


@by_role
class SettingsApi(PartialApi):
    """Settings as they are in effect."""

    async def settings(self, search: str = "") -> View:
        """All of them, or those in which each word of `search` is found."""
        live = live_of(self)
        now = await settings_now(live)
        words = search.casefold().split()
        rows = [row for row in await asyncio.to_thread(self._rows, now.settings, now.text) if is_found(row, words)]
        file = now.text.path if now.text else live.current().file
        is_new = bool(now.text and now.text.is_new)
        return {
            "rows": [
                {**row, "order": order, "area": area_of(row["name"]), "takes_effect": takes_effect(live, row["name"])}
                for order, row in enumerate(rows)
            ],
            "areas": list(AREAS),
            "file": str(file) if file and not is_new else None,
            "makes": str(file) if is_new else "",
            "digest": now.text.digest if now.text else "",
            "trouble": now.trouble,
            "unwritable": await against_writing(live),
            "confirmed_seconds": int(self._left().total_seconds()),
        }

    async def setting(self, name: str) -> View:
        """A setting, or a table of them, as a form."""
        live = live_of(self)
        now = await settings_now(live)
        if not SETTING_NAME.fullmatch(name):
            raise Refusal(404, NO_SUCH)
        path = path_of(name)
        field = all_fields().get(path)
        if field is not None:
            names = [name]
        elif path in tables() or f"{path}[]" in tables():
            inner = path if path in tables() else f"{path}[]"
            holder = name if path in tables() else f"{name}[{NEW_NUMBER}]"
            names = [f"{holder}.{one.name}" for one in all_fields().values() if one.table == inner]
        else:
            raise Refusal(404, NO_SUCH)
        return await self._form(live, now, name, names)

    async def _form(self, live: LiveSettings, now: Now, name: str, names: list[str]) -> View:
        said = tomllib.loads(now.text.text) if now.text else {}
        rows = {row["name"]: row for row in await asyncio.to_thread(self._rows, now.settings, now.text)}
        listed = f"{path_of(name)}[]" in tables()
        number = "[" in name
        if number and value_at(said, name) is None and not any(row.startswith(f"{name}.") for row in rows):
            raise Refusal(404, NO_SUCH)
        return {
            "name": name,
            "is_list": listed,
            "adds": listed and takes_more(name) and not source_against(name, now.settings),
            "count": len(said.get(name, ())) if listed else 0,
            "moves": number and name.partition("[")[0] in ORDERED,
            "removes": number and takes_more(name.partition("[")[0]) and value_at(said, name) is not None,
            "about": _about(name),
            "mark": mark_of(name, said),
            "tables": _tables_of(name, rows, now.settings, said) if listed else [],
            "fields": [self._masked(_field(live, one, rows.get(one), said, now.settings)) for one in names],
            "file": str(now.text.path) if now.text else None,
            "digest": now.text.digest if now.text else "",
            "trouble": now.trouble,
            "unwritable": await against_writing(live),
            "confirmed_seconds": int(self._left().total_seconds()),
            "may_edit": self.actor.person.role is Role.OWNER,
            "provider": live.provider,
        }

    def _masked(self, field: View) -> View:
        """The text of the file as it stands there is for those who may edit it."""
        if self.actor.person.role is Role.OWNER:
            return field
        return {**field, "in_file": self._context.mask(field["in_file"])}

    def _rows(self, settings: Settings, text: SettingsText | None) -> list[View]:
        lines = lines_of(text.text.replace("\r\n", "\n")) if text else {}
        return list(SettingRows(settings, lines, self._context.mask, live_of(self).current()).all())

    def _left(self) -> timedelta:
        return live_of(self).confirmations.left(self.actor.session)


class Now:
    """Settings of this moment: as the file has them, or those in effect where it is broken."""

    def __init__(self, settings: Settings, text: SettingsText | None, trouble: str) -> None:
        self.settings = settings
        self.text = text
        self.trouble = trouble


def live_of(api: PartialApi) -> LiveSettings:
    """Errors: Refusal where there are no settings."""
    live = api._context.live_settings
    if live is None:
        raise Refusal(409, NOT_HERE)
    return live


def text_of(settings: Settings) -> SettingsText:
    """The file that these settings came from, or the one that the first change makes. Errors: ConfigError."""
    return read_settings_file(settings.place, may_be_new=settings.file is None)


async def settings_now(live: LiveSettings) -> Now:
    """Secrets are those that the process has: a look opens no sealed file."""
    current = live.current()
    try:
        text = await asyncio.to_thread(text_of, current)
        tomllib.loads(text.text)
    except ConfigError as error:
        return Now(current, None, str(error))
    except tomllib.TOMLDecodeError:
        text = None
    try:
        fresh = await live.now()
    except ConfigError as error:
        return Now(current, text, str(error))
    return Now(fresh, text, "")


async def against_writing(live: LiveSettings) -> str:
    """The reason nothing can be saved, whatever it is; empty where it can."""
    if not live.is_at_work:
        return say("Only a running Signalbox changes settings.")
    try:
        text = await asyncio.to_thread(text_of, live.current())
    except ConfigError as error:
        return str(error)
    nodes = await live.nodes()
    if len(nodes) > 1:
        return say(SEVERAL_NODES, number=len(nodes), names=", ".join(nodes), file=text.path)
    return await asyncio.to_thread(unwritable, text.place)


def takes_effect(live: LiveSettings, name: str) -> str:
    plain = path_of(name).replace("[]", "")
    is_live = any(plain == one or plain.startswith(f"{one}.") for one in live.at_once)
    return BY_A_RELOAD if is_live else WITH_A_RESTART


def _about(name: str) -> str:
    path = path_of(name)
    model = tables().get(path) or tables().get(f"{path}[]") or tables().get(path.rpartition(".")[0])
    return plain_words((model.__doc__ or "").strip().partition("\n\n")[0]) if model else ""


def _tables_of(name: str, rows: Mapping[str, View], settings: Settings, said: Mapping[str, Any]) -> list[View]:
    """The tables of a list, with what each says; those of the file may be moved and removed."""
    by_table: dict[str, list[View]] = {}
    for row in rows.values():
        if row["name"].startswith(f"{name}["):
            by_table.setdefault(row["name"].partition("]")[0] + "]", []).append(row)
    return [
        {
            "name": table,
            "called": some[0]["called"],
            "mark": mark_of(table, said),
            "text": "\n".join(
                f"{row['name'].removeprefix(f'{table}.')} = {row['value']}"
                for row in some
                if row["value"] and row["source"] != "default"
            ),
            "is_own": not (why := _why_not(table, settings, said)),
            "why": why,
            "moves": name in ORDERED,
            "removes": takes_more(name),
        }
        for table, some in by_table.items()
    ]


def _why_not(table: str, settings: Settings, said: Mapping[str, Any]) -> str:
    """The reason that a table isn't changed here; empty where some of it may be."""
    if not any(is_editable(path) for path in all_fields() if path.startswith(f"{path_of(table)}.")):
        return why_shown(f"{path_of(table)}.name")
    return source_against(table, settings) or ("" if value_at(said, table) is not None else say(NO_SUCH))


def _field(live: LiveSettings, name: str, row: View | None, said: Mapping[str, Any], settings: Settings) -> View:
    field = all_fields()[path_of(name)]
    there = value_at(said, name) if field.kind is not FieldKind.SECRET else None
    shown = row or {"value": "", "from": say("default"), "why": "", "source": "default", "line": 0}
    editable = is_editable(field.path) and not source_against(name, settings)
    return {
        "name": name,
        "key": field.name,
        "kind": field.kind.value,
        "choices": list(field.choices),
        "required": field.required,
        "doc": plain_words(field.doc),
        "reference": reference_of(field),
        "default": default_of(field),
        "value": shown["value"],
        "in_file": form_text(field, there) if editable else "",
        "from": shown["from"],
        "source": shown["source"],
        "line": shown["line"],
        "editable": editable,
        "why": shown["why"] or ("" if editable else source_against(name, settings)),
        "variable": variable(name),
        "secret_name": secret_name(settings, name) if field.kind is FieldKind.SECRET else "",
        "takes_effect": takes_effect(live, name),
    }


def default_of(field: SettingField) -> str:
    if field.required:
        return "required"
    return shown_toml(plain_of(field.default)) or "none"
