"""Answers to `/context` and `/compact`: how full a model's window is, and what a summary made of it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from runtime.chat.window_shares import beyond
from runtime.markup.moments import ago, several

SOURCES: Final[Mapping[str, str]] = {
    "set": "set in the settings",
    "listed": "from the list of known models",
    "assumed": "assumed: this model isn't in the list",
    "refused": "lowered: its vendor refused a larger request",
}
"""Where a window's size comes from, by the word of `context.window.Source`."""

STEPS: Final[Mapping[str, str]] = {
    "trim": "old results are cut",
    "repeat": "old results are cut, repeated ones named",
    "extract": "the middle is sent with one line per turn",
    "summary": "the middle is sent with one line per turn, and a summary is due",
}
"""How the conversation is condensed as it is sent, by the word of `context.condensing.Step`; whole where not here."""

KINDS: Final[Mapping[str, str]] = {
    "model": "in a summary by the model",
    "extract": "in an extract with one line per turn",
    "handoff": "in a handoff that it restarted from",
}
"""How turns were condensed, by the word of a summary's kind."""

LESS: Final[Mapping[str, str]] = {
    "system": "a shorter prompt leaves more room for the conversation",
    "skills": "fewer skills leave more room for the conversation",
    "memory": "less memory leaves more room for the conversation",
    "working": "fewer open questions leave more room for the conversation",
    "tools": "a tool that a rule denies here takes no room",
}
"""Advice on a partition that takes more than its share, by its name in `window_shares`."""

UNKNOWN: Final = "I can't tell how full the window is right now. Please ask again in a moment."
NOTHING: Final = (
    "There's nothing to condense here yet: the newest turns stay as they are, and there's little before them."
)
AT_IT: Final = "I'm condensing this conversation already. I'll say so here when it's done."
BEGUN: Final = "I'm condensing this conversation. I'll say so here when it's done."
AFTERWARDS: Final = "I'll condense this conversation as soon as my work here is done."
FAILED: Final = "I couldn't condense this conversation: it changed meanwhile. Please ask again."


@dataclass(frozen=True, slots=True)
class Measured:
    """Sizes of the next request, in tokens, by partition. `source` and `step` are words of the tables above.

    `spare` is how many turns a summary could take the place of now.
    """

    model: str
    window: int
    source: str
    sizes: Mapping[str, int]
    step: str = ""
    spare: int = 0

    @property
    def tokens(self) -> int:
        return sum(self.sizes.values())


@dataclass(frozen=True, slots=True)
class Kept:
    """A summary as people are told of it: of how many turns, from when to when, and how large they were before and after."""

    upto: int
    kind: str
    text: str
    model: str
    turns: int
    since: datetime
    until: datetime
    at: datetime
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True)
class Remembered:
    """The summaries of a conversation, newest first, and how many turns it has beside them."""

    turns: int = 0
    summaries: Sequence[Kept] = ()


NOTHING_REMEMBERED: Final = Remembered()


def filled(measured: Measured | None, kept: Remembered, now: datetime, mark: str = "/") -> str:
    """Answer to `/context`."""
    if measured is None:
        return UNKNOWN
    return "\n".join(_filled(measured, kept, now, mark))


def _filled(measured: Measured, kept: Remembered, now: datetime, mark: str) -> Iterator[str]:
    source = SOURCES.get(measured.source, measured.source)
    yield (
        f"Your next message goes to `{measured.model}` with about {measured.tokens:,} tokens, "
        f"{part(measured.tokens, measured.window)} of its window of {measured.window:,} ({source}):"
    )
    yield ""
    over = beyond(measured.sizes, measured.window)
    for name, tokens in measured.sizes.items():
        size = f"{tokens:,} tokens, {part(tokens, measured.window)}" if tokens else "nothing"
        share = f" (its share is {over[name]:.0%}: {LESS[name]})" if name in over else ""
        yield f"- {name}: {size}{_of_history(measured, kept) if name == 'history' else share}"
    yield ""
    yield condensed_last(kept, now)
    if measured.spare:
        yield f"`{mark}compact` condenses {several(measured.spare, 'older turn')} now."


def _of_history(measured: Measured, kept: Remembered) -> str:
    how = STEPS.get(measured.step)
    return f" ({several(kept.turns, 'turn')}{f'; {how}' if how else ''})"


def condensed_last(kept: Remembered, now: datetime) -> str:
    """Words for the last time that a conversation was condensed, and how often it was."""
    if not kept.summaries:
        return "There's no summary here yet."
    newest, count = kept.summaries[0], len(kept.summaries)
    so_often = "The only summary here." if count == 1 else f"It is the newest of {count:,} summaries here."
    return (
        f"Last condensed {ago(now - newest.at)}, {KINDS.get(newest.kind, newest.kind)}: "
        f"{several(newest.turns, 'turn')}, {became(newest.tokens_before, newest.tokens_after)}. {so_often}"
    )


def condensed(turns: int, kind: str, before: int, after: int) -> str:
    """Answer to `/compact` once it is done."""
    how = "" if kind == "model" else " The model's summary wasn't usable, so each turn became one line."
    return (
        f"Condensed: {several(turns, 'turn')}, {became(before, after)}.{how} "
        "The newest turns stay as they are, and everything stays here to read."
    )


def became(before: int, after: int) -> str:
    return f"about {before:,} tokens before and {after:,} after"


def part(tokens: int, window: int) -> str:
    """A part of the window in per cent.

    >>> part(500, 1_000), part(4, 1_000), part(1, 10_000)
    ('50%', '0.4%', '0.01%')
    """
    return f"{100 * tokens / max(window, 1):.2g}%" if tokens * 10 < window else f"{100 * tokens / max(window, 1):.0f}%"
