"""Answers to `/memory` and `/forget`: what is kept, why it was used, and what is gone. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from runtime.contract.memory.facts import Memory, Reader, ScopeKind, Trust
from runtime.domain.memory.summing_up import parts_of
from runtime.text.glyphs import clip, plainly
from runtime.text.words import count, marked, say, say_many

MEMORIES_LISTED: Final = 30
UNUSED_LISTED: Final = 10
LISTED_CHARS: Final = 200
"""Characters of a memory in a list."""
SUMMARY_MAX_CHARS: Final = 4_000
"""Characters of what a person writes about themselves."""

NOTHING_KEPT: Final = marked("I keep nothing for you here. Say `remember that …`, and I'll keep it.")
NOTHING_KEPT_IN_ROOM: Final = marked(
    "I keep nothing for this room. Say `remember for this room that …`, and I'll ask before I keep it."
)
IN_PRIVATE: Final = marked("What I keep for you alone I only show in our private chat.")
HOW_TO: Final = marked(
    "I understand `{mark}memory`, `{mark}memory why`, `{mark}memory accept ID`, "
    "`{mark}memory pin ID`, `{mark}memory unpin ID` and `{mark}memory summary`."
)
HOW_TO_FORGET: Final = marked(
    "Say what: `{mark}forget WORDS` removes what has all these words, `{mark}forget ID` one, "
    "and `{mark}forget all` everything that I keep for you alone."
)
ALL_FIRST: Final = marked(
    "I'd forget {count} that I keep for you alone, for good. If you're sure, say `{mark}forget all yes`."
)
FORGOTTEN_IN_PRIVATE: Final = marked("What I keep for you alone I only forget in our private chat. Ask me there.")
NOTHING_OWN: Final = marked("I keep nothing for you alone, so there's nothing to forget.")
NONE_FITS: Final = marked("Nothing that I keep here has all these words.")
NOT_USED: Final = marked("My last answer here was made with nothing that I keep.")
NO_ANSWER_YET: Final = marked("I haven't answered here yet.")
ELSEWHERE: Final = marked("{count} that I keep for you alone I use in our private chats only.")
SUMMARY_OFF: Final = marked(
    "Your summary is off. `{mark}memory summary on` turns it on: then I read it in all our "
    "private chats, and add to it at most once a day, from what I keep for you alone. "
    "`{mark}memory summary TEXT` sets it."
)
SUMMARY_EMPTY: Final = marked(
    "Your summary is on and empty. I add to it at most once a day, from what I keep for you "
    "alone. `{mark}memory summary TEXT` sets it."
)
SUMMARY_TURNED_OFF: Final = marked("Your summary is off, and its text is gone.")
SUMMARY_TURNED_ON: Final = marked(
    "Your summary is on. I read it in all our private chats, and add to it at most once a "
    "day, from what I keep for you alone. `{mark}memory summary TEXT` sets it."
)
SUMMARY_SET: Final = marked("Your summary is set. I read it in all our private chats, and keep your words as they are.")
SUMMARY_TOO_LONG: Final = marked("A summary has at most {number} characters.")
SUMMARY_IN_PRIVATE: Final = marked("Your summary is for our private chats. Ask me there.")

SCOPE_HEADS: Final = {
    ScopeKind.PERSON: marked("For you alone:"),
    ScopeKind.ROOM: marked("For this room:"),
    ScopeKind.AGENT: marked("Wherever I speak:"),
    ScopeKind.ALL: marked("For every agent, by operators:"),
}


def listed(found: Sequence[Memory], reader: Reader, mark: str) -> str:
    """Answer to `/memory`: what may be used here by whom it is for, then what waits for somebody to accept it."""
    is_private = reader.person is not None
    if not found:
        return say(NOTHING_KEPT) if is_private else f"{say(NOTHING_KEPT_IN_ROOM)} {say(IN_PRIVATE)}"
    said = [one for one in found if one.trust is Trust.SAID]
    waiting = [one for one in found if one.trust is not Trust.SAID]
    parts = [*_by_scope(said), *_waiting(waiting, mark)]
    if not is_private:
        parts.append(say(IN_PRIVATE))
    return "\n\n".join([*parts, say("`{mark}forget ID` removes one for good.", mark=mark)])


def _by_scope(said: Sequence[Memory]) -> Iterator[str]:
    for kind, head in SCOPE_HEADS.items():
        if own := [one for one in said if one.scope.kind is kind]:
            yield "\n".join([head, "", *_lines(own)])


def _waiting(waiting: Sequence[Memory], mark: str) -> Iterator[str]:
    if waiting:
        head = say("I noted these and don't use them unasked. `{mark}memory accept ID` makes one count:", mark=mark)
        yield "\n".join([head, "", *_lines(waiting)])


def _lines(found: Sequence[Memory]) -> Iterator[str]:
    for one in found[:MEMORIES_LISTED]:
        yield f"- {line_of(one)}"
    if len(found) > MEMORIES_LISTED:
        yield say("- and {found} more", found=count(len(found) - MEMORIES_LISTED))


def line_of(one: Memory) -> str:
    """`9G5FAV` Rex is my dog. (2026-03-01, pinned)"""
    return f"`{one.short_id}` {_text(one)} ({', '.join(_notes(one))})"


def _notes(one: Memory) -> Iterator[str]:
    yield f"{one.valid_from:%Y-%m-%d}"
    if one.by and one.scope.kind is not ScopeKind.PERSON:
        yield say("by {by}", by=plainly(one.by))
    if one.pinned:
        yield "pinned"
    if one.trust is Trust.LOW:
        yield say("from outside or another program")
    if one.origin:
        yield say("from {program}", program=plainly(one.origin))
    elif one.trust is Trust.STAGED:
        yield say("from a conversation")
    if one.expires_at is not None and one.trust is Trust.SAID:
        yield say("until {expires_at}", expires_at=f"{one.expires_at:%Y-%m-%d}")


def _text(one: Memory) -> str:
    return plainly(clip(one.text, LISTED_CHARS))


def why(used: Sequence[tuple[Memory, str]], unused: Sequence[tuple[Memory, str]], elsewhere: int) -> str:
    """Answer to `/memory why`: what the last answer here was made with and how it was found, and of the rest why not."""
    told = [f"- {line_of(one)}: {plainly(how)}" for one, how in used]
    parts = ["\n".join([say("My last answer here was made with:"), "", *told]) if told else say(NOT_USED)]
    if unused:
        others = [f"- {line_of(one)}: {reason}" for one, reason in unused[:UNUSED_LISTED]]
        if len(unused) > UNUSED_LISTED:
            others.append(say("- and {unused} more", unused=count(len(unused) - UNUSED_LISTED)))
        parts.append("\n".join([say("And without:"), "", *others]))
    if elsewhere:
        parts.append(say(ELSEWHERE, count=counted(elsewhere)))
    return "\n\n".join(parts)


def accepted(one: Memory) -> str:
    return say("I count on it from now on: {one}", one=line_of(one))


def pinned(one: Memory) -> str:
    words = say("Pinned: I'm reminded of it first") if one.pinned else say("No longer pinned")
    return f"{words}: {line_of(one)}"


def forgotten(gone: Sequence[Memory]) -> str:
    """Answer to `/forget WORDS`: by their ids, since the words would stay in the conversation."""
    if not gone:
        return say(NONE_FITS)
    return say("Forgotten for good: {ids}.", ids=", ".join(f"`{one.short_id}`" for one in gone))


def all_forgotten(gone: int) -> str:
    return say("Forgotten for good: {gone}.", gone=counted(gone)) if gone else say(NOTHING_OWN)


def counted(number: int) -> str:
    return say_many("{number} memory", "{number} memories", number)


def summary(text: str, *, is_on: bool, mark: str) -> str:
    """Answer to `/memory summary`."""
    if not is_on:
        return say(SUMMARY_OFF, mark=mark)
    if not text:
        return say(SUMMARY_EMPTY, mark=mark)
    own, added = parts_of(text)
    parts = [say("Your summary, as I read it in our private chats:\n\n{own}", own=own)] if own else []
    if added:
        head = (
            say("I added from what I keep for you:")
            if own
            else say("Your summary, as I wrote it from what I keep for you:")
        )
        parts.append("\n".join([head, "", *(f"- {line}" for line in added)]))
    changes = say(
        "`{mark}memory summary TEXT` replaces all of it, and `{mark}memory summary off` removes it.", mark=mark
    )
    return "\n\n".join([*parts, changes])
