"""Earlier events: whose they are, their threads, and what may be chosen by them. Asked for where not remembered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from signalbox_matrix.api import Api
from signalbox_matrix.choices import Offer, offered
from signalbox_matrix.errors import Refused
from signalbox_matrix.parse import is_edit, relation, thread_of

Raw = Mapping[str, Any]

REMEMBERED: Final = 2_000
LOOKED_THROUGH: Final = 100  # of our newest messages in a room, for the code of a card
FORM_KEY: Final = "signalbox.form"
"""Key of an event's content that holds what its answer fills in: approval, choice, fields and whose answer counts."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An event of a room. `first` are choices as they were shown, `now` as they are; `form` is what an answer fills in."""

    sender: str
    thread: str = ""
    first: tuple[Offer, ...] = ()
    now: tuple[Offer, ...] = ()
    form: Raw = field(default_factory=dict)
    reaction: tuple[str, str] = ("", "")

    @property
    def offers(self) -> tuple[Offer, ...]:
        """Choices that somebody may mean: those of a decided card too, so that they are told that it is."""
        return (*self.now, *(offer for offer in self.first if offer not in self.now))


class KnownEvents:
    """Of one account. `me` is our user id: what others put under our keys means nothing."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known: OrderedDict[tuple[str, str], Earlier] = OrderedDict()
        self.me = ""

    def note(self, room: str, event: Raw) -> None:
        """Remember an event that passes. Errors: as `earlier_of`."""
        target = str(relation(event["content"]).get("event_id") or "")
        if is_edit(event["content"]):
            if event["sender"] == self.me and (known := self._known.get((room, target))):
                self._known[room, target] = replace(known, now=offered(event["content"]["m.new_content"]))
            return
        self._keep((room, str(event["event_id"])), self._earlier(event))

    async def of(self, room: str, event: str) -> Earlier | None:
        """None where the room has no such event: one of another room means nothing here.

        Errors: MatrixError where the homeserver can't be asked.
        """
        if known := self._known.get((room, event)):
            return known
        try:
            found = await self._api.event(room, event)
        except Refused as error:
            if error.status not in (400, 403, 404):
                raise
            return None
        return self._keep((room, event), self._earlier(found))

    async def with_code(self, room: str, code: str) -> tuple[str, Earlier] | None:
        """The newest card of ours in a room that has a code. Errors: MatrixError."""
        told = await self._api.messages(
            room, "", limit=LOOKED_THROUGH, only={"types": ["m.room.message"], "senders": [self.me]}
        )
        for event in told.get("chunk") or ():
            content = event.get("content") or {}
            shown = content.get("m.new_content") if is_edit(content) else content
            if any(offer.code == code for offer in offered(shown or {})):
                number = str(relation(content).get("event_id")) if is_edit(content) else str(event["event_id"])
                found = await self.of(room, number)
                return (number, found) if found else None
        return None

    def _keep(self, event: tuple[str, str], earlier: Earlier) -> Earlier:
        self._known[event] = earlier
        self._known.move_to_end(event)
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return earlier

    def _earlier(self, event: Raw) -> Earlier:
        content, sender = event["content"], str(event["sender"])
        told = relation(content)
        reaction = ("", "")
        if event["type"] == "m.reaction":
            reaction = (str(told.get("event_id") or ""), str(told.get("key") or ""))
        if sender != self.me:
            return Earlier(sender, thread_of(content), reaction=reaction)
        first, form = offered(content), content.get(FORM_KEY)
        return Earlier(
            sender, thread_of(content), first, self._now(event, first), form if isinstance(form, Mapping) else {}
        )

    def _now(self, event: Raw, first: tuple[Offer, ...]) -> tuple[Offer, ...]:
        """Choices of the newest change, which the homeserver tells along."""
        changed = ((event.get("unsigned") or {}).get("m.relations") or {}).get("m.replace") or {}
        content = changed.get("content") or {}
        if changed.get("sender") != self.me or not isinstance(content.get("m.new_content"), Mapping):
            return first
        return offered(content["m.new_content"])
