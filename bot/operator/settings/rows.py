"""Settings as rows: what each is set to, where that comes from, and whether it may be changed from here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr

from bot.operator.views import View
from bot.settings.editing.classes import REPEATED, is_editable, why_shown
from bot.settings.editing.diffs import PRIVATE
from bot.settings.editing.edits import source_against
from bot.settings.editing.fields import FieldKind, SettingField, all_fields, tables
from bot.settings.editing.values import path_of, shown_toml
from bot.settings.given.flags import FLAG
from bot.settings.secrets import ADDRESSES, UNRESOLVED, without_password
from bot.settings.settings import PREFIX, Settings
from bot.settings.sources import source_of, variable_of
from runtime.text.words import marked, say

SET: Final = "set"
NOT_SET: Final = "not set"
REFERENCE: Final = "docs/settings.md"
NUMBERED: Final = re.compile(r"(?P<list>[a-z0-9_]+)\[(?P<number>\d+)\]")
CALLED_BY: Final = ("name", "address", "tool")
"""Settings by which people tell tables of a list apart."""
LINK: Final = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")
AREAS: Final[Mapping[str, Sequence[str]]] = {
    marked("People and rooms"): ("access", "rooms", "feedback", "operators", "sessions"),
    marked("Models and money"): ("model", "models", "embeddings", "images", "transcription", "speech", "budgets"),
    marked("Rules and approvals"): ("policy", "approvals", "guard", "guard_rules", "interceptors", "egress"),
    marked("Agents and what they know"): ("agents", "run", "memory", "knowledge", "skills", "databases"),
    marked("Work by the clock and on events"): (
        "schedules",
        "planning",
        "heartbeats",
        "triggers",
        "workflows",
        "goals",
    ),
    marked("Channels and doors"): ("accounts", "web", "auth", "hooks", "event_sinks", "programs", "a2a"),
    marked("Tools"): ("tools", "mcp", "git", "logins"),
    marked("This machine"): (
        *("data_dir", "workspace_dir", "database_url", "database_url_env", "database_listen_url"),
        *("database_listen_url_env", "files", "outbox", "nodes", "retention", "secrets", "log", "metrics", "telemetry"),
    ),
}
"""Tables of settings by what they are about."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Source of a value: its kind, and words for people."""

    kind: str
    words: str
    line: int = 0


class SettingRows:
    """Rows of `settings`, which may have opened no sealed file. `lines` are those of its file, `mask` hides secrets in what
    is shown, and `running` are those with which this process works.
    """

    def __init__(
        self, settings: Settings, lines: Mapping[str, int], mask: Callable[[str], str], running: Settings
    ) -> None:
        self._settings = settings
        self._lines = lines
        self._mask = mask
        self._running = {name: (field, value) for name, field, value in values_of(running, "")}
        self._sources = running.sources

    def all(self) -> Iterator[View]:
        for name, field, value in values_of(self._settings, ""):
            yield {**self.row(name, field, value), "called": self._called(name)}
        for name, info in type(self._settings).model_fields.items():
            if not getattr(self._settings, name) and f"{name}[]" in tables():
                yield self._empty(name, info.description or "")

    def _empty(self, name: str, doc: str) -> View:
        """A list without a table."""
        origin = self.origin(name, self._settings.sources)
        why = "" if takes_more(name) else why_shown(f"{name}[].name")
        return {
            "name": name,
            "table": name,
            "called": "",
            "kind": "list of tables",
            "value": "",
            "running": "",
            "is_secret": False,
            "source": origin.kind,
            "from": origin.words,
            "line": origin.line,
            "doc": plain_words(doc),
            "reference": f"{REFERENCE}#{name}",
            "editable": not why and not self._elsewhere(name),
            "why": why or self._elsewhere(name),
        }

    def _called(self, name: str) -> str:
        """Name of a table of a list, or what it is about."""
        table = NUMBERED.match(name)
        if table is None:
            return ""
        holder: Any = getattr(self._settings, table["list"], ())[int(table["number"]) - 1]
        words = next((getattr(holder, key, "") for key in CALLED_BY if getattr(holder, key, "")), "")
        return self._mask(str(words))

    def row(self, name: str, field: SettingField, value: object) -> View:
        running = self._running.get(name, (field, None))[1]
        is_sealed = field.kind is FieldKind.SECRET and value in (None, [], UNRESOLVED) and running not in (None, [])
        origin = self.origin(name, self._sources if is_sealed else self._settings.sources)
        value = running if is_sealed else value
        against = "" if is_editable(field.path) else why_shown(field.path)
        return {
            "name": name,
            "table": name.rpartition(".")[0],
            "kind": field.kind.value,
            "value": self._shown(field, value),
            "running": self._waits(name, field, value, running),
            "is_secret": field.kind is FieldKind.SECRET,
            "source": origin.kind,
            "from": origin.words,
            "line": origin.line,
            "doc": plain_words(field.doc),
            "reference": reference_of(field),
            "editable": not (against or self._elsewhere(name)),
            "why": against or self._elsewhere(name),
        }

    def _waits(self, name: str, field: SettingField, value: object, running: object) -> str:
        """The value with which the process works until a restart; empty where it is the same."""
        if "[" in name or field.kind is FieldKind.SECRET or value == running:
            return ""
        return self._shown(field, running) or say("nothing")

    def origin(self, name: str, sources: Mapping[str, str]) -> Origin:
        source = source_of(name, sources)
        file = str(self._settings.file or "")
        is_left_out = "[" in name and source == file and name not in self._lines
        if not source or source == "default" or is_left_out:
            return Origin("default", say("default"))
        if source == FLAG:
            return Origin("command line", say("the command line"))
        if source == file:
            line = self._line(name)
            file = Path(file).name
            return Origin("file", say("{file}, line {line}", file=file, line=line) if line else file, line)
        if source.startswith(PREFIX):
            return Origin("environment", say("the variable {variable}", variable=source))
        if "/" in source and " in " not in source:
            return Origin("another file", source)
        return Origin("sealed" if " in " in source else "environment", source)

    def _elsewhere(self, name: str) -> str:
        return source_against(name, self._settings)

    def _line(self, name: str) -> int:
        """The line of the setting, or of the table that says all of it."""
        while name and name not in self._lines:
            name = name[: max(name.rfind("."), 0)]
        return self._lines.get(name, 0)

    def _shown(self, field: SettingField, value: object) -> str:
        if field.path in ADDRESSES and isinstance(value, str) and value not in ("", UNRESOLVED):
            return self._mask(shown_toml(_bare(value)))
        if field.kind is FieldKind.SECRET:
            return SET if value not in (None, "", [], {}, ()) else NOT_SET
        if field.path in PRIVATE and value:
            return f"{SET} ({len(value)})" if isinstance(value, dict | list | tuple) else SET
        return self._mask(shown_toml(_bare(value)))


def values_of(table: BaseModel, above: str) -> Iterator[tuple[str, SettingField, Any]]:
    """Each setting with its row of the reference and its plain value, also in lists of tables: `policy[1].tool`."""
    for attribute, info in type(table).model_fields.items():
        name = above + (info.alias or attribute)
        value = getattr(table, attribute)
        if isinstance(value, BaseModel):
            yield from values_of(value, f"{name}.")
        elif isinstance(value, tuple) and value and isinstance(value[0], BaseModel):
            for number, row in enumerate(value, 1):
                yield from values_of(row, f"{name}[{number}].")
        elif field := _field_of(name):
            yield name, field, plain_of(value)
    for key, named in getattr(table, "named", {}).items() if hasattr(type(table), "NAMED") else ():
        yield from values_of(named, f"{above}{key.replace('.', '·')}.")


def _field_of(name: str) -> SettingField | None:
    path, fields = path_of(name), all_fields()
    if path in fields:
        return fields[path]
    first, _, rest = path.partition(".")  # a table by a name of its own
    return fields.get(f"{first}.NAME.{rest.partition('.')[2]}")


def plain_of(value: object) -> Any:
    """A value as JSON would hold it."""
    match value:
        case BaseModel():
            return value.model_dump(mode="json", exclude_none=True, exclude_defaults=True, by_alias=True)
        case SecretStr():
            return SET if value.get_secret_value() else None
        case dict():
            return {key: plain_of(inner) for key, inner in value.items()}
        case tuple() | list():
            return [plain_of(inner) for inner in value]
        case bool() | int() | float() | None:
            return value
        case _:
            return str(value)


def _bare(value: object) -> object:
    """Addresses without the password that may stand in them."""
    match value:
        case str() if "://" in value:
            shown = without_password(value)
            return shown.partition("?")[0] if urlsplit(shown).query else shown
        case list():
            return [_bare(one) for one in value]
        case _:
            return value


def reference_of(field: SettingField) -> str:
    """The place in the reference, as its headings are linked."""
    table = field.table
    if not table:
        return f"{REFERENCE}#top-level"
    title = f"[[{table[:-2]}]]" if table.endswith("[]") else f"[{table}]"
    anchor = "".join(sign for sign in title.replace("[]", "").lower() if sign.isalnum() or sign in "-_ ").replace(
        " ", "-"
    )
    return f"{REFERENCE}#{anchor}"


def variable(name: str) -> str:
    """The variable of a setting; of one in a list of tables that of the list."""
    return variable_of(name.partition("[")[0], PREFIX)


def plain_words(text: str) -> str:
    """Words of the reference without Markdown's links: the page that one leads to stands in its place.

    >>> plain_words("Limits: [models.md](models.md#budgets).")
    'Limits: docs/models.md#budgets.'
    """
    return LINK.sub(lambda found: f"docs/{found[2]}", text)


def area_of(name: str) -> str:
    word = name.partition(".")[0].partition("[")[0]
    return next((area for area, words in AREAS.items() if word in words), "This machine")


def is_found(row: View, words: Sequence[str]) -> bool:
    """True if each of `words` stands in the name, the value, the source or the one line about it."""
    text = " ".join([row["name"], row["value"], row["from"], row["doc"], row["why"]]).casefold()
    return all(word in text for word in words)


def takes_more(word: str) -> bool:
    """True for a list to which tables may be added from here."""
    return word in REPEATED
