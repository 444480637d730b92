"""Files that go out with a message: those of a text type pass the leak guard first, as the message itself does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from runtime.contract import Address, Content, DeliveryId, FileRef, NewId
from runtime.guard.door import Door
from runtime.guard.files import FILE_MOST_BYTES, CheckedFile, checked_file, is_text
from runtime.guard.findings import Finding, Gate, Strictness, withheld_for
from runtime.workspace.workspaces import WorkspaceFolders

CLEANED_FOLDER: Final = "sent"
"""Folder of a workspace with the files as people got them, where something was taken out."""

UNREADABLE: Final = "something that the leak guard can't read"
MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Searched:
    """A file to send, or why it isn't sent; and what was found in it."""

    outcome: FileRef | str
    findings: Sequence[Finding] = ()


@dataclass(frozen=True, slots=True)
class SentFiles:
    """Looks through the files of a delivery. They lie in the workspace of its room."""

    workspaces: WorkspaceFolders
    door: Door
    new_id: NewId

    async def cleaned(self, delivery: DeliveryId, to: Address, content: Content) -> Content:
        """`content` with its files as they may be sent; of those withheld its text tells."""
        every = [*content.files, *([content.text_file] if content.text_file else [])]
        if not every:
            return content
        room = self.door.room(to)
        named = [replace(file, name=self.door.known(file.name, Gate.DELIVERY, room)) for file in every]
        # Beside the loop: a large file may take the guard some seconds. Those who count findings live in the loop.
        searched = await asyncio.to_thread(self._all_searched, f"{CLEANED_FOLDER}/{delivery}", to, named, room)
        for one in searched:
            self.door.tell(Gate.DELIVERY, room, one.findings)
        return _with_files(content, [one.outcome for one in searched])

    def _all_searched(self, folder: str, to: Address, files: Sequence[FileRef], room: str) -> Sequence[_Searched]:
        return [self._searched(f"{folder}/{at}", to, file, room) for at, file in enumerate(files, 1)]

    def _searched(self, folder: str, to: Address, file: FileRef, room: str) -> _Searched:
        if not is_text(file.name, file.mime):
            return _Searched(file)
        try:
            with self.workspaces.open(to, file.path) as opened:
                data = opened.read(FILE_MOST_BYTES + 1)
        except (OSError, ValueError):  # whoever sends it finds the same, and tells
            return _Searched(file)
        if len(data) > FILE_MOST_BYTES:
            return _Searched(self._too_large(file, room))
        checked = checked_file(data, lambda text: self.door.guard.check(text, Gate.DELIVERY, room))
        return _Searched(self._outcome(folder, to, file, data, checked), checked.findings)

    def _too_large(self, file: FileRef, room: str) -> FileRef | str:
        if self.door.guard.strictest(Gate.DELIVERY, room).rank < Strictness.REDACT.rank:
            return file
        most = FILE_MOST_BYTES // MIB
        return f"*{file.name} isn't sent: it's larger than {most} MB, and the leak guard can't search it.*"

    def _outcome(self, folder: str, to: Address, file: FileRef, data: bytes, checked: CheckedFile) -> FileRef | str:
        if checked.data is None:
            return f"*{file.name} isn't sent: it holds {withheld_for(checked.findings) or UNREADABLE}.*"
        return file if checked.data == data else self._put(f"{folder}/{file.name}", to, file, checked.data)

    def _put(self, path: str, to: Address, file: FileRef, data: bytes) -> FileRef | str:
        arriving = self.workspaces.arriving(self.new_id())
        try:
            arriving.write_bytes(data)
            self.workspaces.keep(to, path, arriving)
        except (OSError, ValueError) as error:
            return f"*{file.name} isn't sent: something was taken out, and what is left can't be written ({error}).*"
        finally:
            arriving.unlink(missing_ok=True)
        return replace(file, path=path, size=len(data))


def _with_files(content: Content, outcomes: Sequence[FileRef | str]) -> Content:
    """`outcomes` are those of its files, then the one of its text as a file, if it has one."""
    of_text = outcomes[len(content.files) :]
    return replace(
        content,
        text="\n\n".join(filter(None, [content.text, *(one for one in outcomes if isinstance(one, str))])),
        files=_kept(outcomes[: len(content.files)]),
        text_file=next(iter(_kept(of_text)), None),
    )


def _kept(outcomes: Sequence[FileRef | str]) -> tuple[FileRef, ...]:
    return tuple(one for one in outcomes if isinstance(one, FileRef))
