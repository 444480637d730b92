"""A terminal's screen, drawn from the bytes that a program writes to it: as much of a VT as ours use, and what it leaves on."""

from __future__ import annotations

import codecs
import re
from typing import Final

from rich.cells import get_character_cell_size

SEQUENCE: Final = re.compile(
    r"\x1b\[(?P<private>[<=>?]?)(?P<numbers>[0-9;:]*)(?P<between>[ -/]*)(?P<letter>[@-~])"
    r"|\x1b[\]P_^X].*?(?:\x07|\x1b\\)"  # titles, questions to the terminal
    r"|\x1b[ -/]*[0-Z\\`-~]",
    re.DOTALL,
)
BEGUN: Final = re.compile(r"\x1b(?:\[[<=>?]?[0-9;:]*[ -/]*|[\]P_^X][^\x07]*|[ -/]*)?\Z", re.DOTALL)
"""A sequence whose end hasn't come."""
WRAPS, SHOWS_CURSOR = 7, 25
USUAL_MODES: Final = frozenset({WRAPS, SHOWS_CURSOR})
"""As a shell needs them: lines wrap, the cursor is seen, and nothing else is on."""


class Drawn:
    """`modes` are the private modes that are on; `colours` tells whether any was ever set."""

    def __init__(self, columns: int, lines: int) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self.modes = set(USUAL_MODES)
        self.keys = 0
        """How often other codes of keys were asked for, less how often that was ended."""
        self.colours = False
        self.lost = ""
        """Sequences that this screen doesn't know."""
        self.resize(columns, lines)

    def resize(self, columns: int, lines: int) -> None:
        self.columns, self.lines = columns, lines
        self._cells = [[" "] * columns for _ in range(lines)]
        self._x = self._y = 0

    @property
    def text(self) -> str:
        return "\n".join("".join(line).rstrip() for line in self._cells)

    def feed(self, data: bytes) -> None:
        told, place = self._rest + self._decoder.decode(data), 0
        while place < len(told):
            if told[place] != "\x1b":
                self._put(told[place])
                place += 1
            elif found := SEQUENCE.match(told, place):
                self._obey(found)
                place = found.end()
            elif BEGUN.match(told, place):
                break
            else:
                place += 1
        self._rest = told[place:]

    def _put(self, letter: str) -> None:
        match letter:
            case "\r":
                self._x = 0
            case "\n":
                self._y = min(self._y + 1, self.lines - 1)
            case "\b":
                self._x = max(0, self._x - 1)
            case _ if letter >= " " and letter != "\x7f":
                width = get_character_cell_size(letter)
                if self._x < self.columns and width:
                    self._cells[self._y][self._x : self._x + width] = [letter, *[""] * (width - 1)]
                self._x += width

    def _obey(self, found: re.Match[str]) -> None:
        letter, private = found["letter"], found["private"]
        if letter is None or found["between"] or letter in "cn":
            return  # a question to the terminal, or nothing that is seen
        numbers = [int(one) if one.isdecimal() else 0 for one in found["numbers"].split(";")]
        if private:
            self._switch(private + letter, numbers, found[0])
            return
        first = max(1, numbers[0])
        match letter:
            case "H" | "f":
                self._y, self._x = min(first, self.lines) - 1, max(1, numbers[1] if numbers[1:] else 1) - 1
            case "A" | "B" | "C" | "D" | "G" | "d":
                self._move(letter, first)
            case "J":
                self._erase_lines(numbers[0])
            case "K":
                end = self._x + 1 if numbers[0] == 1 else self.columns
                self._erase(self._y, self._x if numbers[0] == 0 else 0, end)
            case "m":
                self.colours |= any(one % 60 in range(30, 50) and one not in (39, 49) for one in numbers)
            case _:
                self.lost += repr(found[0])

    def _switch(self, what: str, numbers: list[int], whole: str) -> None:
        match what:
            case "?h":
                self.modes |= set(numbers)
            case "?l":
                self.modes -= set(numbers)
            case ">u":
                self.keys += 1
            case "<u":
                self.keys -= 1
            case _:
                self.lost += repr(whole)

    def _move(self, letter: str, by: int) -> None:
        match letter:
            case "A":
                self._y = max(0, self._y - by)
            case "B":
                self._y = min(self.lines - 1, self._y + by)
            case "C":
                self._x += by
            case "D":
                self._x = max(0, self._x - by)
            case "G":
                self._x = by - 1
            case _:
                self._y = min(self.lines, by) - 1

    def _erase_lines(self, which: int) -> None:
        if which >= 2:
            first, last = 0, self.lines
        else:
            first, last = (self._y + 1, self.lines) if which == 0 else (0, self._y)
            self._erase(self._y, self._x if which == 0 else 0, self.columns if which == 0 else self._x + 1)
        for line in range(first, last):
            self._erase(line, 0, self.columns)

    def _erase(self, line: int, first: int, end: int) -> None:
        self._cells[line][first:end] = [" "] * (min(end, self.columns) - min(first, self.columns))
