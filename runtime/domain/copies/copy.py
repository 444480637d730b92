"""A conversation as a file: what was said, and records of calls and questions, which nothing can act on any more."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from itertools import pairwise
from typing import Any, Final

FORMAT: Final = "conversation"
IMPORTED: Final = "import:"
"""Begins the keys and origins of what was imported, and the names of those who wrote it elsewhere."""
IMPORT_BEGINNING: Final = "begin"
"""Ends the key of the words that tell of an import, before the first thing in it."""
FORMAT_VERSION: Final = 1
COPY_MAX_BYTES: Final = 16 << 20
COPY_ENTRIES_MAX: Final = 5_000
ENTRY_TEXT_MAX_CHARS: Final = 1_000_000
COPIED_NAME_MAX_CHARS: Final = 200
COPIED_FILES_MAX: Final = 100
"""Files of one entry."""
FIRST_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""No conversation is older."""
KEPT_CONTROLS: Final = "\n\t"
RECORD_FIELDS: Final = ("tool", "effect", "arguments", "result", "state", "ended_at", "by", "choice", "reason")


class CopyFault(ValueError):
    """Not a copy that can be read, with the reason in words."""


class EntryKind(StrEnum):
    """Kinds of entries of a copy."""

    MESSAGE = "message"
    ANSWER = "answer"
    CALL = "call"
    APPROVAL = "approval"


@dataclass(frozen=True, slots=True)
class CopiedFile:
    """A file by its name and its digest; its bytes aren't copied."""

    name: str
    size: int = 0
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class CopiedEntry:
    """One entry. `record` has the fields of a call or a question, as they were recorded."""

    kind: EntryKind
    id: str
    at: datetime
    name: str = ""
    text: str = ""
    files: tuple[CopiedFile, ...] = ()
    replaces: str = ""
    record: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ConversationCopy:
    """A whole conversation, oldest first. `is_cut`: older entries were left out."""

    title: str
    room: str
    entries: tuple[CopiedEntry, ...]
    is_cut: bool = False


def to_values(copy: ConversationCopy) -> dict[str, Any]:
    """The copy as JSON holds it."""
    return {
        "signalbox": FORMAT,
        "version": FORMAT_VERSION,
        "title": copy.title,
        "room": copy.room,
        "cut": copy.is_cut,
        "entries": [_values(one) for one in copy.entries],
    }


def _values(one: CopiedEntry) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": one.kind.value, "id": one.id, "at": one.at.astimezone(UTC).isoformat()}
    if one.name:
        told["name"] = one.name
    if one.text:
        told["text"] = one.text
    if one.files:
        told["files"] = [{"name": file.name, "size": file.size, "sha256": file.sha256} for file in one.files]
    if one.replaces:
        told["replaces"] = one.replaces
    return {**told, **{name: one.record[name] for name in RECORD_FIELDS if one.record.get(name)}}


def parsed_copy(data: bytes | str) -> ConversationCopy:
    """Read a file. Errors: CopyFault in words."""
    if len(data) > COPY_MAX_BYTES:
        raise CopyFault(f"it is larger than {COPY_MAX_BYTES >> 20} MB")
    try:
        given = json.loads(data)
    except UnicodeDecodeError:
        raise CopyFault("it is no UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise CopyFault(f"it is no JSON, or was cut short (line {error.lineno}: {error.msg})") from None
    except (RecursionError, ValueError):
        raise CopyFault("it is nested too deep, or holds numbers beyond all bounds") from None
    return of_values(given)


def of_values(given: object) -> ConversationCopy:
    """Errors: CopyFault in words."""
    if not isinstance(given, dict) or given.get("signalbox") != FORMAT:
        raise CopyFault("it is no conversation of Signalbox: export one with `signalbox conversations export`, as JSON")
    version = given.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise CopyFault("its version can't be read")
    if version > FORMAT_VERSION:
        raise CopyFault(
            f"a newer Signalbox wrote it (version {version}; this one reads {FORMAT_VERSION}). Upgrade first"
        )
    rows = given.get("entries")
    if not isinstance(rows, list):
        raise CopyFault("it has no list of entries")
    if len(rows) > COPY_ENTRIES_MAX:
        raise CopyFault(f"it has {len(rows):,} entries; at most {COPY_ENTRIES_MAX:,} are taken")
    entries = tuple(_entry(number, row) for number, row in enumerate(rows, 1))
    if not entries:
        raise CopyFault("there is nothing in it")
    if any(later.at < one.at for one, later in pairwise(entries)):
        raise CopyFault("its entries aren't in the order of their times")
    if entries[0].at < FIRST_TIME:
        raise CopyFault(f"its first entry is from before {FIRST_TIME:%Y}")
    return ConversationCopy(
        *(
            _text(given, "title", COPIED_NAME_MAX_CHARS),
            _text(given, "room", COPIED_NAME_MAX_CHARS),
            entries,
            given.get("cut") is True,
        )
    )


def _entry(number: int, row: object) -> CopiedEntry:
    try:
        if not isinstance(row, dict):
            raise CopyFault("is no object")
        kind = EntryKind(row.get("kind", ""))
        files = row.get("files", [])
        if not isinstance(files, list) or len(files) > COPIED_FILES_MAX:
            raise CopyFault(f"has more than {COPIED_FILES_MAX} files, or no list of them")
        return CopiedEntry(
            kind,
            _text(row, "id", COPIED_NAME_MAX_CHARS),
            _moment(row.get("at")),
            _text(row, "name", COPIED_NAME_MAX_CHARS),
            _text(row, "text", ENTRY_TEXT_MAX_CHARS),
            tuple(map(_file, files)),
            _text(row, "replaces", COPIED_NAME_MAX_CHARS),
            {name: _text(row, name, ENTRY_TEXT_MAX_CHARS) for name in RECORD_FIELDS if row.get(name)},
        )
    except ValueError as error:
        raise CopyFault(f"entry {number} {error}") from None


def _file(given: object) -> CopiedFile:
    if not isinstance(given, dict):
        raise CopyFault("has a file that is no object")
    size = given.get("size", 0)
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 1 << 53:
        raise CopyFault("has a file whose size is no number of bytes")
    return CopiedFile(_text(given, "name", COPIED_NAME_MAX_CHARS), size, _text(given, "sha256", COPIED_NAME_MAX_CHARS))


def _moment(given: object) -> datetime:
    try:
        found = datetime.fromisoformat(given) if isinstance(given, str) else None
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise CopyFault("has no time with an offset as `at`")
    try:
        return found.astimezone(UTC)
    except OverflowError:
        raise CopyFault("has a time beyond all calendars") from None


def _text(given: Mapping[str, Any], name: str, most: int) -> str:
    value = given.get(name, "")
    if not isinstance(value, str):
        raise CopyFault(f"has a `{name}` that is no text")
    if len(value) > most:
        raise CopyFault(f"has a `{name}` of more than {most:,} characters")
    return without_controls(value)


def without_controls(text: str) -> str:
    """Without control characters and halves of letters, which no screen and no database shows."""
    if text.isprintable():
        return text
    return "".join(sign for sign in text if sign in KEPT_CONTROLS or unicodedata.category(sign) not in ("Cc", "Cs"))


def to_markdown(copy: ConversationCopy) -> str:
    """For people: a heading for each entry. It isn't read back."""
    return "\n".join(_markdown(copy)).rstrip() + "\n"


def _markdown(copy: ConversationCopy) -> Iterator[str]:
    yield f"# {' '.join(copy.title.split()) or 'Conversation'}\n"
    if copy.is_cut:
        yield "*Older messages are left out.*\n"
    for one in copy.entries:
        at = f"{one.at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
        match one.kind:
            case EntryKind.MESSAGE:
                yield f"## {' '.join(one.name.split()) or 'Somebody'}, {at}\n\n{one.text}\n"
            case EntryKind.ANSWER:
                yield f"## Signalbox, {at}\n\n{one.text}\n"
            case EntryKind.CALL:
                yield f"- {at}: called `{_tool(one)}` ({one.record.get('state', '')})\n"
            case EntryKind.APPROVAL:
                by = one.record.get("by")
                yield f"- {at}: asked about `{_tool(one)}`: {one.record.get('state', '')}{f' by {by}' if by else ''}\n"
        for file in one.files:
            yield f"- file `{_code(file.name)}`, {file.size:,} bytes{f', sha256 {file.sha256}' if file.sha256 else ''}\n"


def _tool(one: CopiedEntry) -> str:
    return _code(one.record.get("tool", ""))


def _code(text: str) -> str:
    return " ".join(text.replace("`", "'").split())
