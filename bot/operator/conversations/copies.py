"""Conversations as files: exported with records of what was done, and imported as what is over."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from adapters.web.adapter import CHANNEL
from adapters.web.render import render
from bot.operator.actor import Actor
from bot.operator.context import OperatorContext
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View
from runtime.contract import Address, Content, Delivery, DeliveryId, FileRef, Identity, Kind, RoomMark
from runtime.domain.agents.manifest import MAIN
from runtime.domain.copies.copy import (
    COPY_ENTRIES_MAX,
    IMPORT_BEGINNING,
    IMPORTED,
    ConversationCopy,
    CopiedEntry,
    CopiedFile,
    CopyFault,
    EntryKind,
    of_values,
    to_markdown,
    to_values,
)
from runtime.domain.ids import digest
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.http.errors import Refusal
from runtime.markup.moments import in_words
from runtime.store.shelf.copying import (
    AnswerRow,
    ConversationRows,
    ImportedAnswer,
    ImportedConversation,
    ImportedMessage,
    MessageRow,
)
from runtime.text.glyphs import clip, visible
from runtime.text.outside import material
from runtime.text.words import marked, say, say_many
from runtime.workspace.workspaces import WorkspaceFolders

RECORD_WORD: Final = "record"
RECORD_BEGIN: Final = "\n```json\n"
RECORD_END: Final = "\n```"
RECORD_KINDS: Final = (EntryKind.CALL.value, EntryKind.APPROVAL.value)
FILES_FROM: Final = 1_000_000
"""Added to the number of an entry: the number of the record of its files."""
HASHED_MAX_BYTES: Final = 64 << 20
"""Of all files of one conversation; those beyond it come without a digest."""
END_NUMBER: Final = 0
"""Of the line that tells where an import ends."""
MODEL_CHARS: Final = 40_000
"""Of an imported conversation, the newest ones, which agents read."""
ROOM_CHARS: Final = 24
TITLE_CHARS: Final = 100
CLOCKS_APART: Final = timedelta(days=1)
"""A copy's clock may be ahead by so much."""
TICK: Final = timedelta(microseconds=1)
NAME_A_ROOM: Final = marked("Name a room.")
NO_COPY: Final = marked("This file can't be imported: {why}. Nothing was imported.")
IMPORT_BEGUN: Final = marked("Imported: {entries}. Nothing in it runs, waits or asks.")
IMPORT_ENDED: Final = marked("Imported up to here.")
TOOL_CALLED: Final = marked("Imported record: `{tool}` was called. It ended as {state}.")
PEOPLE_ASKED: Final = marked("Imported record: people were asked about `{tool}`. It ended as {state}.")
HAD_FILES: Final = marked("Imported record: the message had files, which aren't here.")
IMPORTED_NOW: Final = marked("Imported {entries}. The conversation is in your list.")
IMPORTED_BEFORE: Final = marked("This file was imported already. Nothing was changed.")
UNTITLED: Final = marked("Conversation")
COPY_SOURCE: Final = "an imported conversation"


@by_role
class CopiesApi(PartialApi):
    """A conversation as a file, and from one."""

    async def copy_conversation(self, room: str) -> View:
        """Export a conversation: what was said, files by name and digest, and records of calls and questions."""
        address = await self._room_meant(room)
        if address is None:
            raise Refusal(400, NAME_A_ROOM)
        return await asyncio.to_thread(to_values, await copied(self._context, address, self.actor.identity))

    async def import_conversation(self, fields: Mapping[str, Any]) -> View:
        """Import such an export into a new room of the page, once. Nothing in it runs, waits or asks."""
        try:
            copy = await asyncio.to_thread(of_values, fields)
            _check_times(copy, self._context.now())
        except CopyFault as fault:
            raise Refusal(422, NO_COPY.format(why=fault)) from None
        return await imported(self._context, self.actor, copy)


# ------------------------------------------------------------------------------------------------------------- export


async def copied(context: OperatorContext, address: Address, owner: Identity | None = None) -> ConversationCopy:
    """The conversation of a room, as it stands, by the name that `owner` gave it. It may be long, so all that goes through its
    texts is done in a thread.
    """
    rows = await context.store.shelf.rows_of(address, COPY_ENTRIES_MAX)
    begun = (row.text for row in rows.messages if _number(row) is None)
    said = next((text.partition("\n")[0] for text in begun), "")  # the title that its file had
    first, mine = [(await context.store.traces.titles([address], who)).get(address) for who in (None, owner)]
    title = (mine if mine != first else "") or said or first or context.called(address)
    names = context.mask(title), context.named(address)
    found = await asyncio.to_thread(_found, rows, context.folders(MAIN), address, context.mask)
    return ConversationCopy(*names, found[-COPY_ENTRIES_MAX:], rows.is_cut or len(found) > COPY_ENTRIES_MAX)


def _found(
    rows: ConversationRows, folders: WorkspaceFolders, address: Address, mask: Callable[[str], str]
) -> tuple[CopiedEntry, ...]:
    """All entries, in order, without secrets."""
    refs = [FileRef(*one) for row in rows.messages for one in row.files]
    refs += [one for row in rows.answers for one in row.content.files]
    entries = sorted(_entries(rows, _digests(folders, address, refs)), key=lambda one: one[0])
    return tuple(_masked(mask, one) for _, one in entries)


Placed = tuple[tuple[datetime, int, str], CopiedEntry]
"""An entry behind its place: the time, its number in the file that it came from, and its id."""


def _entries(rows: ConversationRows, digests: Mapping[str, str]) -> Iterator[Placed]:
    files = dict(_files_of(rows.answers))
    ids = {row.id for row in rows.messages}
    for row in rows.messages:
        number = _number(row)
        if number is None:
            continue
        own = tuple(_file(FileRef(*one), digests) for one in row.files) or files.get((_origin(row.key), number), ())
        replaces = row.replaces if row.replaces in ids else ""
        entry = CopiedEntry(EntryKind.MESSAGE, row.id, row.at, row.name, row.text, own, replaces)
        yield (row.at, number, row.id), entry
    for answer in rows.answers:
        yield from _answer(answer, files, digests)
    for call in rows.calls:
        ended = call.ended_at.isoformat() if call.ended_at else ""
        record = {"tool": call.tool, "effect": call.effect, "arguments": call.arguments, "result": call.result}
        record |= {"state": call.state, "ended_at": ended}
        yield (call.at, 1, call.id), CopiedEntry(EntryKind.CALL, call.id, call.at, record=record)
    for one in rows.questions:
        decided = one.decided_at.isoformat() if one.decided_at else ""
        record = {"tool": one.tool, "effect": one.effect, "arguments": one.arguments, "state": one.state}
        record |= {"ended_at": decided, "by": one.by, "choice": one.choice, "reason": one.reason}
        yield (one.at, 2, one.id), CopiedEntry(EntryKind.APPROVAL, one.id, one.at, record=record)


def _number(row: MessageRow) -> int | None:
    """The number in the file that a message came from, 0 for one that was said here; None for the words of an import."""
    if not row.key.startswith(IMPORTED):
        return 0
    end = row.key.rpartition(":")[2]
    return None if end == IMPORT_BEGINNING else int(end)


def _origin(key: str) -> str:
    return key.rpartition(":")[0]


def _answer(
    row: AnswerRow, files: Mapping[tuple[str, int], tuple[CopiedFile, ...]], digests: Mapping[str, str]
) -> Iterator[Placed]:
    content, is_imported = row.content, row.origin.startswith(IMPORTED)
    if is_imported and row.ordinal == END_NUMBER:
        return
    if content.reaction or content.buttons or content.mark or (is_imported and row.ordinal >= FILES_FROM):
        return
    place = (row.at, row.ordinal if is_imported else 3, row.id)
    if is_imported and (record := _record_of(content.text)):
        kind = EntryKind(record.pop("kind"))
        yield place, CopiedEntry(kind, row.id, row.at, record=record)
        return
    own = tuple(_file(one, digests) for one in content.files) or files.get((row.origin, row.ordinal), ())
    yield place, CopiedEntry(EntryKind.ANSWER, row.id, row.at, text=in_words(content.all_text), files=own)


def _files_of(answers: Sequence[AnswerRow]) -> Iterator[tuple[tuple[str, int], tuple[CopiedFile, ...]]]:
    """Files of imported entries, by the file that they came in and their number there."""
    for row in answers:
        if row.origin.startswith(IMPORTED) and row.ordinal >= FILES_FROM:
            found = _values_in(row.content.text).get("files", [])
            files = tuple(CopiedFile(one["name"], one["size"], one["sha256"]) for one in found)
            yield (row.origin, row.ordinal - FILES_FROM), files


def _record_of(text: str) -> dict[str, str]:
    values = _values_in(text)
    if values.get("kind") not in RECORD_KINDS:  # an answer may end with anything, also with what looks like a record
        return {}
    return {name: str(value) for name, value in values.items() if name not in ("signalbox", "files")}


def _values_in(text: str) -> dict[str, Any]:
    """The record in an imported text; empty for a text that has none, or whose record the leak guard changed."""
    whole = text.rstrip()
    _, begin, told = whole.removesuffix(RECORD_END).rpartition(
        RECORD_BEGIN
    )  # in JSON a line's end is written otherwise
    if not begin or not whole.endswith(RECORD_END):
        return {}
    try:
        values = json.loads(told)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) and values.get("signalbox") == RECORD_WORD else {}


def _masked(mask: Callable[[str], str], one: CopiedEntry) -> CopiedEntry:
    return replace(one, text=mask(one.text), record={name: mask(value) for name, value in one.record.items()})


def _file(ref: FileRef, digests: Mapping[str, str]) -> CopiedFile:
    return CopiedFile(ref.name, ref.size, digests.get(ref.path, ""))


def _digests(folders: WorkspaceFolders, address: Address, refs: Sequence[FileRef]) -> dict[str, str]:
    """Digests of the files that are still there, by path."""
    found: dict[str, str] = {}
    left = HASHED_MAX_BYTES
    for ref in refs:
        if ref.path in found or not ref.path or ref.size > left or not folders.path(address).is_dir():
            continue
        try:
            with folders.open(address, ref.path) as file:
                found[ref.path] = hashlib.sha256(file.read(HASHED_MAX_BYTES)).hexdigest()
        except (OSError, ValueError):
            continue  # it was removed, or a command put something else in its place
        left -= ref.size
    return found


# ------------------------------------------------------------------------------------------------------------- import


async def imported(context: OperatorContext, actor: Actor, copy: ConversationCopy) -> View:
    """Write a copy into a new room of the page, in one go; the same file of the same person is taken once."""
    made, title = await asyncio.to_thread(_made, context, actor, copy, context.door())
    entries = say_many("{number} entry", "{number} entries", len(copy.entries))
    before = await context.store.shelf.import_conversation(made, MAIN)
    if before is None:
        await context.store.shelf.mark_room(actor.identity, made.address, RoomMark(title))
    where = before or made.address
    told = say(IMPORTED_BEFORE) if before else say(IMPORTED_NOW, entries=entries)
    return {
        "room": context.named(where),
        "place": f"/#{where.room}",
        "title": title,
        "entries": len(copy.entries),
        "already": before is not None,
        "told": told,
    }


def _made(
    context: OperatorContext, actor: Actor, copy: ConversationCopy, door: Door
) -> tuple[ImportedConversation, str]:
    """A copy as it is written, and its title."""
    copy = _cleaned(copy, lambda text: door.clean(text, Gate.MESSAGE_IN))
    title = clip(visible(" ".join(copy.title.split()), one_line=True), TITLE_CHARS) or say(UNTITLED)
    named = json.dumps([to_values(replace(copy, room=""))["entries"], actor.identity], sort_keys=True)
    key = digest(named)
    room = digest(f"{key} {context.new_id()}")[:ROOM_CHARS]
    address = Address(CHANNEL, context.web_account, room)
    entries = say_many("{number} entry", "{number} entries", len(copy.entries))
    made = ImportedConversation(
        digest=key,
        address=address,
        by=actor.identity,
        by_name=actor.person.name,
        person=str(actor.person.id),
        beginning=f"{title}\n\n{say(IMPORT_BEGUN, entries=entries)}",
        began_at=copy.entries[0].at - TICK,
        messages=list(_messages(copy)),
        answers=list(_answers(copy, address)),
        material=material(to_markdown(copy)[-MODEL_CHARS:], COPY_SOURCE),
    )
    return made, title


def _check_times(copy: ConversationCopy, now: datetime) -> None:
    """Errors: CopyFault for times that would stand behind all that is said here."""
    if copy.entries[-1].at > now + CLOCKS_APART:
        raise CopyFault("its last entry is from the future")


def _cleaned(copy: ConversationCopy, clean: Any) -> ConversationCopy:
    """The copy as the leak guard lets it in, with names on one line."""

    def entry(one: CopiedEntry) -> CopiedEntry:
        return replace(
            one,
            name=clean(visible(" ".join(one.name.split()), one_line=True)),
            text=clean(one.text),
            files=tuple(replace(file, name=clean(visible(file.name, one_line=True))) for file in one.files),
            record={name: clean(value) for name, value in one.record.items()},
        )

    return replace(copy, title=clean(copy.title), entries=tuple(map(entry, copy.entries)))


def _messages(copy: ConversationCopy) -> Iterator[ImportedMessage]:
    numbers = {one.id: number for number, one in enumerate(copy.entries, 1) if one.id}
    for number, one in enumerate(copy.entries, 1):
        if one.kind is EntryKind.MESSAGE:
            yield ImportedMessage(number, one.at, one.name, one.text, numbers.get(one.replaces, 0))


def _answers(copy: ConversationCopy, address: Address) -> Iterator[ImportedAnswer]:
    yield _shown(END_NUMBER, copy.entries[-1].at + TICK, say(IMPORT_ENDED), address)
    for number, one in enumerate(copy.entries, 1):
        match one.kind:
            case EntryKind.MESSAGE:
                pass
            case EntryKind.ANSWER:
                yield _shown(number, one.at, one.text, address)
            case EntryKind.CALL:
                yield _shown(number, one.at, _record(TOOL_CALLED, one), address)
            case EntryKind.APPROVAL:
                yield _shown(number, one.at, _record(PEOPLE_ASKED, one), address)
        if one.files:
            values = [{"name": file.name, "size": file.size, "sha256": file.sha256} for file in one.files]
            yield _shown(FILES_FROM + number, one.at, f"{say(HAD_FILES)}{_fenced({'files': values})}", address)


def _record(words: str, one: CopiedEntry) -> str:
    tool = visible(one.record.get("tool", "").replace("`", "'"), one_line=True)
    state = visible(one.record.get("state", ""), one_line=True)
    return f"{say(words, tool=tool, state=state)}{_fenced({'kind': one.kind.value, **one.record})}"


def _fenced(values: Mapping[str, Any]) -> str:
    told = json.dumps({"signalbox": RECORD_WORD, **values}, ensure_ascii=False, indent=1)
    return f"\n\n```json\n{told}\n```"


def _shown(number: int, at: datetime, text: str, address: Address) -> ImportedAnswer:
    content = Content(text)
    delivery = Delivery(DeliveryId(""), IMPORTED, number, Kind.FINAL, address, content)
    return ImportedAnswer(number, at, content, render(delivery).body)
