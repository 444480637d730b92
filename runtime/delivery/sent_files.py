"""Files that go out with a message: those of a text type pass the leak guard first, as the message itself does."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from runtime.contract import Address, Content, DeliveryId, FileRef, NewId
from runtime.guard.door import Door
from runtime.guard.files import FILE_MOST_BYTES, checked_file, is_text
from runtime.guard.findings import Finding, Gate, Strictness
from runtime.workspace.workspaces import WorkspaceFolders

CLEANED_FOLDER: Final = "sent"
"""Folder of a workspace with the files as people got them, where something was taken out."""

TOLD_MOST: Final = 100
"""Findings of one file that are counted and recorded: a table of random words may have some ten thousand."""

NAMED_MOST: Final = 3
"""Findings that a message names."""

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class SentFiles:
    """Looks through the files of a delivery. They lie in the workspace of its room."""

    workspaces: WorkspaceFolders
    door: Door
    new_id: NewId

    async def cleaned(self, delivery: DeliveryId, to: Address, content: Content) -> Content:
        """`content` with its files as they may be sent; of those withheld its text tells."""
        if not content.files and content.text_file is None:
            return content
        return await asyncio.to_thread(self._cleaned, delivery, to, content)

    def _cleaned(self, delivery: DeliveryId, to: Address, content: Content) -> Content:
        every = [*content.files, *([content.text_file] if content.text_file else [])]
        seen = {file: self._file(f"{CLEANED_FOLDER}/{delivery}/{at}", to, file) for at, file in enumerate(every, 1)}
        told = [one for one in seen.values() if isinstance(one, str)]
        text_file = seen[content.text_file] if content.text_file else None
        return replace(
            content,
            text="\n\n".join(filter(None, [content.text, *told])),
            files=_kept([seen[file] for file in content.files]),
            text_file=text_file if isinstance(text_file, FileRef) else None,
        )

    def _file(self, folder: str, to: Address, file: FileRef) -> FileRef | str:
        """The file to send, or why it isn't sent."""
        room = self.door.room(to)
        file = replace(file, name=self.door.known(file.name, Gate.DELIVERY, room))
        if not is_text(file.name, file.mime):
            return file
        try:
            with self.workspaces.open(to, file.path) as opened:
                data = opened.read(FILE_MOST_BYTES + 1)
        except (OSError, ValueError):  # whoever sends it finds the same, and tells
            return file
        if len(data) > FILE_MOST_BYTES:
            return self._too_large(file, room)
        return self._searched(folder, to, file, data, room)

    def _too_large(self, file: FileRef, room: str) -> FileRef | str:
        if self.door.guard.strictest(Gate.DELIVERY, room).rank < Strictness.REDACT.rank:
            return file
        most = FILE_MOST_BYTES // MIB
        return f"*{file.name} isn't sent: it's larger than {most} MB, and the leak guard can't search it.*"

    def _searched(self, folder: str, to: Address, file: FileRef, data: bytes, room: str) -> FileRef | str:
        checked = checked_file(data, lambda text: self.door.guard.check(text, Gate.DELIVERY, room))
        for finding in checked.findings[:TOLD_MOST]:
            self.door.tell(Gate.DELIVERY, room, finding)
        if checked.data is None:
            return f"*{file.name} isn't sent: it holds {_named(checked.findings)}.*"
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


def _named(findings: Sequence[Finding]) -> str:
    """Findings for which a file is withheld; none where the guard itself failed."""
    named = [str(one) for one in findings if one.action is Strictness.ENFORCE]
    more = f" and {len(named) - NAMED_MOST:,} more" if len(named) > NAMED_MOST else ""
    return ", ".join(named[:NAMED_MOST]) + more if named else "something that the leak guard can't read"


def _kept(seen: Sequence[FileRef | str]) -> tuple[FileRef, ...]:
    return tuple(one for one in seen if isinstance(one, FileRef))
