"""Facts of turns that must outlive them: what was done, what waits, and what people named exactly. Pure.

They are read from the record and never written by a model, so none of them can be lost in a summary or made up by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from runtime.contract import AssistantTurn, ToolTurn, Turn, UserTurn
from runtime.domain.transcript import (
    DENIED,
    ERROR,
    NO_ANSWER,
    OURS,
    STILL_AT_WORK,
    WAITING_FOR_ANSWER,
    WAITING_FOR_APPROVAL,
    YET_TO_READ,
)
from runtime.text.glyphs import clip

DONE_MAX: Final = 60
NAMES_MAX: Final = 80
"""The newest of them are kept; the digest says how many are not there."""

CALL_CHARS: Final = 160
RESULT_CHARS: Final = 60

IDENTIFIER: Final = re.compile(
    r"""https?://[^\s<>"')\]]+ | (?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+\w  # addresses
    | (?<![\w/.-])~?/?(?:[\w.-]+/)+[\w.-]*\w                     # paths
    | \b[A-Z][A-Z0-9]+-\d+\b | \#\d+\b                            # tickets
    | \b[0-9a-f]{7,40}\b | (?<![\w-])(?=[\w-]{3})[\w-]*\d[\w-]*\b   # hashes, numbers, names with digits
    | `[^`\n]{1,80}` | "[^"\n]{1,60}" """,
    re.VERBOSE,
)
"""Each run of letters is tried from its beginning alone: people may write a hundred thousand without a blank."""


@dataclass(frozen=True, slots=True)
class Digest:
    """Facts of turns. `done` and `names` are bounded: `forgotten` counts the calls that are not in `done` any more.

    `open` are the numbers of calls that wait, and of their results: they are sent as they are then, so in the record of a
    summary they stand in place of `waiting`.
    """

    done: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    forgotten: int = 0
    open: tuple[tuple[int, int], ...] = ()

    def then(self, later: Digest) -> Digest:
        """Facts of these turns and of those that came after them."""
        done = (*self.done, *later.done)
        lost = max(0, len(done) - DONE_MAX)
        names = tuple(dict.fromkeys((*self.names, *later.names)))[-NAMES_MAX:]
        return Digest(done[lost:], later.waiting, names, self.forgotten + later.forgotten + lost)

    def lines(self) -> Iterator[str]:
        """Paragraphs for the model; none for what there is nothing of."""
        if self.done:
            more = f" ({self.forgotten:,} earlier ones are not listed)" if self.forgotten else ""
            yield "\n".join([f"Already done, do not do it again{more}:", *(f"- {one}" for one in self.done)])
        if self.waiting:
            yield "\n".join(["Waiting for people, do not ask again:", *(f"- {one}" for one in self.waiting)])
        if self.names:
            yield f"Named by people: {', '.join(self.names)}"

    def within(self, characters: int) -> Digest:
        """The same in so many characters: what waits first, then the newest of what was done, then of the names."""
        left = max(0, characters - sum(map(len, self.waiting)))
        done = _newest(self.done, left if not self.names else left * 2 // 3)
        names = _newest(self.names, left - sum(map(len, done)))
        return Digest(done, self.waiting, names, self.forgotten + len(self.done) - len(done))

    def to_json(self) -> str:
        told: dict[str, object] = {"done": self.done, "names": self.names, "forgotten": self.forgotten}
        return json.dumps(told | ({"open": self.open} if self.open else {}), ensure_ascii=False)

    @classmethod
    def from_json(cls, written: str) -> Digest:
        raw = json.loads(written or "{}")
        return cls(tuple(raw.get("done", ())), (), tuple(raw.get("names", ())), raw.get("forgotten", 0))


NO_DIGEST: Final = Digest()


def _newest(texts: Sequence[str], characters: int) -> tuple[str, ...]:
    """The last of `texts`, as many as have room."""
    kept = 0
    for text in reversed(texts):
        characters -= len(text)
        if characters < 0:
            break
        kept += 1
    return tuple(texts[len(texts) - kept :])


def digest_of(turns: Sequence[Turn], reads: Collection[str]) -> Digest:
    """Facts of `turns`. Tools called `reads` change nothing; each other call that ended counts as done."""
    results = {turn.call_id: turn.text for turn in turns if isinstance(turn, ToolTurn)}
    done, waiting = [], []
    for call in (call for turn in turns if isinstance(turn, AssistantTurn) for call in turn.calls):
        result = results.get(call.id, "")
        told = f"{call.tool} {clip(' '.join(call.arguments.split()), CALL_CHARS)}"
        if result in (WAITING_FOR_APPROVAL, WAITING_FOR_ANSWER) or result.startswith(STILL_AT_WORK):
            waiting.append(told)
        elif call.tool not in reads and result and not result.startswith((DENIED, ERROR, NO_ANSWER, YET_TO_READ)):
            done.append(f"{told} → {clip(' '.join(result.split()), RESULT_CHARS)}")
    return NO_DIGEST.then(Digest(tuple(done), tuple(waiting), tuple(identifiers(turns))))


def identifiers(turns: Iterable[Turn]) -> list[str]:
    """Exact words of people: addresses, paths, numbers, tickets, names in quotes; each once, in their order.

    >>> from runtime.contract import UserTurn
    >>> identifiers([UserTurn("Move PROJ-12 from /srv/a.txt to https://x.example/b, see `main`")])
    ['PROJ-12', '/srv/a.txt', 'https://x.example/b', '`main`']
    """
    found: dict[str, None] = {}  # the newest first
    for turn in reversed(list(turns)):
        if isinstance(turn, UserTurn) and not turn.text.startswith(OURS):
            named = [match[0].lstrip("-").rstrip(".,;:!?") for match in IDENTIFIER.finditer(turn.text)]
            found.update(dict.fromkeys(reversed(named)))
            if len(found) >= NAMES_MAX:
                break
    return list(found)[:NAMES_MAX][::-1]
