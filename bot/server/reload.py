"""Reading the settings again while the process works: all of what may change at once, or, after a fault, nothing.

The rules about tool calls, people, rooms, agents, budgets, schedules, heartbeats, workflows, triggers, event sinks, the operators' room, the prompt and the log level
change. Anything else that differs is named, since it takes a restart; so it is with each reload until then.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import structlog
from pydantic import BaseModel

from bot.accounts.naming import Account, Accounts
from bot.settings.events.tables import EventSinkTable
from bot.settings.given.flags import FLAG
from bot.settings.models.budgets import BudgetSection
from bot.settings.secrets import UNRESOLVED, values_in
from bot.settings.settings import Settings
from bot.wiring.access import gate_of
from bot.wiring.agents import budget_rules_of
from bot.wiring.identities import owners_now, with_identities
from bot.wiring.live_rules import Live, MakeGate, Rules, policy_of, rules_of
from bot.wiring.owner import settle_owner
from bot.wiring.schedules import Synced, nothing_planned
from runtime.contract import Identity, Role
from runtime.domain.agents.manifest import Manifest
from runtime.errors import BotError, ConfigError
from runtime.markup.moments import several
from runtime.policy.budgets import Then
from runtime.store.protocol import Cluster, People
from runtime.templating.prompts import PromptFault

log = structlog.get_logger("reload")

MAY_CHANGE: Final = (
    *("policy", "access", "rooms", "agents", "schedules", "heartbeats", "planning", "skills", "workflows", "triggers"),
    *("feedback", "event_sinks", "programs", "operators"),
    *(f"budgets.{name}" for name in BudgetSection.model_fields if name != "unpriced"),  # models are made with that one
    *("run.prompt_file", "log.level"),
)
"""Settings, and tables of settings, that change without a restart."""


@dataclass(frozen=True, slots=True)
class Reloaded:
    """Changes by a reload, those that wait for a restart, and notes; each as words."""

    changed: tuple[str, ...]
    restart: tuple[str, ...]
    notes: tuple[str, ...]


async def nothing_kept(settings: Settings, agents: Mapping[str, Manifest]) -> None:
    """Keep nothing, where no process works by it."""


class Reload:
    """One for a process. Callers wait for each other."""

    def __init__(
        self,
        *,
        settings: Settings,
        live: Live,
        people: People,
        registry: Cluster,
        set_level: Callable[[str], None],
        gate: MakeGate = gate_of,
        accounts: Sequence[Account] = (),
        schedules: Callable[[Settings], Awaitable[Synced]] = nothing_planned,
        kept: Callable[[Settings, Mapping[str, Manifest]], Awaitable[None]] = nothing_kept,
    ) -> None:
        self._settings = settings
        self._live = live
        self._people = people
        self._registry = registry
        self._set_level = set_level
        self._gate = gate
        self._accounts = Accounts(accounts)
        self._schedules = schedules
        self._kept = kept
        self._one = asyncio.Lock()
        self.taken: Callable[[Settings], None] = lambda _: None
        """Told of the settings that hold from now on. It can't fail."""

    @property
    def settings(self) -> Settings:
        """Settings that hold at this moment, with people as they are stored."""
        return with_identities(self._settings, self._accounts)

    async def read_anew(self) -> Settings:
        """Settings as they would be read now, with people as they are stored. Errors: ConfigError."""
        return with_identities(await asyncio.to_thread(self._settings.reread), self._accounts)

    async def trial(self, text: str) -> Settings:
        """The same as if the file said `text`, with all that a reload would look at. Errors: ConfigError with every fault."""
        fresh = await asyncio.to_thread(self._settings.with_text, text)
        taken = merged(self._settings, fresh)
        await asyncio.to_thread(rules_now, with_identities(taken, self._accounts), self._gate)
        return with_identities(fresh, self._accounts)

    async def __call__(self, by: str) -> Reloaded:
        """Read and take over, for whoever is recorded as `by`.

        Errors: ConfigError with every fault of the settings, StoreError; then nothing has changed.
        """
        async with self._one:
            try:
                told = await self._reload(by)
            except BotError as error:
                log.warning("the settings are not reloaded", reason=str(error))
                raise
            log.info("settings reloaded", changed=told.changed, restart=told.restart, notes=told.notes)
            return told

    async def begin(self) -> None:
        """The process begins: what is planned in the settings is so in the store. Errors: StoreError, ConfigError."""
        async with self._one:
            await self._schedules(self._settings)

    async def learnt(self) -> None:
        """An account knows who it is: settings that name people by its name mean something from now on.

        Errors: StoreError.
        """
        async with self._one:
            known = with_identities(self._settings, self._accounts)
            self._live.rules = replace(self._live.rules, policy=policy_of(known), gate=self._gate(known))
            if set(known.access.owners) != set(self._settings.access.owners):
                await settle_owner(self._people, owners_now(self._settings, self._accounts), None, with_link=False)
            await self._schedules(self._settings)

    async def _reload(self, by: str) -> Reloaded:
        fresh = await asyncio.to_thread(self._settings.reread)
        taken = merged(self._settings, fresh)
        rules = await asyncio.to_thread(rules_now, with_identities(taken, self._accounts), self._gate)
        leftovers = [note async for note in self._leftovers(taken)]
        synced = await self._schedules(taken)  # whole schedules each; after an error a repeat goes on from there
        told = Reloaded(
            (*changes(self._settings, taken, self._live.rules, rules), *synced.changed),
            tuple(name for name in differences(taken, fresh) if name != "event_sinks"),  # a note tells of those
            (*leftovers, *models_to_come(self._settings, taken), *sinks_to_come(taken, fresh), *synced.notes),
        )
        if told.changed:
            await settle_owner(self._people, owners_now(taken, self._accounts), None, with_link=False, actor=by)
            await self._registry.note_fact("reloaded", by, "settings", "; ".join(told.changed))
            await self._kept(taken, rules.agents)
        # From here on nothing can fail, and nothing else runs in between.
        self._live.take(rules)
        if taken.log.level != self._settings.log.level:
            self._set_level(taken.log.level)
        self._settings = taken
        self.taken(taken)
        return told

    async def _leftovers(self, taken: Settings) -> AsyncIterator[str]:
        """An owner who is taken out of the list stays one until somebody says what they are instead."""
        before, after = (with_identities(one, self._accounts).access.owners for one in (self._settings, taken))
        gone = {Identity(name) for name in before} - set(after)
        for known in await self._people.people() if gone else ():
            if known.person.role is Role.OWNER and gone.intersection(known.identities):
                name = known.person.name
                yield f'"{name}" is still an owner; to change that: signalbox people role "{name}" user'


def merged(old: Settings, fresh: Settings) -> Settings:
    """The settings in effect after a reload: `old`, with what may change taken from `fresh`."""
    taken = old
    for table, _, setting in (name.partition(".") for name in MAY_CHANGE):
        value = getattr(fresh, table)
        if setting:
            value = getattr(taken, table).model_copy(update={setting: getattr(value, setting)})
        taken = taken.model_copy(update={table: value})
    taken = taken.model_copy(update={"event_sinks": tuple(sinks_at_hand(old, fresh))})
    if (
        Then(taken.budgets.over) is Then.CHEAPEST and not old.models
    ):  # the others come with a restart; until then nothing is cheaper
        taken = taken.model_copy(update={"budgets": taken.budgets.model_copy(update={"over": old.budgets.over})})
    return taken.with_sources_of(fresh, MAY_CHANGE)


def sinks_at_hand(old: Settings, fresh: Settings) -> Iterator[EventSinkTable]:
    """Sinks with their secrets: one that is sealed is known from the start. Without its own a sink is not begun."""
    before = {(table.name, table.secret_env): table for table in old.event_sinks}
    for table in fresh.event_sinks:
        known = before.get((table.name, table.secret_env))
        if table.secret or not table.secret_env:
            yield table
        elif known:
            yield table.model_copy(update={"secret": known.secret})


def sinks_to_come(taken: Settings, fresh: Settings) -> Iterator[str]:
    """Sinks that begin with a restart."""
    names = {table.name for table in taken.event_sinks}
    for table in fresh.event_sinks:
        if table.name not in names:
            yield f"the event sink {table.name} begins with a restart, since its secret is sealed"


def sink_changes(old: Settings, new: Settings) -> Iterator[str]:
    """Sinks that are new, gone or different, in words."""
    before, after = ({table.name: table for table in one.event_sinks} for one in (old, new))
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            word = "" if name in before and name in after else " (new)" if name in after else " (removed)"
            yield f"the event sink {name}{word}"


def rules_now(settings: Settings, gate: MakeGate = gate_of) -> Rules:
    try:
        return rules_of(settings, gate)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"prompt_file: a prompt cannot be read ({error}).") from error
    except PromptFault as fault:
        raise ConfigError(f"prompt_file: {fault}.") from fault


def changes(old: Settings, new: Settings, before: Rules, after: Rules) -> Iterator[str]:
    """Changes by a reload, in words."""
    if before.policy.version != after.policy.version:
        yield f"policy ({several(len(new.policy), 'rule')})"
    for name in differences(old, new):
        if name.startswith(("access.", "rooms", "planning.", "workflows", "budgets.", "operators.")):
            yield name
    if before.prompts.own != after.prompts.own:
        yield "run.prompt_file" if old.run.prompt_file != new.run.prompt_file else "the text of run.prompt_file"
    yield from agent_changes(before.agents, after.agents)
    yield from sink_changes(old, new)
    if old.skills != new.skills:
        yield "skills"
    if before.prompts.rooms != after.prompts.rooms and old.rooms == new.rooms:
        yield "the text of a prompt_file of rooms"
    if old.log.level != new.log.level:
        yield f"log.level ({old.log.level} to {new.log.level})"


def models_to_come(old: Settings, taken: Settings) -> Iterator[str]:
    """Agents whose model is only there after a restart, and models that are only refused then."""
    names = {taken.model.name, *(model.name for model in taken.models)}
    for table in taken.agents:
        if table.model and table.model not in names:
            yield f"the agent {table.name} uses the usual model until a restart, since {table.model} is new"
    if taken.budgets.unpriced == "refuse" and budget_rules_of(taken).is_set and not budget_rules_of(old).is_set:
        yield "a model whose price nobody knows is refused from the next start on, and until then counts without its money"


def agent_changes(before: Mapping[str, Manifest], after: Mapping[str, Manifest]) -> Iterator[str]:
    """Agents that are new, gone or different, in words."""
    for name in sorted(before.keys() | after.keys()):
        if name not in before:
            yield f"the agent {name} (new)"
        elif name not in after:
            yield f"the agent {name} (removed)"
        elif before[name] != after[name]:
            yield f"the agent {name}"


def differences(old: Settings, new: Settings) -> Iterator[str]:
    """Names of settings whose values differ. Sealed secrets are not opened for this, so they count as the same."""
    before, after = leaves(old), leaves(new)
    changed = (name for name in {**before, **after} if is_changed(old, name, before.get(name), after.get(name)))
    yield from dict.fromkeys(name.partition("[")[0] for name in changed)


def is_changed(old: Settings, name: str, before: object, after: object) -> bool:
    return before != after and not is_unseen(old, name, after)


def is_unseen(old: Settings, name: str, value: object) -> bool:
    """True if `value` only lacks what was opened for `old`."""
    sealed = old.source(name) not in (str(old.file), FLAG, "default")
    return value == UNRESOLVED or (value is None and sealed)


def leaves(table: BaseModel) -> dict[str, Any]:
    """Each setting by its dotted name, also in lists of tables."""
    return dict(values_in(table))


def in_words(told: Reloaded) -> dict[str, Any]:
    return {"changed": list(told.changed), "restart": list(told.restart), "notes": list(told.notes)}
