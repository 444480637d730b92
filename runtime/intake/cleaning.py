"""Takes secrets out of a signal before anything of it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runtime.chat.commands import as_request
from runtime.contract import Amended, Body, Clicked, Commanded, FileRef, Moved, Said, Signal, Stopped
from runtime.guard.door import Door
from runtime.guard.findings import Finding, Gate, Strictness


class _Cleaning:
    """One signal at the gate, and what is found in it."""

    def __init__(self, door: Door, room: str) -> None:
        self._door = door
        self._room = room
        self.findings: dict[Finding, None] = {}

    def text(self, text: str) -> str:
        checked = self._door.check(text, Gate.MESSAGE_IN, self._room)
        taken = (one for one in checked.findings if one.action in (Strictness.REDACT, Strictness.ENFORCE))
        self.findings |= dict.fromkeys(taken)
        return checked.text

    def body(self, body: Body) -> Body:
        match body:
            case Said(text, files):
                seen, named = self.text(text), tuple(map(self.file, files))
                return body if (seen, named) == (text, files) else replace(body, text=seen, files=named)
            case Clicked(reason=reason, values=values):
                typed = {name: self.text(value) for name, value in values.items()}
                return replace(body, reason=self.text(reason), values=typed)
            case Commanded(name, argument):
                return as_request(Commanded(self.text(name), self.text(argument)))
            case Amended(text):
                return Amended(self.text(text))
            case Stopped() | Moved():
                return body

    def file(self, file: FileRef) -> FileRef:
        name = self.text(file.name)
        return file if name == file.name else replace(file, name=name)


def cleaned(signal: Signal, door: Door) -> tuple[Signal, Sequence[Finding]]:
    """The signal as it may be kept, and what was taken out of it."""
    cleaning = _Cleaning(door, door.room(signal.address))
    body = cleaning.body(signal.body)
    names = cleaning.text(signal.actor_name), cleaning.text(signal.room_name)
    if (body, *names) == (signal.body, signal.actor_name, signal.room_name):
        return signal, ()
    return replace(signal, body=body, actor_name=names[0], room_name=names[1]), tuple(cleaning.findings)
