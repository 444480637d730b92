"""Work that agents handed on, for operators: trees of it, one piece, and the end of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from bot.accounts.naming import Named
from bot.operator.actor import Actor
from bot.operator.partial_api import PartialApi, by_role, word_of
from bot.operator.views import View, at
from bot.operator.work.ended import Hearers, hearers_of
from runtime.chat.views.handed_on import Branch, Tree, branches, lasted, stands
from runtime.contract import Address, ChildState, RunId
from runtime.domain.agents.tasks import short_id
from runtime.http.errors import Refusal
from runtime.store.delegation.store import DelegationStore
from runtime.text.words import marked
from runtime.timeline.trail import Thing

MICROS_PER_DOLLAR: Final = 1_000_000
UNKNOWN_PIECE: Final = marked(
    "Nothing that was handed on is called {name!r}. The end of its id is enough, four characters or more."
)


@dataclass(frozen=True, slots=True)
class HandedOn:
    """Pieces of work as operators call things."""

    store: DelegationStore
    hearers: Hearers
    named: Named
    called: Named
    mask: Callable[[str], str]

    async def listed(self, state: ChildState | None, room: Address | None) -> list[View]:
        """Every piece of the newest trees, or those in one state, each behind what handed it on."""
        rows = [row for tree in await self.store.trees(state, room) for row in self._rows(tree)]
        return [row for row in rows if state is None or row["state"] == state]

    async def around(self, run: RunId) -> list[View]:
        """The tree to which a run belongs."""
        tree = await self.store.tree_around(run)
        return list(self._rows(tree)) if tree else []

    async def shown(self, name: str) -> View:
        """One piece, and all below it."""
        child = await self._meant(name)
        tree = await self.store.tree_around(child)
        rows = list(self._rows(tree)) if tree else []
        place = next((number for number, row in enumerate(rows) if row["id"] == child), None)
        if place is None:
            raise Refusal(404, UNKNOWN_PIECE.format(name=name))
        row = rows[place]
        below = []
        for one in rows[place + 1 :]:
            if one["depth"] <= row["depth"]:
                break
            below.append(one)
        return {**row, "below": below}

    async def stop(self, name: str, actor: Actor) -> View:
        """End one with all below it; whoever waits for it is told."""
        child = await self._meant(name)
        ended = await self.store.end_child(child, actor.person.name)
        if ended is None:
            raise Refusal(409, marked("This is over already."))
        self.hearers.tell(ended)
        row = await self.shown(child)
        return {**row, "told": f"Stopped: {row['agent']}, {row['goal']}"}

    async def _meant(self, name: str) -> RunId:
        found = await self.store.piece_called(name.strip())
        if found is None:
            raise Refusal(404, UNKNOWN_PIECE.format(name=name))
        return found

    def _rows(self, tree: Tree) -> Iterator[View]:
        for one in branches(tree.pieces, tree.root):
            yield self._view(tree, one)

    def _view(self, tree: Tree, branch: Branch) -> View:
        piece, child = branch.piece, branch.piece.child
        took = lasted(child, self.store.now())
        return {
            "id": child.id,
            "short": short_id(child.id),
            "agent": child.agent,
            "goal": self.mask(child.goal),
            "state": child.state,
            "run_state": piece.run,
            "stands": stands(branch).replace("`", ""),
            "asks": list(piece.asks),
            "waits_for": list(branch.waits_for),
            "chain": list(child.chain),
            "depth": branch.depth,
            "parent": piece.parent,
            "root": tree.root,
            "request": self.mask(tree.request),
            "by": tree.by,
            "room": self.called(tree.room),
            "address": self.named(tree.room),
            "seconds": took and round(took.total_seconds(), 1),
            "cost": branch.cost_micros / MICROS_PER_DOLLAR,
            "own_cost": piece.cost_micros / MICROS_PER_DOLLAR,
            "valid": child.valid,
            "result": self.mask(child.answered),
            "created_at": at(child.created_at),
            "deadline_at": at(child.deadline),
            "ended_at": at(child.ended_at),
        }


@by_role
class HandedOnApi(PartialApi):
    """Work that agents handed on."""

    async def handed_on(self, state: str = "", room: str = "", run: str = "") -> list[View]:
        """Pieces of work that agents handed on, tree by tree: newest first, of one room, or around one run."""
        where = await self._room_meant(room)
        if not run:
            return await self._entitled(await self._handed_on.listed(word_of(ChildState, state), where))
        return await self._entitled(await self._handed_on.around(RunId(await self._meant(run, Thing.RUN))))

    async def child(self, name: str) -> View:
        """One piece, by its id or the end of that, with all below it."""
        await self._context.refresh()
        return await self._one_entitled(await self._handed_on.shown(name))

    async def stop_child(self, name: str) -> View:
        return await self._handed_on.stop(name, self.actor)

    @property
    def _handed_on(self) -> HandedOn:
        has = self._context
        return HandedOn(has.store.delegation, hearers_of(has), has.named, has.called, has.mask)
