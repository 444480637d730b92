"""The gate: what acceptance needs to know from the settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from adapters.webhook.settings import identity_of
from bot.settings.sections.rooms import RoomTable
from bot.settings.settings import Settings
from bot.wiring.identities import given
from bot.wiring.knowledge.packs import packs_of
from runtime.contract import Address, Identity
from runtime.domain.agents.binding import binding_of
from runtime.domain.agents.manifest import MAIN
from runtime.domain.approvals import Rights
from runtime.domain.goals.contract import GoalBounds
from runtime.domain.routing import AccountNames, RoomRule, RoomRules
from runtime.knowledge.packs import Packs, open_to
from runtime.store.protocol import Gate, People

UNNAMED: Final = AccountNames()


def no_trouble(address: Address) -> None:
    """Answer where no account is at work."""


@dataclass
class Invites:
    """Answers whether somebody may invite the agent into a room: `gate` is the one of now, nobody may before there is one."""

    people: People
    gate: Callable[[], Gate] | None = None

    async def __call__(self, who: Identity, room: Address, alone: bool) -> bool:
        """True for whoever would be heard there: people we know, and strangers as far as the settings let them in."""
        if self.gate is None:
            return False
        person, now = await self.people.identified(who), self.gate()
        if now.rooms.bars(room, who, person):
            return False
        return person is not None or now.open_to_all or (now.pairs and alone)


def gate_of(
    settings: Settings,
    *,
    named: AccountNames = UNNAMED,
    trouble: Callable[[Address], str | None] = no_trouble,
) -> Gate:
    """Gate that the settings make. Errors: OSError when the file of a prompt cannot be read any more.

    `named` writes addresses as they do, and `trouble` tells what is
    wrong with the account of one."""
    access = settings.access
    manifests = [table.manifest for table in settings.agents]
    return Gate(
        open_to_all=access.default == "allow",
        busy=settings.sessions.busy,
        rights=Rights(frozenset(access.approvers), access.self_approval, given(settings), frozenset(access.blocked)),
        agent=MAIN,
        pairs=access.default == "pair",
        rooms=rooms_of(settings, named),
        bots_in_a_row=access.bots_in_a_row,
        freshness=settings.sessions.freshness,
        model=settings.model.name,
        agents=tuple(manifest for manifest in manifests if manifest.name != MAIN),
        bindings=tuple(map(binding_of, manifests)),
        models=() if settings.model.is_demo else tuple(one.name for one in settings.models),
        trouble=trouble,
        packs=partial(_packs, packs_of(settings), named),
        workflows={table.name: table.flow for table in settings.workflows},
        goals=goal_bounds_of(settings),
    )


def goal_bounds_of(settings: Settings) -> GoalBounds:
    goals, given = settings.goals, () if settings.model.is_demo else tuple(one.name for one in settings.models)
    names = (settings.model.name, *given) if given else ()
    return GoalBounds(goals.turns, goals.sprints, goals.minutes, goals.budget, goals.judge, names)


def _packs(packs: Packs, named: AccountNames, agent: str, room: Address) -> Sequence[str]:
    return open_to(packs, agent, named(room.whole_room))


def rooms_of(settings: Settings, named: AccountNames) -> RoomRules:
    """A hook may speak in a room that is for some people only: the settings send it there."""
    access, hooks = settings.access, frozenset(identity_of(hook.name) for hook in settings.hooks if not hook.person)
    rules = (
        RoomRule(
            room.address,
            room.attention,
            _people(room, hooks),
            frozenset(room.blocked),
            room.busy,
            room.prompt_key,
            room.language or "",
        )
        for room in settings.rooms
    )
    return RoomRules(access.rooms, tuple(rules), frozenset(access.blocked), frozenset(access.bots), hooks, named)


def _people(room: RoomTable, hooks: frozenset[Identity]) -> frozenset[str]:
    return frozenset(room.people) | hooks if room.people else frozenset()
