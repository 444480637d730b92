"""One setting changed by a command: whoever has the machine may change each, and each is checked as the page's edits are."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bot.settings.editing.classes import is_editable, why_shown
from bot.settings.editing.diffs import holds_secret, unified
from bot.settings.editing.documents import Put, changed
from bot.settings.editing.edits import source_against
from bot.settings.editing.fields import FieldKind, all_fields
from bot.settings.editing.file import SettingsText, read_settings_file, unwritable
from bot.settings.editing.guards import widened
from bot.settings.editing.values import SETTING_NAME, BadValue, check_signs, path_of, value_of
from bot.settings.editing.wording import change_words
from bot.settings.settings import Settings
from bot.settings.sources import value_at
from runtime.errors import ConfigError

NO_SETTING: Final = (
    "There is no setting {name}. docs/settings.md lists them; tables of a list are numbered: policy[1].tool."
)
NO_TABLE: Final = "{table} isn't in {file}. Add the table there first, or on the page's settings."
NO_TOML: Final = "{file} is no TOML now ({error}). Put it right first."
NOT_LIKE_THAT: Final = "{name}: expected {wanted}."
SAID_ALREADY: Final = "{file} says that already."


@dataclass(frozen=True, slots=True)
class CommandEdit:
    """A change that would hold: the file as it is, and as it would be. `notes` are for whoever sits there."""

    name: str
    text: SettingsText
    fresh: str
    words: str
    diff: str
    notes: tuple[str, ...] = ()


def is_secret_setting(name: str) -> bool:
    """True for a setting whose value belongs on no command line. Errors: ConfigError for one that isn't there."""
    if not SETTING_NAME.fullmatch(name) or path_of(name) not in all_fields():
        raise ConfigError(NO_SETTING.format(name=name))
    return holds_secret(name)


def edit_by_command(settings: Settings, name: str, given: str | None, mask: Callable[[str], str]) -> CommandEdit:
    """Try `name = given`, or without a value the default. Nothing is written. Errors: ConfigError with every fault."""
    is_secret_setting(name)
    text = read_settings_file(settings.place, may_be_new=settings.file is None)
    try:
        said = tomllib.loads(text.text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(NO_TOML.format(file=text.path, error=error)) from None
    table = name.rpartition(".")[0]
    if "[" in table and value_at(said, table) is None:
        raise ConfigError(source_against(table, settings) or NO_TABLE.format(table=table, file=text.path))
    change = Put(name, _value(name, given))
    if change.value == value_at(said, name):
        raise ConfigError(SAID_ALREADY.format(file=text.path))
    if against := source_against(name, settings) or unwritable(text.place):
        raise ConfigError(f"{name}: {against}")
    fresh = changed(text.text, [change])
    after = settings.with_text(fresh)
    path = path_of(name)
    notes = () if is_editable(path) else (f"The page only shows this one: {why_shown(path)}",)
    return CommandEdit(
        name,
        text,
        fresh,
        change_words(change, said, mask),
        unified(text.path.name, text.text, fresh, mask),
        (*notes, *widened(settings, after)),
    )


def _value(name: str, given: str | None) -> object:
    if given is None:
        return None
    row = all_fields()[path_of(name)]
    try:
        if row.kind is not FieldKind.SECRET:
            return value_of(row, given)
        check_signs(given)
        return given
    except BadValue as wanted:
        raise ConfigError(NOT_LIKE_THAT.format(name=name, wanted=wanted)) from None
