"""Answers to `/context` and `/compact`: how full a model's window is, and what a summary made of it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from runtime.chat.window_shares import beyond
from runtime.text.words import ago, count, decimal, marked, say, several

SOURCES: Final[Mapping[str, str]] = {
    "set": marked("set in the settings"),
    "listed": marked("from the list of known models"),
    "assumed": marked("assumed: this model isn't in the list"),
    "refused": marked("lowered: its vendor refused a larger request"),
}
"""Where a window's size comes from, by the word of `context.window.Source`."""

STEPS: Final[Mapping[str, str]] = {
    "trim": marked("old results are cut"),
    "repeat": marked("old results are cut, repeated ones named"),
    "extract": marked("the middle is sent with one line per turn"),
    "summary": marked("the middle is sent with one line per turn, and a summary is due"),
}
"""How the conversation is condensed as it is sent, by the word of `context.condensing.Step`; whole where not here."""

KINDS: Final[Mapping[str, str]] = {
    "model": marked("in a summary by the model"),
    "extract": marked("in an extract with one line per turn"),
    "handoff": marked("in a handoff that it restarted from"),
}
"""How turns were condensed, by the word of a summary's kind."""

PARTITIONS: Final = (
    marked("system"),
    marked("skills"),
    marked("memory"),
    marked("history"),
    marked("working"),
    marked("tools"),
)
"""Parts of a request, by the words of `context.builder`."""

LESS: Final[Mapping[str, str]] = {
    "system": marked("a shorter prompt leaves more room for the conversation"),
    "skills": marked("fewer skills leave more room for the conversation"),
    "memory": marked("less memory leaves more room for the conversation"),
    "working": marked("fewer open questions leave more room for the conversation"),
    "tools": marked("a tool that a rule denies here takes no room"),
}
"""Advice on a partition that takes more than its share, by its name in `window_shares`."""

UNKNOWN: Final = marked("I can't tell how full the window is right now. Please ask again in a moment.")
NOTHING: Final = marked(
    "There's nothing to condense here yet: the newest turns stay as they are, and there's little before them."
)
AT_IT: Final = marked("I'm condensing this conversation already. I'll say so here when it's done.")
BEGUN: Final = marked("I'm condensing this conversation. I'll say so here when it's done.")
AFTERWARDS: Final = marked("I'll condense this conversation as soon as my work here is done.")
FAILED: Final = marked("I couldn't condense this conversation: it changed meanwhile. Please ask again.")


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
        return say(UNKNOWN)
    return "\n".join(_filled(measured, kept, now, mark))


def _filled(measured: Measured, kept: Remembered, now: datetime, mark: str) -> Iterator[str]:
    source = say(SOURCES.get(measured.source, measured.source))
    yield (
        say(
            "Your next message goes to `{model}` with about {tokens} tokens, {part} of its window "
            "of {window} ({source}):",
            model=measured.model,
            tokens=count(measured.tokens),
            part=part(measured.tokens, measured.window),
            window=count(measured.window),
            source=source,
        )
    )
    yield ""
    over = beyond(measured.sizes, measured.window)
    for name, tokens in measured.sizes.items():
        size = (
            say("{tokens} tokens, {part}", tokens=count(tokens), part=part(tokens, measured.window))
            if tokens
            else say("nothing")
        )
        share = (
            say(
                " (its share is {over}: {less})",
                over=say("{number}%", number=f"{100 * over[name]:.0f}"),
                less=say(LESS[name]),
            )
            if name in over
            else ""
        )
        yield f"- {say(name)}: {size}{_of_history(measured, kept) if name == 'history' else share}"
    yield ""
    yield condensed_last(kept, now)
    if measured.spare:
        yield say("`{mark}compact` condenses {spare} now.", mark=mark, spare=several(measured.spare, "older turn"))


def _of_history(measured: Measured, kept: Remembered) -> str:
    how = STEPS.get(measured.step)
    return f" ({several(kept.turns, 'turn')}{f'; {say(how)}' if how else ''})"


def condensed_last(kept: Remembered, now: datetime) -> str:
    """Words for the last time that a conversation was condensed, and how often it was."""
    if not kept.summaries:
        return say("There's no summary here yet.")
    newest, number = kept.summaries[0], len(kept.summaries)
    so_often = (
        say("The only summary here.")
        if number == 1
        else say("It is the newest of {count} summaries here.", count=count(number))
    )
    return say(
        "Last condensed {ago}, {kind}: {turns}, {sizes}. {so_often}",
        ago=ago(now - newest.at),
        kind=say(KINDS.get(newest.kind, newest.kind)),
        turns=several(newest.turns, "turn"),
        sizes=became(newest.tokens_before, newest.tokens_after),
        so_often=so_often,
    )


def condensed(turns: int, kind: str, before: int, after: int) -> str:
    """Answer to `/compact` once it is done."""
    how = "" if kind == "model" else say(" The model's summary wasn't usable, so each turn became one line.")
    return say(
        "Condensed: {turns}, {sizes}.{how} The newest turns stay as they are, and everything stays here to read.",
        turns=several(turns, "turn"),
        sizes=became(before, after),
        how=how,
    )


def became(before: int, after: int) -> str:
    return say("about {before} tokens before and {after} after", before=count(before), after=count(after))


def part(tokens: int, window: int) -> str:
    """A part of the window in per cent.

    >>> part(500, 1_000), part(4, 1_000), part(1, 10_000)
    ('50%', '0.4%', '0.01%')
    """
    share = 100 * tokens / max(window, 1)
    return say("{number}%", number=decimal(f"{share:.2g}" if tokens * 10 < window else f"{share:.0f}"))
