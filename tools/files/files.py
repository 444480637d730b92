"""Tools for the files of a session's workspace. How they stay inside it is in `workspace`."""

from __future__ import annotations

import heapq
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Final

from runtime.contract import (
    CardChange,
    CardContext,
    CardPart,
    CardText,
    CardValue,
    Effect,
    Flow,
    Json,
    Reads,
    ToolContext,
)
from runtime.errors import ToolFailed, ToolRetry
from runtime.markup.moments import several
from runtime.text.words import marked
from runtime.workspace import safe_fs
from tools.files.undo import UNDO
from tools.files.workspace import attached, named, opened, opened_parent, own_like, told
from tools.kit.declare import tool
from tools.kit.output import joined

MOST_ENTRIES: Final = 500  # of one listing; more says little to a model and costs its context
BOUND: Final = 50_000  # characters of one file
LINES_SHOWN: Final = 20
"""Of a new file, on the card that asks about it."""
COMPARED_MAX_BYTES: Final = 200_000
"""Of a file that is compared with what is to replace it."""
HALF: Final = BOUND // 2 - 100  # leaves room for the note in the middle
SLICE_BYTES: Final = 48_000  # of a slice at most: with the line above it within BOUND
WIDEST: Final = 4  # bytes of the longest UTF-8 character

READING: Final = Flow(Reads.FILES, "{path}", carries={})
WRITING: Final = Flow(Reads.OURS, stays=True, writes="{path}")

Entry = tuple[str, os.stat_result, str]
"""Name, what it is, and where it points if it is a link."""


@tool(effect=Effect.READ, flow=READING)
def list_files(
    context: ToolContext,
    path: Annotated[str, "Folder in the workspace."] = ".",
) -> str:
    """List a folder: folders end in a slash, files show bytes."""
    with opened(context.workspace, path) as folder:
        if not stat.S_ISDIR(os.fstat(folder).st_mode):
            raise ToolFailed(f"{named(path)} is a file, not a folder; use read_file.")
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
        shown = [_line(entry) for entry in _looked_at(folder, heapq.nsmallest(MOST_ENTRIES, names))]
    if len(names) > MOST_ENTRIES:
        shown.append(f"… and {len(names) - MOST_ENTRIES:,} more")
    return "\n".join(shown) or "The folder is empty."


def _looked_at(folder: int, names: list[str]) -> Iterator[Entry]:
    for name in names:
        with suppress(FileNotFoundError):  # gone since the listing
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            yield name, found, os.readlink(name, dir_fd=folder) if stat.S_ISLNK(found.st_mode) else ""


def _line(entry: Entry) -> str:
    name, found, target = entry
    match stat.S_IFMT(found.st_mode):
        case stat.S_IFDIR:
            return f"{printable(name)}/"
        case stat.S_IFREG:
            return f"{printable(name)}  {several(found.st_size, 'byte')}"
        case stat.S_IFLNK:
            return f"{printable(name)} -> {printable(target)}  (link, not followed)"
        case _:
            return f"{printable(name)}  (not a regular file)"


def printable(name: str) -> str:
    """A file name on one line and in valid text, whatever bytes it is made of."""
    text = os.fsencode(name).decode(errors="replace")
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


@tool(effect=Effect.READ, output_bound=BOUND, flow=READING)
def read_file(
    path: Annotated[str, "In the workspace; of a sent file, its name."],
    context: ToolContext,
    offset: Annotated[int, "First byte."] = 0,
    limit: Annotated[int, "Bytes to read."] = 0,
) -> str:
    """Read a text file, or a slice; a long one at both ends."""
    if offset < 0 or limit < 0:
        raise ToolRetry("offset and limit count bytes from the beginning of the file; neither can be negative.")
    path = attached(context.workspace, path)
    with opened(context.workspace, path) as file:
        found = os.fstat(file)
        if stat.S_ISDIR(found.st_mode):
            raise ToolFailed(f"{named(path)} is a folder; use list_files.")
        if not stat.S_ISREG(found.st_mode):
            raise ToolFailed(f"{named(path)} is not a regular file.")
        return _slice(file, found.st_size, path, offset, limit) if offset or limit else _ends(file, found.st_size, path)


def _slice(file: int, size: int, path: str, offset: int, limit: int) -> str:
    """Text of at most `limit` bytes from `offset` on, and where it goes on. No character is cut in two."""
    if offset >= size:
        raise ToolRetry(f"{named(path)} has {several(size, 'byte')}: an offset of {offset:,} is past its end.")
    data = os.pread(file, min(limit or SLICE_BYTES, SLICE_BYTES), offset)
    end = offset + len(data)
    text = _text(data, path, cut_before=offset > 0, cut_after=end < size)
    start = next((at for at, byte in enumerate(data) if byte & 0xC0 != 0x80), 0) if offset else 0
    end = offset + start + len(text.encode())
    more = f"; it goes on at offset {end}" if end < size else "; this is its end"
    return f"[bytes {offset + start:,} to {end:,} of {size:,}{more}]\n{text}"


def _ends(file: int, size: int, path: str) -> str:
    """The whole text, or its two ends; reads no more of the file than it shows."""
    reach = HALF * WIDEST
    if size <= 2 * reach:
        whole = _text(os.pread(file, 2 * reach, 0), path)
        if len(whole) <= BOUND:
            return whole
        head, tail = whole, whole
    else:
        head = _text(os.pread(file, reach, 0), path, cut_after=True)
        tail = _text(os.pread(file, reach, size - reach), path, cut_before=True)
    note = f"the middle of this file of {size:,} bytes is cut; offset reads on from a byte, search_files finds lines"
    return joined(head[:HALF], tail[-HALF:], note, after=head[HALF : HALF + 1])


def _text(data: bytes, path: str, *, cut_before: bool = False, cut_after: bool = False) -> str:
    """`data` as text, without a character that was cut in two. Errors: ToolFailed for a binary file or a bad encoding."""
    if b"\0" in data:
        raise ToolFailed(
            f"{named(path)} is a binary file without text; its bytes are not shown. read_document reads PDFs and office files."
        )
    start = 0
    while cut_before and start < WIDEST - 1 and data[start : start + 1] and data[start] & 0xC0 == 0x80:
        start += 1
    try:
        return data[start:].decode()
    except UnicodeDecodeError as error:
        torn = cut_after and error.reason == "unexpected end of data"
        if torn:
            return data[start : start + error.start].decode()
        raise ToolFailed(f"{named(path)} is not valid UTF-8 text; it may be binary or in another encoding.") from error


def _write_card(arguments: Mapping[str, Json], context: CardContext) -> list[CardPart]:
    """Shows what would change in a file that is there; of a new one its first lines."""
    path, content = arguments.get("path"), arguments.get("content")
    if not (isinstance(path, str) and isinstance(content, str)):
        return []
    said, before = _there(context.workspace, path)
    same = marked("already says exactly this") if before == content else said
    text = CardText("content", LINES_SHOWN) if before is None else CardChange("content", before)
    return [CardValue("path", same), text]


def _there(workspace: Path, path: str) -> tuple[str, str | None]:
    """Words for the file at `path`; and its text, if it has one of a size that people compare."""
    try:
        with opened(workspace, path) as file:
            found = os.fstat(file)
            data = os.pread(file, COMPARED_MAX_BYTES + 1, 0) if stat.S_ISREG(found.st_mode) else b"\0"
    except ToolFailed as error:
        return marked("new") if isinstance(error.__cause__, FileNotFoundError) else "", None
    size = several(found.st_size, "byte") if found.st_size < 1000 else f"{found.st_size / 1000:,.1f} KB"
    replaces = marked("replaces {size}").format(size=size)
    if len(data) > COMPARED_MAX_BYTES or b"\0" in data:
        return replaces, None
    try:
        return replaces, data.decode()
    except UnicodeDecodeError:
        return replaces, None


@tool(effect=Effect.WRITE, card=_write_card, undo=UNDO, flow=WRITING)
def write_file(
    path: Annotated[str, "File in the workspace; folders are created."],
    content: Annotated[str, "Its whole text."],
    context: ToolContext,
) -> str:
    """Write or replace a text file."""
    try:
        data = content.encode()
    except UnicodeEncodeError as error:
        raise ToolRetry("The content has half a surrogate pair in it, which no text file can hold.") from error
    replace(context.workspace, path, data)
    return f"Wrote {several(len(data), 'byte')} to {path}."


def replace(workspace: Path, path: str, data: bytes) -> None:
    """Make `data` the whole file at `path`; a reader meanwhile sees the old one. Errors: ToolFailed."""
    with opened_parent(workspace, path) as (folder, name):
        mode = _mode_to_keep(folder, name, path)
        with told(path):
            safe_fs.replace(name, folder, data, partial(own_like, folder=folder), mode=mode)


def _mode_to_keep(folder: int, name: str, path: str) -> int:
    """Permissions for the new file: those of the file it replaces, so that a script stays executable."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:  # none yet; a name that cannot be is told by the rename
        return 0o644
    if stat.S_ISREG(found.st_mode):
        return stat.S_IMODE(found.st_mode) & 0o777
    if stat.S_ISLNK(found.st_mode):
        raise ToolFailed(f"{named(path)} is a symbolic link, and links are not followed.")
    raise ToolFailed(f"{named(path)} exists and is not a regular file.")
