"""Ratings on the page: what a person thought of the agent's messages in a room of theirs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aiohttp import web

from adapters.web.rooms import Rooms
from runtime.contract import OwnMarks, Rated, Reaction
from runtime.http import bodies
from runtime.http.errors import Refusal
from runtime.text.words import count, marked, say

GOOD: Final = "👍"
BAD: Final = "👎"
RATING_MARKS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "up": ((GOOD,), (BAD,)),
    "down": ((BAD,), (GOOD,)),
    "none": ((), (GOOD, BAD)),
}
"""What each answer of the page puts onto a message, and what it takes away."""
RATING_WORDS_MAX_CHARS: Final = 1_000
NOT_RATED: Final = marked(
    "This message can't be rated: only the agent's answers and reports can, as long as they're kept."
)


class RatingsApi:
    """Reads and takes the ratings of whoever asks."""

    def __init__(self, *, rooms: Rooms, rated: Rated, own: OwnMarks) -> None:
        self._rooms = rooms
        self._rated = rated
        self._marks_of = own

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/rooms/{room}/feedback", self.told),
            web.post("/api/rooms/{room}/feedback", self.rate),
        ]

    async def told(self, request: web.Request) -> web.Response:
        """The visitor's own ratings in a room, by delivery."""
        visitor, address = await self._rooms.open(request)
        marks = await self._marks_of(visitor.identity, address)
        return web.json_response({"ratings": {one: "up" if value > 0 else "down" for one, value in marks.items()}})

    async def rate(self, request: web.Request) -> web.Response:
        """Take a rating of an entry; the same once more changes its words alone."""
        visitor, address = await self._rooms.open_to_change(request)
        body = await bodies.read_object(request)
        entry, value, words = (body.get(name, "") for name in ("entry", "value", "words"))
        if not (
            isinstance(entry, str)
            and entry
            and isinstance(words, str)
            and isinstance(value, str)
            and value in RATING_MARKS
        ):
            raise Refusal(400, say("A rating has an `entry`, a `value` (up, down or none), and perhaps `words`."))
        if len(words) > RATING_WORDS_MAX_CHARS:
            raise Refusal(
                400,
                say(
                    "That's too long: at most {number} characters.",
                    number=count(RATING_WORDS_MAX_CHARS),
                ),
            )
        added, removed = RATING_MARKS[value]
        delivery = entry.partition(".")[0]
        reaction = Reaction(
            address, visitor.identity, added=added, removed=removed, delivery=delivery, words=words.strip()
        )
        if not await self._rated(reaction) and added and not await self._has(reaction, value):
            raise Refusal(404, NOT_RATED)
        return web.json_response({"value": value})

    async def _has(self, reaction: Reaction, value: str) -> bool:
        """True for a rating that was given before just so."""
        mark = (await self._marks_of(reaction.actor, reaction.room)).get(reaction.delivery, 0)
        return (mark > 0) if value == "up" else (mark < 0)
