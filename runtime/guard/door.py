"""The guard at the places where text flows: it knows whose room that is, and tells those who keep count."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from runtime.contract import Address, Call
from runtime.guard.findings import Clean, Finding, Gate
from runtime.guard.guard import Checked, Guard, GuardRules
from runtime.guard.previews import Preview
from runtime.guard.sealing import KEY_BYTES, Sealer

Told = Callable[[Gate, str, Finding], None]
"""Whoever counts and records findings: at which gate, in which room as the settings write it."""

KNOWN_MOST: Final = 8_192
"""Texts that are known to be clean, after which all are looked at anew. A conversation is sent again with each message, and its
turns stay as they are."""
WARNED: Final = "warned"
"""In the key of a text that stays as it is though something was found in it."""
TOLD_MOST: Final = 100
"""Findings of one text that are counted and recorded: a message may hold some thousand, and a file some ten thousand."""
HIDDEN_TOOL: Final = "redacted"
"""In place of a tool's name with a secret in it. Vendors take only letters there, so it's no mark."""
JSON_ESCAPE: Final = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|/)")


def as_read(written: str) -> str:
    """JSON with letters in place of their escapes: any letter of a secret may be written as one.

    >>> as_read('{"a": "\\\\u0067hp"}')
    '{"a": "ghp"}'
    """
    return JSON_ESCAPE.sub(lambda one: chr(int(one[1], 16)) if one[1] else "/", written) if "\\" in written else written


def told_nobody(_gate: Gate, _room: str, _finding: Finding) -> None:
    """For tests, and where nobody counts."""


class Door:
    """Text goes through it once on each of its ways."""

    def __init__(
        self,
        guard: Guard,
        *,
        named: Callable[[Address], str] = str,
        told: Told = told_nobody,
        sealer: Sealer | None = None,
    ) -> None:
        self.guard = guard
        self._sealer = sealer or Sealer(os.urandom(KEY_BYTES))
        self._named = named
        self._told = told
        self._known = set[int]()

    def room(self, address: Address | None) -> str:
        """The room as the settings write it."""
        return self._named(address.whole_room) if address else ""

    def check(self, text: str, gate: Gate, room: str = "") -> Checked:
        """`text` as it may go on; findings are counted. One in which nothing was found isn't looked at again where the same rules
        hold, until somebody knows of another secret."""
        guard, learned = self.guard, self.guard.learned  # before the look, during which a thread may learn another one
        key = hash((text, gate if guard.differs_by_gate else "", room if guard.differs_by_room else "", learned))
        if key in self._known:
            return Checked(Clean(text))
        checked = guard.check(text, gate, room)
        self.tell(gate, room, checked.findings)
        if checked.text == text:
            if len(self._known) >= KNOWN_MOST:
                self._known.clear()
            self._known.add(hash((WARNED, text, gate, room, learned)) if checked.findings else key)
        return checked

    def tell(self, gate: Gate, room: str, findings: Sequence[Finding]) -> None:
        """Count what was found in one text or file."""
        for finding in findings[:TOLD_MOST]:
            self._told(gate, room, finding)

    def clean(self, text: str, gate: Gate, room: str = "") -> Clean:
        """`text` as it may go on."""
        return self.check(text, gate, room).text

    def known(self, text: str, gate: Gate, room: str = "") -> Clean:
        """`text` as it may go on, for rows that were written before and may hold anything: a warning about one is told once in a
        room, however often it comes."""
        if hash((WARNED, text, gate, room, self.guard.learned)) in self._known:
            return Clean(text)
        return self.check(text, gate, room).text

    def call(self, call: Call, room: str = "") -> Call:
        """A call as people and tables may see it; where something was taken out, with its true arguments sealed.

        A model may also write a secret as the name of a tool. There is none by that name, so nothing is lost.
        """
        if self.check(call.tool, Gate.TOOL_ARGUMENTS, room).text != call.tool:
            call = replace(call, tool=HIDDEN_TOOL)
        written = call.arguments
        checked = self.check(written, Gate.TOOL_ARGUMENTS, room)
        if checked.text == written:
            written = as_read(written)
            checked = self.check(written, Gate.TOOL_ARGUMENTS, room) if written != call.arguments else checked
        if checked.text == written:
            return call
        if checked.is_withheld:
            return replace(call, arguments=checked.text)
        seen = self._redacted(call.arguments, room)
        return replace(call, arguments=seen, sealed=self._sealer.seal(call.arguments, about(call.tool, seen)))

    def true_arguments(self, call: Call) -> str:
        """Errors: Unsealable."""
        if not call.sealed:
            return call.arguments
        return self._sealer.open(call.sealed, about(call.tool, call.arguments))

    def _redacted(self, arguments: str, room: str) -> str:
        """Arguments as JSON that is still whole, where they were, and where no secret is known by the name of its field."""
        try:
            cleaned = self._json(json.loads(arguments), room)
        except (ValueError, RecursionError):  # the latter for thousands of open brackets
            text = self.guard.check(arguments, Gate.TOOL_ARGUMENTS, room).text
            return self.guard.check(as_read(text), Gate.TOOL_ARGUMENTS, room).text
        short = json.dumps(cleaned, ensure_ascii=False, separators=(",", ":"))  # names stand close to their values
        checked = self.guard.check(short, Gate.TOOL_ARGUMENTS, room).text
        return checked if checked != short else json.dumps(cleaned, ensure_ascii=False)

    def _json(self, value: Any, room: str) -> Any:
        match value:
            case str():
                return self.guard.check(value, Gate.TOOL_ARGUMENTS, room).text
            case dict():
                return {self._json(key, room): self._json(one, room) for key, one in value.items()}
            case list():
                return [self._json(one, room) for one in value]
            case _:
                return value

    def preview(self, room: str = "") -> Preview:
        """For one answer under way."""
        return Preview(self.guard, room)


OPEN_DOOR: Final = Door(Guard(GuardRules()))
"""With the usual rules, for nobody's values."""


def about(tool: str, seen: str) -> str:
    """The place that sealed arguments belong to: a call of this tool, which people saw like this."""
    return f"{tool}\n{seen}"
