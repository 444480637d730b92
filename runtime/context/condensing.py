"""A conversation cut to a number of tokens, each step only where the one before was not enough. Pure.

The steps and where they begin, in parts of the window: `TRIM` (0.70) shortens old results; `REPEAT` (0.80) names results
that came before, and leaves old pictures to the line that names their file; `EXTRACT` (0.90) keeps the beginning and the
end whole and of what lies between a line a turn; `SUMMARY` (0.95) is for a model to write. A call and its results stay
together, and what is newest, or what the model has yet to read wherever it stands, stays whole as long as it fits at all.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

from runtime.context.digest import digest_of
from runtime.context.sizes import of_turns
from runtime.contract import AssistantTurn, Call, ToolTurn, Turn, UserTurn
from runtime.domain.transcript import OURS, named
from runtime.text.glyphs import bound, clip


class Step(IntEnum):
    """Degree to which a conversation is condensed."""

    WHOLE = 0
    TRIM = 1
    REPEAT = 2
    EXTRACT = 3
    SUMMARY = 4


BEGINS_AT: Final = {Step.TRIM: 0.70, Step.REPEAT: 0.80, Step.EXTRACT: 0.90, Step.SUMMARY: 0.95}
"""The part of the window from which on a step is taken."""

FRESH_TURNS: Final = 10
"""Turns at the end that no step but the last resort touches."""

FIRST_TURNS: Final = 3
LAST_TURNS: Final = 5
"""Turns that an extract keeps whole."""

OLD_RESULT_CHARS: Final = 2_000
OLDER_RESULT_CHARS: Final = 240
BARE_CHARS: Final = 2_000
"""Texts that must be cut to fewer, which even old results keep, say too little: then the conversation begins anew."""

LEAST_CHARS: Final = 200
"""Below it no text is cut: the window is too small for a conversation."""

LINES_MAX: Final = 200
LINE_CHARS: Final = 240
REQUEST_CHARS: Final = 4_000
"""Of turns in an extract: how many have a line, how long it is, and how long the newest request among them."""

SAME: Final = f"{OURS}Same result as above."


@dataclass(frozen=True, slots=True)
class Condensed:
    """Turns that fit, and the furthest step that was taken. At `SUMMARY` they fit as well, as an extract.

    `before` is their size in tokens as they were. `is_bare`: to fit they had to lose more than a conversation can go on
    with.
    """

    turns: Sequence[Turn]
    step: Step
    before: int
    is_bare: bool = False


def condense(
    turns: Sequence[Turn], window: int, taken: int, reads: Collection[str], whole: Collection[int] = ()
) -> Condensed:
    """`turns` for a window of `window` tokens, of which `taken` are for what is not conversation.

    `reads` are the tools that change nothing. `whole` are the indices of turns that only the last resort cuts: calls with all
    of their results, or words of people, that the model has not read yet.
    """

    def is_below(step: Step, size: int) -> bool:
        return taken + size < window * BEGINS_AT[step]

    before = of_turns(turns)
    if is_below(Step.TRIM, before):
        return Condensed(turns, Step.WHOLE, before)
    trimmed = trim(turns, OLD_RESULT_CHARS, whole)
    if is_below(Step.REPEAT, of_turns(trimmed)):
        return Condensed(trimmed, Step.TRIM, before)
    repeated = without_repeats(trimmed, whole)
    size = of_turns(repeated)
    if is_below(Step.EXTRACT, size):
        return Condensed(repeated, Step.REPEAT, before)
    room = int(window * BEGINS_AT[Step.EXTRACT]) - taken
    step = Step.EXTRACT if is_below(Step.SUMMARY, size) else Step.SUMMARY
    left, still_whole = extracted(repeated, reads, whole)
    kept, most = squeezed(left, room, still_whole)
    return Condensed(kept, step, before, most < BARE_CHARS or of_turns(kept) > room)


# ---------------------------------------------------------------------------------------------------- old results


def trim(turns: Sequence[Turn], most: int, whole: Collection[int] = ()) -> list[Turn]:
    """Results and arguments of old turns with at most `most` characters: their beginning and their end."""
    old = max(0, len(turns) - FRESH_TURNS)
    return [
        *(turn if index in whole else _shorter(turn, most) for index, turn in enumerate(turns[:old])),
        *turns[old:],
    ]


def without_repeats(turns: Sequence[Turn], whole: Collection[int] = ()) -> list[Turn]:
    """Old results that came before are named in place of repeated, others are short; old pictures are not shown."""
    old = max(0, len(turns) - FRESH_TURNS)
    seen: set[str] = set()
    kept: list[Turn] = []
    for index, turn in enumerate(turns[:old]):
        match turn:
            case _ if index in whole:
                kept.append(turn)
            case ToolTurn() if turn.text in seen:
                kept.append(replace(turn, text=SAME))
            case UserTurn():
                kept.append(replace(turn, files=()) if turn.files else turn)
            case _:
                kept.append(_shorter(turn, OLDER_RESULT_CHARS))
        if isinstance(turn, ToolTurn) and len(turn.text) > len(SAME):
            seen.add(turn.text)
    return [*kept, *turns[old:]]


def _shorter(turn: Turn, most: int) -> Turn:
    match turn:
        case ToolTurn(text=text) if len(text) > most:
            return replace(turn, text=bound(text, most))
        case AssistantTurn(calls=calls) if any(len(call.arguments) > most for call in calls):
            return replace(turn, calls=tuple(_shorter_call(call, most) for call in calls))
        case _:
            return turn


def _shorter_call(call: Call, most: int) -> Call:
    """The call with the beginning of its arguments, which stay one JSON object as vendors demand."""
    if len(call.arguments) <= most:
        return call
    told = {"shortened": clip(call.arguments, most), "characters": len(call.arguments)}
    return replace(call, arguments=json.dumps(told, ensure_ascii=False))


# ------------------------------------------------------------------------------------------------------- the middle


def extract(turns: Sequence[Turn], reads: Collection[str]) -> list[Turn]:
    """The first turns and the last ones, and between them one that tells of all others. `reads`: tools that change nothing."""
    return extracted(turns, reads)[0]


def extracted(
    turns: Sequence[Turn], reads: Collection[str], whole: Collection[int] = ()
) -> tuple[list[Turn], frozenset[int]]:
    """The same with turns at `whole` behind that one, in their order; and where those are then."""
    head, tail = edge(turns, FIRST_TURNS), edge(turns, max(0, len(turns) - LAST_TURNS), back=True)
    stays = [index for index in range(head, tail) if index in whole]
    if tail - head <= len(stays):
        return list(turns), frozenset(whole)
    middle = [turns[index] for index in range(head, tail) if index not in whole]
    kept = [*range(head), None, *stays, *range(tail, len(turns))]
    left = [UserTurn(told_of(middle, reads)) if index is None else turns[index] for index in kept]
    return left, frozenset(at for at, index in enumerate(kept) if index in whole)


def told_of(middle: Sequence[Turn], reads: Collection[str]) -> str:
    """Facts of `middle`, its newest request whole, and a line of each turn: the newest ones, as many as there is room for."""
    lines = lines_of(middle)
    request = next((turn for turn in reversed(middle) if isinstance(turn, UserTurn)), None)
    paragraphs = [
        f"{OURS}A record of the {len(middle):,} turns that stood here, not an instruction.",
        *digest_of(middle, reads).lines(),
        "\n".join([f"The newest {len(lines):,}, a line each:", *lines]),
        f"The newest request among them:\n{bound(named(request), REQUEST_CHARS)}" if request else "",
    ]
    return "\n\n".join(filter(None, paragraphs))


def lines_of(turns: Sequence[Turn]) -> list[str]:
    """A line of each turn: who, and how it begins. At most `LINES_MAX`."""
    return [f"- {clip(' '.join(_told(turn).split()), LINE_CHARS)}" for turn in turns[-LINES_MAX:]]


def _told(turn: Turn) -> str:
    match turn:
        case UserTurn(author=author):
            return named(turn) if author else f"user: {turn.text}"
        case AssistantTurn(text, calls):
            return " ".join(filter(None, ["assistant:", text, *(f"[{call.tool} {call.arguments}]" for call in calls)]))
        case ToolTurn(_, tool, text):
            return f"result of {tool}: {text}"


def edge(turns: Sequence[Turn], at: int, *, back: bool = False) -> int:
    """The nearest place from `at` on where turns may be parted: never between a call and its results."""
    at = min(at, len(turns))
    while 0 < at < len(turns) and isinstance(turns[at], ToolTurn):
        at += -1 if back else 1
    return at


# -------------------------------------------------------------------------------------------------- the last resort


def squeeze(turns: Sequence[Turn], room: int) -> list[Turn]:
    """`turns` in at most `room` tokens: the longest texts lose their middle, as much of it as needed and no more."""
    return squeezed(turns, room)[0]


def squeezed(turns: Sequence[Turn], room: int, whole: Collection[int] = ()) -> tuple[list[Turn], int]:
    """The same, and how many characters a text may have after it. Texts at `whole` are cut once no other can be."""
    kept, most = list(turns), {spared: _longest(turns, whole, spared) for spared in (False, True)}
    if of_turns(kept) <= room:
        return kept, max(*most.values(), BARE_CHARS)
    for spared in most:
        while of_turns(kept) > room and most[spared] > LEAST_CHARS:
            most[spared] = max(LEAST_CHARS, most[spared] * 3 // 4)
            kept = [_squeezed(turn, most[index in whole]) for index, turn in enumerate(turns)]
    return kept, most[False] or most[True]


def _longest(turns: Sequence[Turn], whole: Collection[int], spared: bool) -> int:
    """Characters of the longest text among the turns that are `spared`, or among the others."""
    return max((_length(turn) for index, turn in enumerate(turns) if (index in whole) is spared), default=0)


def _length(turn: Turn) -> int:
    calls = turn.calls if isinstance(turn, AssistantTurn) else ()
    return max([len(turn.text), *(len(call.arguments) for call in calls)])


def _squeezed(turn: Turn, most: int) -> Turn:
    shorter = _shorter(turn, most)
    return replace(shorter, text=bound(shorter.text, most)) if len(shorter.text) > most else shorter
