"""Words of memories for models: each with its short id, date and source; outside text between its marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from runtime.contract.memory.facts import FoundMessage, Kept, Memory, MemoryKind, ScopeKind, Trust
from runtime.text.glyphs import clip, visible
from runtime.text.outside import material
from tools.kit.parameters import moment_in

TEXT_SHOWN_CHARS: Final = 600
"""Characters of a memory, or of a message, in a list."""
NOTHING_FOUND: Final = "Nothing is kept about that here."
READ_BY: Final = {
    ScopeKind.PERSON: "for {by} alone",
    ScopeKind.ROOM: "for this room",
    ScopeKind.AGENT: "for every room where I speak",
    ScopeKind.ALL: "for every agent",
}
ELSEWHERE: Final = " It's used in private chats with {by} only, not in this room."
UNTRUSTED: Final = (
    " Outside text or another program led to it, so I don't use it unless a person accepts it: `/memory accept {id}`."
)


def kept(made: Kept) -> str:
    """Answer to the call that keeps one. Where it isn't read, nothing is told of what was there before either."""
    one, by = made.memory, visible(made.memory.by, one_line=True) or "them"
    if made.was_known and made.read_here:
        return f"I have that already ({one.short_id})."
    ended = f" It replaces: {_text(made.ended)}" if made.ended and made.read_here else ""
    where = "" if made.read_here else ELSEWHERE.format(by=by)
    if one.trust is Trust.LOW:
        return f"Kept as {one.short_id}.{UNTRUSTED.format(id=one.short_id)}{where}{ended}"
    return f"Kept {READ_BY[one.scope.kind].format(by=by)} as {one.short_id}.{where}{ended}"


def forgotten(found: Sequence[Memory]) -> str:
    """Answer to the call that removes some: by their ids, since the words would stay in the conversation."""
    if not found:
        return "Nothing that I may remove here has all these words."
    return f"Forgotten for good: {', '.join(one.short_id for one in found)}."


def listed(found: Iterable[Memory]) -> str:
    """A list for the model: what people said as it is, and what comes from outside between marks."""
    return "\n".join(map(shown, found)) or NOTHING_FOUND


def shown(one: Memory) -> str:
    if one.trust is not Trust.LOW:
        return f"- {line_of(one)}"
    return material(line_of(one), f"a memory that nobody has accepted ({one.short_id})")


def line_of(one: Memory) -> str:
    """`ab12cd · 2026-03-01, said by Ada · Rex is Ada's dog.`"""
    return f"{one.short_id} · {', '.join(_source(one))} · {_text(one)}"


def _text(one: Memory) -> str:
    return clip(visible(" ".join(one.text.split()), one_line=True), TEXT_SHOWN_CHARS)


def _source(one: Memory) -> Iterator[str]:
    yield f"{one.valid_from:%Y-%m-%d}"
    if one.origin and not one.by:
        yield f"taken over from {one.origin}{'' if one.trust is Trust.SAID else ', confirmed by nobody'}"
    elif one.trust is Trust.STAGED:
        yield "noted from a conversation, confirmed by nobody"
    elif one.trust is Trust.LOW:
        yield "from outside or another program"
    elif one.by:
        yield f"said by {visible(one.by, one_line=True)}"
    if one.kind is MemoryKind.RELATION:
        yield "a relation"
    if one.valid_to is not None:
        yield f"until {one.valid_to:%Y-%m-%d}"


def messages(found: Iterable[FoundMessage]) -> str:
    return "\n".join(map(_message, found)) or "No message that I may read here fits."


def _message(one: FoundMessage) -> str:
    """One that holds a text from outside keeps the marks around that."""
    author = visible(one.author, one_line=True) or "somebody"
    return f"- {one.at:%Y-%m-%d %H:%M} UTC, {author}: {clip(one.text.strip(), TEXT_SHOWN_CHARS)}"


def moment_of(text: str) -> datetime | None:
    """The day or time that is written so; without a zone it is in UTC. Errors: ToolRetry for anything else."""
    return moment_in(text, "a day", "2026-12-01")
