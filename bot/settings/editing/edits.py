"""An edit of settings: which changes of the file it means, and why some are refused.

An edit is of one table: of a section (`budgets`), of one of a list (`policy[2]`), or of a list itself (`policy`), to which
it adds a table. Each setting that would change, come or go is looked up in the list of those that may (`classes`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from bot.settings.editing.classes import ORDERED, REPEATED, is_editable, why_shown
from bot.settings.editing.documents import Add, Change, Move, Put, Remove
from bot.settings.editing.fields import SettingField, all_fields
from bot.settings.editing.values import SETTING_NAME, BadValue, path_of, value_of
from bot.settings.given.flags import FLAG
from bot.settings.settings import Settings
from bot.settings.sources import value_at
from runtime.text.words import marked, say


class EditVerb(StrEnum):
    """Ways to treat a table."""

    SET = "set"
    ADD = "add"
    REMOVE = "remove"
    UP = "up"
    DOWN = "down"


@dataclass(frozen=True, slots=True)
class Edit:
    """`name` is a section, a table of a list, or for a new one the list."""

    name: str
    verb: EditVerb = EditVerb.SET
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Fault:
    """`name` is the setting at fault; empty for the edit as a whole."""

    name: str
    words: str


NO_SUCH: Final = marked("There is no such setting.")
REFUSED: Final = marked("This can't be changed from here. {why} Change it in the file.")
OVERRIDDEN: Final = marked(
    "The variable {variable} sets it, which goes before the file. Change it there, or take it away there first."
)
OVERRIDDEN_BY_FLAG: Final = marked(
    "The command line sets it, which goes before the file. Change it there, or take it away there first."
)
IN_ANOTHER_PLACE: Final = marked("It stands in {source}. Change it there.")
HOLDS_OTHERS: Final = marked("This table also has {name}, which only the file may change: {why}")


def changes_of(edit: Edit, text: str, settings: Settings) -> tuple[list[Change], list[Fault]]:
    """Changes of the file that says `text`, in which nothing stands that differs from it already."""
    said = tomllib.loads(text)
    if not SETTING_NAME.fullmatch(edit.name):
        return [], [Fault(edit.name, say(NO_SUCH))]
    match edit.verb:
        case EditVerb.SET:
            return _set(edit, said, settings)
        case EditVerb.ADD:
            return _added(edit, said, settings)
        case _:
            return _whole(edit, said, settings)


def reason_against(name: str, settings: Settings) -> str:
    """The reason that this one setting can't be changed from here; empty where it can."""
    path = path_of(name)
    if path not in all_fields():
        return say(NO_SUCH)
    if not is_editable(path):
        return say(REFUSED, why=why_shown(path))
    return source_against(name, settings)


def source_against(name: str, settings: Settings) -> str:
    """The reason that a setting, or the list of its table, is not the file's; empty where it is, or where nobody sets it."""
    source = settings.source(name)
    if source in ("default", str(settings.file), "") or (settings.file and source == settings.file.name):
        return ""
    if source == FLAG:
        return say(OVERRIDDEN_BY_FLAG)
    if source.startswith("SIGNALBOX_"):
        return say(OVERRIDDEN, variable=source)
    return say(IN_ANOTHER_PLACE, source=source)


def _set(edit: Edit, said: Mapping[str, Any], settings: Settings) -> tuple[list[Change], list[Fault]]:
    if "[" in edit.name and value_at(said, edit.name) is None:
        return [], [Fault(edit.name, source_against(edit.name, settings) or say(NO_SUCH))]
    changes, faults = list[Change](), list[Fault]()
    for key, given in edit.values.items():
        name = f"{edit.name}.{key}"
        if not SETTING_NAME.fullmatch(name) or (row := all_fields().get(path_of(name))) is None:
            faults.append(Fault(name, say(NO_SUCH)))
            continue
        value, fault = _read(row, name, given)
        if fault:
            faults.append(fault)
        elif not _is_same(value_at(said, name), value, row):
            if against := reason_against(name, settings):
                faults.append(Fault(name, against))
            else:
                changes.append(Put(name, value))
    return changes, faults


def _is_same(there: object, wanted: object, row: SettingField) -> bool:
    """True where the file says it already, or nobody says it and it is the default."""
    return (there == wanted and type(there) is type(wanted)) or (there is None and wanted == _plain(row.default))


def _plain(default: object) -> object:
    return list(default) if isinstance(default, tuple) else str(default) if isinstance(default, str) else default


def _read(row: SettingField, name: str, given: object) -> tuple[object, Fault | None]:
    try:
        return value_of(row, given), None
    except BadValue as wanted:
        return None, Fault(name, say("expected {wanted}.", wanted=wanted))


def _added(edit: Edit, said: Mapping[str, Any], settings: Settings) -> tuple[list[Change], list[Fault]]:
    if edit.name not in REPEATED:
        return [], [Fault(edit.name, say(REFUSED, why=why_shown(f"{edit.name}[].")))]
    if against := source_against(edit.name, settings):
        return [], [Fault(edit.name, against)]
    name = f"{edit.name}[{len(said.get(edit.name, ())) + 1}]"
    table, faults = dict[str, Any](), list[Fault]()
    for key, given in edit.values.items():
        row = all_fields().get(f"{edit.name}[].{key}")
        if row is None or not is_editable(row.path):
            why = say(NO_SUCH) if row is None else say(REFUSED, why=why_shown(row.path))
            faults.append(Fault(f"{name}.{key}", why))
            continue
        value, fault = _read(row, f"{name}.{key}", given)
        if fault:
            faults.append(fault)
        elif value is not None and (row.required or value != _plain(row.default)):
            table[key] = value
    return [Add(edit.name, table)], faults


def _whole(edit: Edit, said: Mapping[str, Any], settings: Settings) -> tuple[list[Change], list[Fault]]:
    """A table that goes, or changes its place."""
    word, _, rest = edit.name.partition("[")
    row = value_at(said, edit.name)
    if word not in REPEATED or not rest.endswith("]") or "." in rest:
        return [], [Fault(edit.name, say(REFUSED, why=why_shown(f"{word}[].")))]
    if not isinstance(row, dict):
        return [], [Fault(edit.name, source_against(edit.name, settings) or say(NO_SUCH))]
    if against := source_against(edit.name, settings):
        return [], [Fault(edit.name, against)]
    if edit.verb is EditVerb.REMOVE:
        return [Remove(edit.name)], _other(edit.name, row)
    return _moved(edit, word, len(said[word]), int(rest[:-1]))


def _moved(edit: Edit, word: str, count: int, number: int) -> tuple[list[Change], list[Fault]]:
    by = -1 if edit.verb is EditVerb.UP else 1
    if word not in ORDERED:
        return [], [Fault(edit.name, say("The order of these means nothing."))]
    if not 1 <= number + by <= count:
        return [], [Fault(edit.name, say("There is no place further on."))]
    return [Move(edit.name, by)], []


def _other(name: str, row: Mapping[str, Any]) -> list[Fault]:
    """Settings of a table that would go with it, and that only the file may change."""
    found: Sequence[str] = [key for key in row if not is_editable(f"{path_of(name)}.{key}")]
    return [Fault(name, say(HOLDS_OTHERS, name=key, why=why_shown(f"{path_of(name)}.{key}"))) for key in found]
