"""Data held about the person who asks, and their own ways to change it."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import structlog

from adapters.web.adapter import CHANNEL
from bot.accounts.naming import of_page
from bot.operator.access.exporting import files_of
from bot.operator.access.forgetting import ForgetOperations
from bot.operator.access.wishes import ASKED_KIND, ASKED_LOOKED_AT, WITHDRAWN_KIND
from bot.operator.actor import Actor
from bot.operator.context import OperatorContext
from bot.operator.lookups.titles import entitled
from bot.operator.people import session_view
from bot.operator.views import View, at
from runtime.calendar.errors import WhenError
from runtime.contract import PEOPLE, Address, Role
from runtime.contract.memory.facts import MemoryId, Scope, ScopeKind
from runtime.domain.agents.tasks import plain
from runtime.http.errors import Refusal
from runtime.store.protocol.people import HeldData
from runtime.text.words import marked, say, say_many
from runtime.workspace.workspaces import WorkspaceFolders

log = structlog.get_logger("own")

OWN_MEMORIES_MAX: Final = 200
NOT_YOURS_ANY_MORE: Final = marked("That isn't there any more.")
ASKED: Final = marked("You've asked to be forgotten. The owners here see that under People, and one of them does it.")
ASKED_ALREADY: Final = marked("You've asked already. An owner does it.")
OWNER_DOES_IT: Final = marked("You're an owner: you do it yourself, on your page under People in the console.")
ASKED_OFTEN: Final = marked("You've asked several times within the last hour. Try again later.")
WISHES_WITHIN: Final = timedelta(hours=1)
WISHES_MAX: Final = 3
"""Wishes of one person within that time: each tells the operators."""
NOT_ASKED: Final = marked("You haven't asked to be forgotten.")
WITHDRAWN: Final = marked("You've taken it back. The owners here have been told.")
TOLD_OF_WITHDRAWAL: Final = marked("{name} no longer asks to be forgotten.")
TOLD_OPERATORS: Final = marked(
    "{name} asks to be forgotten. An owner does it on their page under *People*, or with the command `people forget`."
)


@dataclass(frozen=True, slots=True)
class OwnData:
    """For one person, at the page: `actor` is they themselves."""

    context: OperatorContext
    actor: Actor

    @property
    def _name(self) -> str:
        return self.actor.person.name

    async def told(self) -> View:
        """All lists of the page."""
        people = self.context.store.people
        known, held = await people.person_named(self._name), await people.held_of(self.actor.person.id)
        sessions = await people.sessions_of(self._name)
        return {
            "name": self._name,
            "role": self.actor.person.role.word,
            "identities": [*known.identities] if known else [],
            "zone": held.zone,
            "sessions": [{**session_view(one), "here": one.hash == self.actor.session} for one in sessions],
            "rooms": await self._rooms(held),
            "memories": await self._memories(),
            "ratings": await self._ratings(held),
            "browsers": [{"id": name, "since": at(since)} for name, since in held.browsers_told.items()],
            "counts": {**held.counts},
            "files": await self._files(),
            "asked_at": await self._exports.asked_at(self._name),
        }

    async def _rooms(self, held: HeldData) -> list[View]:
        rows = [
            {
                "room": self.context.called(one.address),
                "address": self.context.named(one.address),
                "place": f"/#{one.address.room}" if one.address.channel == CHANNEL else "",
                "messages": one.messages,
                "last": at(one.last),
            }
            for one in held.rooms
        ]
        named = await self._entitled(rows, [one.address for one in held.rooms])
        given = [of_page(one.title) if one.title else "" for one in held.rooms]
        return [{**row, "room": title or row["room"]} for row, title in zip(named, given, strict=True)]

    async def _ratings(self, held: HeldData) -> list[View]:
        rows = [
            {
                "room": self.context.called(one.address),
                "address": self.context.named(one.address),
                "rating": one.rating.word,
                "words": one.words,
                "at": at(one.at),
            }
            for one in held.ratings
        ]
        return await self._entitled(rows, [one.address for one in held.ratings])

    async def _entitled(self, rows: Sequence[View], places: Sequence[Address]) -> list[View]:
        """`rows` with titles. Those are what was said there first, so others' conversations keep theirs from who isn't an operator any more."""
        if self.actor.person.role >= Role.OPERATOR:
            return await entitled(self.context, rows, self.actor.identity)
        history, me = self.context.store.history, self.actor.identity
        own = {place for place in {*places} if await history.room_owner(place) == me}
        titled = iter(
            await entitled(self.context, [row for row, place in zip(rows, places, strict=True) if place in own], me)
        )
        return [next(titled) if place in own else row for row, place in zip(rows, places, strict=True)]

    async def _memories(self) -> list[View]:
        """Memories for them alone; `/memory` in a chat has those of its room beside them."""
        rows = await self.context.store.memories.listed(scope=self._scope, limit=OWN_MEMORIES_MAX)
        return [
            {"id": one.id, "text": self.context.mask(one.text), "agent": one.agent, "since": at(one.valid_from)}
            for one in rows
        ]

    @property
    def _scope(self) -> Scope:
        return Scope(ScopeKind.PERSON, self.actor.person.id)

    async def _files(self) -> View:
        needles = await self.context.store.forgettings.needles(self._name)
        rooms = await self.context.store.forgettings.rooms_below([*needles.rooms] if needles else [])
        return await asyncio.to_thread(_measured, self.folders(), [str(room) for room in rooms])

    def folders(self) -> list[WorkspaceFolders]:
        return [self.context.folders(row["name"]) for row in self.context.agents()]

    # -------------------------------------------------------------------------------------------------------- changes

    async def sign_out(self, which: str) -> View:
        """End one session of theirs. Errors: Refusal 404."""
        if not await self.context.store.people.end_session(self._name, which, actor=self._name):
            raise Refusal(404, NOT_YOURS_ANY_MORE)
        self.context.notifier.notify(PEOPLE)
        return {"told": say("You're signed out in that browser.")}

    async def sign_out_others(self) -> View:
        ended = await self.context.store.people.end_other_sessions(self._name, but=self.actor.session, actor=self._name)
        self.context.notifier.notify(PEOPLE)
        told = say_many(
            "You're signed out in {number} other browser.", "You're signed out in {number} other browsers.", ended
        )
        return {"told": told if ended else say("You aren't signed in anywhere else.")}

    async def forget_memory(self, which: str) -> View:
        """Forget one memory of theirs for good. Errors: Refusal 404, for those of others too."""
        found = await self.context.store.memories.memory(which)
        if found is None or found.id != which or found.scope != self._scope:
            raise Refusal(404, NOT_YOURS_ANY_MORE)
        await self.context.store.memories.remove([MemoryId(which)], actor=self._name)
        return {"told": say("Forgotten for good.")}

    async def drop_browser(self, which: str) -> View:
        await self.context.store.web_push.drop_browser(which, self.actor.person.id)
        return {"told": say("That browser gets no notifications any more.")}

    async def keep_zone(self, zone: str) -> View:
        """Keep the zone of their browser, unless one is known: what they say in a chat counts. Errors: Refusal 400."""
        from runtime.calendar.zones import zone_named  # reads files of zones

        try:
            named = zone_named(zone).key
        except WhenError as error:
            raise Refusal(400, str(error)) from None
        who, schedules = self.actor.person, self.context.store.schedules
        known = await schedules.zone_of(who.id, "")
        if not known:
            await schedules.set_zone(who.id, named, who.name)
        return {"zone": known or named}

    async def ask_to_be_forgotten(self, confirm: str) -> View:
        """Tell the owners; one of them does it, since it takes what others work with too. Errors: Refusal."""
        if self.actor.person.role is Role.OWNER:
            raise Refusal(409, OWNER_DOES_IT)
        if confirm != self._name:
            raise Refusal(400, say("To ask for it, write your name once more: {name}.", name=self._name))
        if await self._exports.asked_at(self._name):
            raise Refusal(409, ASKED_ALREADY)
        since = self.context.now() - WISHES_WITHIN
        asked = await self.context.store.audit.newest_audit(ASKED_KIND, limit=ASKED_LOOKED_AT)
        if sum(row.actor == self.actor.identity and row.at > since for row in asked) >= WISHES_MAX:
            raise Refusal(429, ASKED_OFTEN)
        await self._note(ASKED_KIND, say(TOLD_OPERATORS, name=plain(self._name)))
        return {"told": say(ASKED)}

    async def withdraw_forgetting(self) -> View:
        """Take that wish back, and tell the owners. Errors: Refusal 409 without one."""
        if not await self._exports.asked_at(self._name):
            raise Refusal(409, NOT_ASKED)
        await self._note(WITHDRAWN_KIND, say(TOLD_OF_WITHDRAWAL, name=plain(self._name)))
        return {"told": say(WITHDRAWN)}

    async def _note(self, kind: str, words: str) -> None:
        """Note it in the audit, and tell the operators, who read there what their room can't be told."""
        await self.context.store.cluster.note_fact(kind, self.actor.identity, self._name, "by themselves, in the page")
        if self.context.forgetter is None:
            return
        try:
            await self.context.forgetter.tell(f"{kind}:{self.actor.person.id}:{self.context.new_id()}", words)
        except Exception:
            log.exception("operators were not told", kind=kind, person=self._name)

    # --------------------------------------------------------------------------------------------------------- export

    async def export_person(self, name: str) -> View:
        return await self._exports.export(self._name)

    async def export_page(self, name: str, fields: Mapping[str, Any]) -> View:
        return await self._exports.export_page(self._name, fields)

    @property
    def _exports(self) -> ForgetOperations:
        return ForgetOperations(self.context, self.actor, own=True)


def _measured(folders: Sequence[WorkspaceFolders], rooms: Sequence[str]) -> View:
    count = size = 0
    for _, name, folder in files_of(folders, rooms):
        with suppress(FileNotFoundError):  # a command removed it meanwhile
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if stat.S_ISREG(status.st_mode):
                count += 1
                size += status.st_size
    return {"count": count, "bytes": size}
