"""Nodes for operators: what each is and has, how one is asked to leave, and how one is given up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from bot.accounts.naming import Named
from bot.node.comparing import clock_words, differences, mark_of, program_words
from bot.node.version import VERSION
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from runtime.calendar.errors import WhenError
from runtime.calendar.until import until
from runtime.contract import Address
from runtime.http.errors import Refusal
from runtime.store.cluster.roster import Drain, Member, Removal
from runtime.store.schema import REVISION
from runtime.text.words import marked, say

DRAIN_MOST: Final = timedelta(days=1)
NAME_MIN_CHARS: Final = 4
LENGTHS_ONLY: Final = ""
"""No zone: a time of day would be somebody else's."""
NO_NODE: Final = marked('No node is called "{name}". There are {nodes}.')
SEVERAL_NODES: Final = marked('"{name}" may be one of several: {nodes}. Name one by its id.')
GONE: Final = marked("{name} isn't live: there is nothing to drain. What it had goes on elsewhere.")
TOO_OLD: Final = marked(
    "{name} runs an older program, which can't be asked. Stop it on its machine: it hands its work over as it ends."
)
DRAIN_TOO_LONG: Final = marked("A node may take a day at most to drain.")
DRAINS: Final = marked(
    "{name} takes nothing more in. It hands its accounts and rooms over, finishes what is at work, and leaves."
)
LIVES: Final = marked(
    "{name} is live (it gave a sign {seconds} seconds ago), so it isn't removed. To have it leave: signalbox nodes drain {name}"
)
HAS_NOTHING: Final = marked("{name} is gone already, and has nothing any more.")
REMOVED: Final = marked("{name} is given up. What it had at work is free, and goes on elsewhere.")


@by_role
class NodesApi(PartialApi):
    """Processes that share the database."""

    async def nodes(self) -> list[View]:
        """Nodes that are live, or were within the last day, the newest first."""
        members = await self._store.roster.members()
        return [node_row(one, members, self._context.named, self._context.now()) for one in members]

    async def drain_node(self, name: str, within: str = "10 minutes") -> View:
        """Have a node take nothing more in, hand over what it has, and leave; what is at work `within` this time is cut then."""
        one = _meant(await self._store.roster.members(), name)
        length = self._length(within)
        match await self._store.roster.ask_to_drain(one.id, length, self.actor.name):
            case Drain.ASKED:
                told = say(DRAINS, name=one.label)
                return {"id": one.id, "name": one.label, "within_seconds": length.total_seconds(), "told": told}
            case Drain.TOO_OLD:
                raise Refusal(409, say(TOO_OLD, name=one.label))
            case Drain.GONE:
                raise Refusal(409, say(GONE, name=one.label))

    async def remove_node(self, name: str) -> View:
        """Give up a node that doesn't come back. Not one that is live."""
        one = _meant(await self._store.roster.members(), name)
        match await self._store.roster.remove(one.id, self.actor.name):
            case Removal.REMOVED:
                return {"id": one.id, "name": one.label, "told": say(REMOVED, name=one.label)}
            case Removal.LIVES:
                ago = round((self._context.now() - (one.beat_at or one.joined_at)).total_seconds())
                raise Refusal(409, say(LIVES, name=one.label, seconds=str(max(ago, 0))))
            case Removal.GONE:
                raise Refusal(409, say(HAS_NOTHING, name=one.label))

    def _length(self, words: str) -> timedelta:
        now = self._context.now()
        try:
            length = until(words, zone=LENGTHS_ONLY, now=now) - now
        except WhenError as error:
            raise Refusal(400, str(error)) from error
        if length > DRAIN_MOST:
            raise Refusal(400, say(DRAIN_TOO_LONG))
        return length


def _meant(members: Sequence[Member], name: str) -> Member:
    """The node that somebody named: by host and process, by its host alone, or by its id or an end of that.

    Live ones come first, since a host or a process has a name again after a restart. Errors: Refusal.
    """
    fits = [one for one in members if name in (one.id, one.label)] or [
        one
        for one in members
        if name == one.label.partition("/")[0] or (len(name) >= NAME_MIN_CHARS and one.id.endswith(name))
    ]
    found = [one for one in fits if one.left_at is None and one.state != "lost"] or fits[:1]
    if not found:
        raise Refusal(404, say(NO_NODE, name=name, nodes=_labels(members) or "-"))
    if len(found) > 1:
        raise Refusal(409, say(SEVERAL_NODES, name=name, nodes=", ".join(f"{one.label} ({one.id})" for one in found)))
    return found[0]


def _labels(members: Iterable[Member]) -> str:
    return ", ".join(one.label for one in members if one.state != "lost" and one.left_at is None)


def node_row(one: Member, members: Sequence[Member], named: Named, now: datetime) -> View:
    """A node as lists show it. `notes` are what an operator should know; `differs` names settings that others have otherwise."""
    differs = differences(members) if one.is_live else {}
    notes = [clock_words(one.clock_offset), program_words(one, VERSION, REVISION)] if one.is_live else []
    return {
        "id": one.id,
        "name": one.label,
        "host": one.label.partition("/")[0],
        "pid": one.label.partition("/")[2],
        "state": one.state,
        "version": one.version,
        "schema": one.knows,
        "since": at(one.joined_at),
        "beat_at": at(one.beat_at),
        "left_at": at(one.left_at),
        "drain_until": at(one.drain_until) if one.is_live else None,
        "drain_left_seconds": _left(one, now),
        "accounts": [_account(channel, identity, named) for channel, identity in one.accounts],
        "roles": list(one.roles),
        "at_work": one.works_on,
        "settings": mark_of(one.settings),
        "differs": sorted(differs),
        "clock_offset_seconds": None if one.clock_offset is None else round(one.clock_offset.total_seconds(), 3),
        "notes": [words for words in notes if words],
    }


def _left(one: Member, now: datetime) -> float | None:
    """Seconds until what it has at work is cut, by the clock that all nodes share; None for one that nobody asked to leave."""
    return max((one.drain_until - now).total_seconds(), 0.0) if one.is_live and one.drain_until else None


def _account(channel: str, identity: str, named: Named) -> str:
    """As settings call it, `telegram:ops`."""
    return named(Address(channel, identity, "-")).removesuffix("/-")
