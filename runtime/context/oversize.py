"""Messages and results too large for their model's window: both ends are sent, and all of it lies in a file. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from runtime.context.sizes import of_text
from runtime.context.summaries import unread_turns
from runtime.contract import INBOX, AssistantTurn, RunId, Turn, UserTurn
from runtime.domain.transcript import OURS
from runtime.store.protocol import History
from runtime.text.glyphs import bound

MESSAGE_PART: Final = 0.5
"""Of the window, for one message or result, and for all together that a run has yet to read."""

LEAST_CHARS: Final = 200
FOLDER: Final = f"{INBOX}/long"
"""Of a workspace: there long messages and results lie."""


@dataclass(frozen=True, slots=True)
class LongText:
    """A text that is sent only in part, and the file with all of it. `said`: it is a person's message."""

    path: str
    text: str
    said: bool = False
    run: str = ""


def shortened(history: History, window: int, run: RunId) -> tuple[History, list[LongText]]:
    """`history` with no text larger than its share of `window`, and those texts as they are.

    What `run` has yet to read shares the room of one: it can't be cut later, when other turns make way.
    """
    room = int(window * MESSAGE_PART)
    ahead = unread_turns(history, run)
    share = _share([history.turns[index].text for index in ahead], room)
    rooms = [share if index in ahead else room for index in range(len(history.turns))]
    long = dict(_found(history, rooms))
    if not long:
        return history, []
    turns = [_cut(turn, long[at], rooms[at]) if at in long else turn for at, turn in enumerate(history.turns)]
    return replace(history, turns=turns), list(long.values())


def _share(texts: Sequence[str], room: int) -> int:
    """Tokens that each of `texts` may have, so that all have room: the long ones lose, and short ones nothing."""
    if sum(map(len, texts)) <= room:
        return room
    left = room
    for before, size in enumerate(sorted(map(of_text, texts))):
        even = left // (len(texts) - before)
        if size > even:
            return even
        left -= size
    return room


def _found(history: History, rooms: Sequence[int]) -> Iterator[tuple[int, LongText]]:
    for index, (number, turn, room) in enumerate(zip(history.numbers, history.turns, rooms, strict=False)):
        if len(turn.text) <= room or isinstance(turn, AssistantTurn) or of_text(turn.text) <= room:
            continue
        said = isinstance(turn, UserTurn)
        name = f"{'message' if said else 'result'}-{number}.txt"
        yield index, LongText(f"{FOLDER}/{name}", turn.text, said, history.runs[index])


def _cut(turn: Turn, long: LongText, room: int) -> Turn:
    """The turn with the two ends of its text."""
    told = note(long.path, len(long.text))
    characters = int(room * len(long.text) / of_text(long.text))
    both = bound(long.text, max(LEAST_CHARS, characters - len(told)))
    return replace(turn, text=f"{both}\n\n{told}")


def note(path: str, characters: int) -> str:
    """Said to the model behind the two ends of a text."""
    return (
        f"{OURS}The middle of this text of {characters:,} characters is left out here. All of it is in {path}: read it in "
        "slices."
    )


def told_of(long: LongText) -> str:
    """Said once to whoever sent it."""
    return (
        f"Your message has {len(long.text):,} characters, more than I read at once. I read its beginning and its end; all "
        f"of it is in `{long.path}`, where I can look things up."
    )


def sent_by(long: list[LongText], run: RunId) -> list[LongText]:
    """Texts that people said in `run`."""
    return [one for one in long if one.said and one.run == run]
