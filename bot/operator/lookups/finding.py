"""Finds what operators name: by its id, its first characters, or a room by its name or address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from adapters.web.adapter import CHANNEL
from bot.accounts.naming import Named, accounts_of, calling, of_page
from runtime.chat.cards.card_facts import labels_of
from runtime.contract import Address, ApprovalKind, Choice
from runtime.domain.approvals import Approval, ApprovalState
from runtime.http.errors import Refusal
from runtime.intake.room_names import RoomNames
from runtime.markup.moments import in_words
from runtime.store.store import Store
from runtime.text.glyphs import clip, visible
from runtime.text.naming import folded, meant
from runtime.text.words import marked
from runtime.timeline.trail import Candidate, Thing

MANY: Final = 10
"""Matches of one search."""
NOT_FOUND: Final = marked(
    'Nothing here matches "{words}". Give the id of a message, run, approval or delivery, or '
    "at least its first four characters, or the id that the page gave a message. Logs name "
    "it as `trace`."
)
NO_ANSWER: Final = marked("This question takes {answers}.")
NO_SUCH: Final = marked("There is no {kind} {words}. Give its id, or at least its first four characters.")
SHORTENED: Final = 40
"""Characters of a text by which one of several is told from the others."""
WORD_OF_THING: Final = {Thing.SIGNAL: "message"}


def answer(question: Approval, words: object) -> str:
    """The choice that `words` mean: by its own word, or by what its button says. Errors: Refusal lists those there are.

    A call takes words that stand on no button, and refuses them itself; so does a question that is settled.
    """
    labels, text = labels_of(question), words if isinstance(words, str) else ""
    said = [choice for choice, label in labels.items() if folded(label) == folded(text)]
    if said:
        return said[0]
    is_told = question.kind is ApprovalKind.CALL or question.state is not ApprovalState.PENDING
    if text in labels or (is_told and text in list(Choice)):
        return text
    listed = ", ".join(f"{choice} ({visible(label, one_line=True)})" for choice, label in labels.items())
    raise Refusal(400, NO_ANSWER.format(answers=listed))


@dataclass(frozen=True, slots=True)
class Finder:
    """`named` writes an address as settings do, `called` as people do."""

    store: Store
    rooms: RoomNames | None
    named: Named
    called: Named
    web_account: str

    async def found(self, words: str, *things: Thing) -> list[Candidate]:
        """Candidates among `things` that `words` may mean. Errors: Refusal 404 tells what may be given."""
        words = words.strip()
        found = await self.store.traces.find(_bare(words), things=things, limit=MANY)
        if not found:
            raise Refusal(404, await self._nothing(words, things))
        return found

    async def one(self, words: str, thing: Thing, *, state: str = "") -> str:
        """The id of the one `thing` that `words` mean; of several those in `state` alone, where there are such.

        Errors: Refusal 409 lists those to choose from.
        """
        every = await self.found(words, thing)
        found = [one for one in every if one.state == state] or every
        if len(found) > 1:
            several = "; ".join(f"{one.id} ({self._told(one)})" for one in found)
            raise Refusal(
                409, marked("Several begin with {words}: {several}.").format(words=repr(words.strip()), several=several)
            )
        return found[0].id

    async def room(self, words: str) -> Address:
        """The room, or the thread, that `words` mean: by address, or by name. Errors: Refusal."""
        words = words.strip()
        if (written := await self._written(words)) is not None:
            return written
        known = await self._known_rooms()
        found = _going_by(words, known, calling(self.named, known.__getitem__))  # as lists write it: with its account
        titles = {} if found else await self.store.traces.conversations(CHANNEL, self.web_account)
        found = found or _going_by(words, titles, lambda room: of_page(titles[room]))
        if len(found) == 1:
            return found[0]
        if found:
            several = "; ".join(f"{self.named(room)} ({known.get(room) or titles[room]})" for room in found[:MANY])
            raise Refusal(
                409,
                marked("Several rooms are called {words}: {several}. Name one by its address.").format(
                    words=repr(words), several=several
                ),
            )
        some = ", ".join(sorted(set(known.values()))[:MANY])
        known_here = f" Known: {some}." if some else ""
        raise Refusal(
            404,
            marked("No room is called {words}: give its name, or write channel:account/room.{known_here}").format(
                words=repr(words), known_here=known_here
            ),
        )

    async def addresses(self, to: object) -> object:
        """Rooms as settings write them, where some are given by name: a list, or a text with commas between them."""
        if isinstance(to, str):
            to = [one for piece in to.split(",") for one in (piece.split() if ":" in piece else [piece.strip()]) if one]
        if not (isinstance(to, list) and all(isinstance(one, str) for one in to)):
            return to  # refused where it is read
        return [one if ":" in one or "/" in one else self.named(await self.room(one)) for one in to]

    async def _written(self, words: str) -> Address | None:
        """An address as settings or as rows write it, its room by id or by name; None for what is no address."""
        try:
            given = Address.parse(words)
        except ValueError:
            return None
        here = await self._under_its_identity(given)
        known = await self._known_rooms()
        nearby = [room for room in known if (room.channel, room.account) == (here.channel, here.account)]
        found = meant(here.room, nearby, ids=lambda room: room.room, names=lambda room: [known[room]])
        return replace(here, room=found[0].room) if len(found) == 1 else here

    async def _under_its_identity(self, given: Address) -> Address:
        found = accounts_of(await self.store.cluster.named_accounts()).called(given.channel, given.account)
        return replace(given, account=found.identity) if found else given

    async def is_served(self, address: Address) -> bool:
        """True if the account of a room was ever at work here. A mistyped address names none."""
        known = await self.store.cluster.named_accounts()
        return (address.channel, address.account) in {(channel, identity) for channel, identity, _ in known}

    async def _known_rooms(self) -> dict[Address, str]:
        if self.rooms is None:
            return {}
        await self.rooms.refresh()
        return dict(self.rooms.all())

    async def _nothing(self, words: str, things: tuple[Thing, ...]) -> str:
        others = (
            await self.store.traces.find(_bare(words), things=tuple(Thing), limit=1) if len(things) < len(Thing) else []
        )
        if others and others[0].id == words:
            return f"{words} is {_one(others[0].thing)}, and not {_one(things[0])}."
        told = NO_SUCH if len(things) == 1 else NOT_FOUND
        return told.format(words=words, kind=_kind(things[0]))

    def _told(self, one: Candidate) -> str:
        text = " ".join(in_words(one.text).split())
        return f"{clip(text, SHORTENED)}, in {self.called(one.address)}"


def _going_by(words: str, names: Mapping[Address, str], called: Named) -> Sequence[Address]:
    return meant(words, names, ids=lambda room: room.room, names=lambda room: [names[room], called(room)])


def _kind(thing: Thing) -> str:
    return WORD_OF_THING.get(thing, thing.value)


def _one(thing: Thing) -> str:
    return f"{'an' if thing is Thing.APPROVAL else 'a'} {_kind(thing)}"


def _bare(words: str) -> str:
    """A shown message has the id of its delivery and the number of its part."""
    found, dot, ordinal = words.rpartition(".")
    return found if dot and ordinal.isdecimal() else words
