"""Agents that owners have made in a chat: each is a file beside the settings, which a reload takes over at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

import structlog

from bot.server.reload import Reload, Reloaded
from bot.settings.agents.folder import AGENTS_FOLDER
from bot.settings.agents.tables import AGENT_NAME
from bot.settings.agents.together import wider_than
from bot.settings.agents.writing import toml_of, write_new
from bot.settings.settings import Settings
from runtime.contract import Caller, Effect, Json, Now, Role
from runtime.domain.agents.lifecycle import AgentState
from runtime.domain.agents.manifest import MAIN
from runtime.errors import ConfigError, StoreError, ToolFailed
from runtime.guard.door import Door
from runtime.guard.findings import Gate
from runtime.store.protocol.agents import AgentLives

log = structlog.get_logger("agents")

ONLY_OWNERS: Final = "Only owners have agents made. Ask one of them."
ONLY_IN_A_CHAT: Final = "An agent is only made in a conversation with an owner, not by a schedule."
NO_SETTINGS_FILE: Final = "There is no settings file beside which an agent could be written: signalbox init makes one."
UNNAMED: Final = "unnamed"
WRONG_NAME: Final = 'name: {name!r}; expected up to 40 small letters, digits, "-" and "_", such as "ops".'
NAME_OF_MAIN: Final = "name: main is the agent that the settings describe. Choose another name."
NAME_OF_ENDED: Final = "name: an agent {name!r} was ended for good, so no other one is called so."


class NewAgents:
    """Implements `tools.agents.NewAgents`. `effects` are the tools by now, each with its effect."""

    def __init__(
        self,
        *,
        lives: AgentLives,
        reload: Reload,
        door: Door,
        now: Now,
    ) -> None:
        self._lives = lives
        self._reload = reload
        self._door = door
        self._now = now
        self.effects: Callable[[], Mapping[str, Effect]] = dict

    async def faults(self, table: Mapping[str, Json], by: Caller) -> str:
        if by.person is None or by.person.role < Role.OWNER:
            return ONLY_OWNERS
        if not by.in_chat:
            return ONLY_IN_A_CHAT
        if self._reload.settings.file is None:
            return NO_SETTINGS_FILE
        found = await asyncio.to_thread(self._wrong, table, by)
        ended = [row.name for row in await self._lives.rows() if row.state is AgentState.TERMINATED]
        found += [NAME_OF_ENDED.format(name=table["name"])] if table["name"] in ended else []
        return "\n".join(found)

    def _wrong(self, table: Mapping[str, Json], by: Caller) -> list[str]:
        """Faults of the settings with this agent among them, and what it may do that the one who makes it may not."""
        settings, found = self._reload.settings, list[str]()
        if not AGENT_NAME.fullmatch(str(table["name"])):  # the rest is looked at all the same
            found, table = [WRONG_NAME.format(name=table["name"])], {**table, "name": UNNAMED}
        if table["name"] == MAIN:  # a file by that name sets bounds of an agent that is there
            return [NAME_OF_MAIN]
        try:
            settings.with_agent(f"{AGENTS_FOLDER}/{table['name']}.toml", table)
        except ConfigError as error:
            found += str(error).splitlines()
        if excess := wider_than(settings.agents, by.agent, table, self.effects()):
            found.append(f"{excess}.")
        return found

    async def make(self, table: Mapping[str, Json], by: Caller) -> str:
        table = {key: self._clean(value) for key, value in table.items()}
        if found := await self.faults(table, by):
            raise ToolFailed(found)
        if (person := by.person) is None:  # a fault before
            raise ToolFailed(ONLY_OWNERS)
        file, name = _file(self._reload.settings, table), str(table["name"])
        words = f"The agent {name}, made in a chat for {person.name} on {date.isoformat(self._now().date())}"
        await self._written(file, toml_of(table, words))
        told = await self._taken_over(file, person.name)
        await self._lives.spawn_agent(name, json.dumps(table, ensure_ascii=False), person)  # it is there by now
        log.info("agent made", agent=name, by=person.name)
        return "\n".join([f"The agent {name} is there now ({AGENTS_FOLDER}/{file.name}).", *told.notes])

    async def _written(self, file: Path, text: str) -> None:
        try:
            await asyncio.to_thread(write_new, file, text)
        except FileExistsError:
            raise ToolFailed(f"There is a file {AGENTS_FOLDER}/{file.name} already. Choose another name.") from None
        except OSError as error:
            raise ToolFailed(f"{AGENTS_FOLDER}/{file.name} can't be written: {error.strerror}.") from error

    async def _taken_over(self, file: Path, by: str) -> Reloaded:
        try:
            return await self._reload(by)
        except (ConfigError, StoreError) as error:
            await asyncio.to_thread(file.unlink, missing_ok=True)
            raise ToolFailed(f"The settings were not taken over, so there is no such agent: {error}") from error

    def _clean(self, value: Json) -> Json:
        return str(self._door.clean(value, Gate.HANDED_ON)) if isinstance(value, str) else value


def _file(settings: Settings, table: Mapping[str, Any]) -> Path:
    folder = settings.file.parent if settings.file else Path()
    return folder / AGENTS_FOLDER / f"{table['name']}.toml"
