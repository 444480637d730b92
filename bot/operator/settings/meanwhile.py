"""Changes that somebody else made to the settings file since a form was opened: each field, and tables that moved."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from typing import Any, Final

from bot.operator.views import View
from bot.settings.editing.edits import Edit, EditVerb
from bot.settings.editing.fields import FieldKind, all_fields
from bot.settings.editing.file import SettingsText
from bot.settings.editing.values import form_text, path_of, shown_toml
from bot.settings.sources import value_at
from runtime.http.errors import Refusal
from runtime.text.words import marked, say

FILE_MOVED_ON: Final = marked(
    "{file} was changed since you opened the form. Below is what you changed, and nothing else; what others saved stays."
)
REPLACED: Final = marked("{name} has another value now ({value}); yours would take its place.")
NOTHING_THERE: Final = marked("{name} was taken away; yours would put it back.")
MOVED: Final = marked(
    "{name} isn't the table that you opened: somebody changed the list meanwhile. Nothing was changed. Load this page anew, then "
    "do it there."
)


def mark_of(name: str, said: Mapping[str, Any]) -> str:
    """Mark of the table that a form is made of, by which another one in its place is known; empty for one without a number."""
    if "[" not in name:
        return ""
    table = value_at(said, name.partition("]")[0] + "]")
    whole = shown_toml(table) if isinstance(table, dict) else ""
    return f"{len(said.get(name.partition('[')[0], ()))}-{hashlib.sha256(whole.encode()).hexdigest()[:16]}"


def must_be_there(edit: Edit, fields: Mapping[str, Any], text: SettingsText) -> None:
    """Errors: Refusal 409 where a number of a list means another table than the form was made of."""
    opened = str(fields.get("mark") or "")
    if not opened or (now := mark_of(edit.name, tomllib.loads(text.text))) == opened:
        return
    is_same_place = now.partition("-")[0] == opened.partition("-")[0] and opened not in _marks(edit.name, text)
    if edit.verb is not EditVerb.SET or not is_same_place:
        raise Refusal(409, say(MOVED, name=edit.name))


def _marks(name: str, text: SettingsText) -> set[str]:
    said = tomllib.loads(text.text)
    word = name.partition("[")[0]
    return {mark_of(f"{word}[{number}]", said) for number in range(1, len(said.get(word, ())) + 1)}


def meanwhile(edit: Edit, fields: Mapping[str, Any], text: SettingsText) -> View:
    """Words to warn with, each empty where nothing was changed, and what untouched fields say now. `opened` has what each said."""
    opened = fields.get("opened")
    if not isinstance(opened, dict) or fields.get("digest") in (None, text.digest):
        return {"words": [], "now": {}}
    said = tomllib.loads(text.text)
    now = {key: there for key, was in opened.items() if (there := _in_file(f"{edit.name}.{key}", said)) != _plain(was)}
    replaced = [
        say(REPLACED, name=f"{edit.name}.{key}", value=there)
        if there
        else say(NOTHING_THERE, name=f"{edit.name}.{key}")
        for key, there in now.items()
        if key in edit.values and there != _plain(edit.values[key])
    ]
    return {"words": [say(FILE_MOVED_ON, file=text.path.name), *replaced], "now": now}


def _in_file(name: str, said: Mapping[str, Any]) -> str:
    """Text of a field, were the form made now. A name that is none says nothing, as does a secret."""
    field = all_fields().get(path_of(name))
    if field is None or field.kind is FieldKind.SECRET:
        return ""
    return _plain(form_text(field, value_at(said, name)))


def _plain(words: object) -> str:
    return str(words).replace("\r\n", "\n")
