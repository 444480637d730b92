"""Complaints of compilers, read from what they printed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tools.builds.results import short

GCC: Final = re.compile(
    r"^(?P<file>[^\s:(][^:\n]*\.\w+):(?P<line>\d+)(?::\d+)?: (?:(?:fatal )?(?P<kind>error|warning|note)(?:\[\w+\])?: )?(?P<words>.+)$"
)
TSC: Final = re.compile(r"^(?P<file>[^\s(]+)\((?P<line>\d+),\d+\): (?P<kind>error|warning) (?P<words>.+)$")
PYTHON_FILE: Final = re.compile(r'^\*{0,3}\s*File "(?P<file>[^"]+)", line (?P<line>\d+)')
PYTHON_ERROR: Final = re.compile(r"^(?:\*{3} )?(?P<words>\w*(?:Error|Warning): .+)$")
PLACES_SHOWN: Final = 50
LINE_MAX_CHARS: Final = 2_000
"""Characters of a line that are looked at: a longer one could take for ever."""


@dataclass(frozen=True, slots=True)
class Complaint:
    """A complaint of a compiler about a line. `kind` is `error`, `warning` or `note`."""

    file: str
    line: int
    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {'' if self.kind == 'error' else f'{self.kind}: '}{self.message}"


def complaints(text: str) -> list[Complaint]:
    """Complaints of gcc, clang, rustc, go, tsc and Python in what they printed, each once.

    >>> [str(one) for one in complaints("src/a.ts(3,5): error TS2322: Type mismatch.")]
    ['src/a.ts:3: TS2322: Type mismatch.']
    """
    return list(dict.fromkeys(_complaints(text)))


def _complaints(text: str) -> Iterator[Complaint]:
    python: re.Match[str] | None = None
    for line in (one[:LINE_MAX_CHARS] for one in text.splitlines()):
        if found := TSC.match(line) or GCC.match(line):
            kind = found["kind"] or "error"
            yield Complaint(_relative(found["file"]), int(found["line"]), kind, short(found["words"]))
        elif found := PYTHON_FILE.match(line):
            python = found
        elif python and (found := PYTHON_ERROR.match(line)):
            yield Complaint(_relative(python["file"]), int(python["line"]), "error", short(found["words"]))
            python = None


def _relative(file: str) -> str:
    return file.removeprefix("/workspace/").removeprefix("./")


def told_complaints(found: list[Complaint]) -> str:
    """Errors first; notes only where there is nothing else."""
    ranked = sorted((one for one in found if one.kind != "note"), key=lambda one: one.kind != "error") or found
    shown = [str(one) for one in ranked[:PLACES_SHOWN]]
    more = [f"… and {len(ranked) - PLACES_SHOWN} more"] if len(ranked) > PLACES_SHOWN else []
    return "\n".join([*shown, *more])
