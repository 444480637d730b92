"""Traces of messages for operators: the names they may use, and the story."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from bot.operator.context import OperatorContext
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View
from runtime.http.errors import Refusal
from runtime.text.glyphs import clip
from runtime.text.words import marked
from runtime.timeline import Event, Story, told
from runtime.timeline.trail import Candidate, Thing

SHORTENED: Final = 80
"""Characters of a message in a list."""


async def trace(context: OperatorContext, words: str) -> View:
    """The one story that `words` mean; else the `matches` to choose from. Errors: Refusal 404 tells what may be given."""
    found = await context.finder.found(words, *Thing)
    if len(found) > 1:
        return {"trace": None, "matches": [candidate(one, context) for one in found]}
    return {"trace": await _story(context, found[0].id), "matches": []}


async def traceable(context: OperatorContext, room: str, limit: int) -> list[View]:
    """The newest messages, in all rooms or in one."""
    address = await context.finder.room(room) if room else None
    return [candidate(one, context) for one in await context.store.traces.recent(address, limit=limit)]


async def _story(context: OperatorContext, about: str) -> View:
    trail = await context.store.traces.trail(about)
    if trail is None:
        raise Refusal(404, marked("The records of {about} are no longer kept.").format(about=about))
    return story(told(trail, context.mask), context)


def candidate(one: Candidate, context: OperatorContext) -> View:
    text = " ".join(context.mask(one.text).split())
    return {
        "id": one.id,
        "kind": one.thing,
        "at": _at(one.at),
        "who": one.who,
        "room": context.called(one.address),
        "address": context.named(one.address),
        "state": one.state,
        "text": clip(text, SHORTENED),
    }


def story(one: Story, context: OperatorContext) -> View:
    """`seconds` is the whole time from the first event to the answer; `after` counts from the first event too."""
    whole = one.answered_at - one.began_at if one.answered_at else None
    return {
        "about": one.about,
        "run": one.run,
        "room": context.called(one.room),
        "address": context.named(one.room),
        "who": one.who,
        "text": one.text,
        "began_at": _at(one.began_at),
        "answered_at": _at(one.answered_at) if one.answered_at else None,
        "seconds": whole.total_seconds() if whole else None,
        "now": one.now,
        "over": one.over,
        "events": [event(each, one.began_at) for each in one.events],
    }


def event(one: Event, began_at: datetime) -> View:
    return {
        "at": _at(one.at),
        "after": (one.at - began_at).total_seconds(),
        "what": one.what,
        "words": one.words,
        "subject": one.subject,
        "node": one.node or None,
    }


def _at(at: datetime) -> str:
    return at.isoformat(timespec="microseconds")


@by_role
class TracesApi(PartialApi):
    """Traces of messages."""

    async def trace(self, message: str) -> View:
        """Trace of a message, or what may be meant."""
        await self._context.refresh()
        found = await trace(self._context, message)
        if found["trace"]:
            return {**found, "trace": await self._one_entitled(found["trace"])}
        return {**found, "matches": await self._entitled(found["matches"])}

    async def traceable(self, room: str = "", limit: int = 100) -> list[View]:
        """The newest messages."""
        await self._context.refresh()
        return await self._entitled(await traceable(self._context, room, limit))
