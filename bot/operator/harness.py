"""Long work for operators: its files are written, it begins by its plan, and another run goes on where one stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bot.accounts.naming import Named
from bot.operator.actor import Actor
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from runtime.chat.views.goals import SetGoal
from runtime.cluster.topics import LANES
from runtime.contract import Address, Json, Notifier, Now, OccurrenceId, RunId
from runtime.domain.agents.manifest import MAIN
from runtime.domain.agents.tasks import short_id
from runtime.domain.goals.contract import (
    PLAN_FILE,
    PROGRESS_FILE,
    Contract,
    GoalBounds,
    GoalError,
    GoalKind,
    contract_of,
)
from runtime.domain.goals.harness import NO_PLAN, PLAN_MAX_CHARS, commit_in, plan_of, plan_text, word_of
from runtime.domain.goals.progress import End, GoalStanding, GoalTurn
from runtime.domain.goals.record import to_go_on
from runtime.domain.goals.setting import report_of
from runtime.domain.ids import derived
from runtime.guard.door import OPEN_DOOR, Door
from runtime.guard.findings import Gate
from runtime.http.errors import Refusal
from runtime.store.store import Store
from runtime.workspace.workspaces import WorkspaceFolders

LEAST_ID_CHARS: Final = 4
UNKNOWN_WORK: Final = "No long work is called {name!r}. The end of its id is enough, four characters or more."
IS_THERE: Final = (
    f"{PLAN_FILE} is there already. Begin with `signalbox harness run`, or take the file away first: {{folder}}"
)
BUSY_ROOM: Final = (
    "Something is at work in this room already: {name} ({id}). Wait for it, or stop it there with `/goal stop`."
)


@dataclass(frozen=True, slots=True)
class HarnessOperations:
    """Long work as operators call things. `folders` are the workspaces of an agent, `bounds` those of goals."""

    store: Store
    folders: Callable[[str], WorkspaceFolders]
    bounds: Callable[[], GoalBounds]
    notifier: Notifier
    named: Named
    called: Named
    mask: Callable[[str], str]
    new_id: Callable[[], str]
    now: Now
    door: Callable[[], Door] = lambda: OPEN_DOOR

    async def begin_files(self, room: Address, agent: str, text: str) -> View:
        """Write the files of a goal, as `/goal` has it, for a person to look through."""
        contract = self._read(text, contract_of)
        folders = self.folders(agent)
        if await asyncio.to_thread(folders.has, room, PLAN_FILE):
            raise Refusal(409, IS_THERE.format(folder=folders.folder(room)))
        plan = plan_text(contract)
        files = {PLAN_FILE: plan, PROGRESS_FILE: "# Progress\n\nNothing was done yet.\n"}
        await asyncio.to_thread(_written, folders, room, files, self.new_id())
        return {"folder": str(folders.folder(room)), "room": self.called(room), "plan": plan, "to": self.named(room)}

    async def begin(self, room: Address, agent: str, actor: Actor) -> View:
        """Begin work by the plan that lies in the workspace of a room."""
        folders = self.folders(agent)
        text = await asyncio.to_thread(_read_plan, folders, room)
        contract = self._read(text, plan_of)
        return await self._begin(contract, room, agent, actor, self.new_id(), {})

    async def resume(self, name: str, actor: Actor) -> View:
        """Go on with work that ended before it was accepted, from the turn at which it stopped."""
        one = await self._meant(name)
        if one.open or one.room is None:
            raise Refusal(
                409, "This work isn't over, so there is nothing to resume. After a restart it goes on by itself."
            )
        if one.now and one.now.end is End.MET:
            raise Refusal(409, "This work was accepted. There is nothing left to do.")
        resumed = derived(one.id, "resumed")  # once, however often somebody presses
        if await self.store.goals.goal_called(resumed):
            raise Refusal(409, f"This work was resumed already: {short_id(resumed)}. Resume that one, if it ended too.")
        kept = to_go_on(await self.store.workflows.record(RunId(one.run)), self.now()) if one.run else None
        if kept is None:
            raise Refusal(409, "This work ended before it began. Begin it anew: `signalbox harness run`.")
        contract, before = kept
        return await self._begin(contract, one.room, one.agent, actor, resumed, before)

    async def shown(self, name: str) -> View:
        return self._view(await self._meant(name))

    async def listed(self) -> list[View]:
        """Long work, the newest first."""
        return [self._view(one) for one in await self.store.goals.goals_set() if _is_harness(one)]

    async def _begin(
        self, contract: Contract, room: Address, agent: str, actor: Actor, begun: str, before: Mapping[str, Json]
    ) -> View:
        zone = await self.store.goals.zone_of_goal(actor.person.id, str(room))
        occurrence = OccurrenceId(begun)
        report = report_of(occurrence, contract, room, agent, actor.identity, actor.person, zone, before)
        if busy := await self.store.goals.begin_goal(report, actor.person.name):
            raise Refusal(409, BUSY_ROOM.format(name=busy.name, id=short_id(busy.id)))
        self.notifier.notify(LANES)
        return await self.shown(begun)

    async def _meant(self, name: str) -> SetGoal:
        one = await self.store.goals.goal_called(name.strip()) if len(name.strip()) >= LEAST_ID_CHARS else None
        if one is None or not _is_harness(one):
            raise Refusal(404, UNKNOWN_WORK.format(name=name))
        return one

    def _read(self, text: str, read: Callable[[str, GoalBounds], Contract]) -> Contract:
        try:
            return read(self.door().clean(text, Gate.MESSAGE_IN), self.bounds())
        except GoalError as error:
            raise Refusal(400, str(error)) from error

    def _view(self, one: SetGoal) -> View:
        folder = str(self.folders(one.agent).path(one.room)) if one.room else ""
        now = one.now
        turns = [_turn(turn, self.mask) for turn in now.turns] if now else []
        return {
            "id": one.id,
            "short": short_id(one.id),
            "name": one.name,
            "state": one.state,
            "end": now.end.value if now and now.end else "",
            "run": one.run,
            "by": one.asked_by,
            "agent": one.agent,
            "room": self.called(one.room) if one.room else "",
            "address": self.named(one.room) if one.room else "",
            "folder": folder,
            "started_at": at(one.started_at),
            "reason": self.mask(one.reason),
            "criteria": list(now.contract.criteria) if now else [],
            "steps": list(now.contract.steps) if now else [],
            "most": now.contract.turns if now else 0,
            "next": _next_of(now),
            "turns": turns,
        }


def _next_of(now: GoalStanding | None) -> str:
    """A word for what is at work."""
    return now.next.id.removeprefix("goal-") if now and now.next else ""


def _turn(turn: GoalTurn, mask: Callable[[str], str]) -> View:
    state = word_of(turn) if turn.verdict or turn.failure else "at work"
    return {"number": turn.number, "state": state, "critique": mask(turn.critique), "checkpoint": commit_in(turn.saved)}


def _is_harness(one: SetGoal) -> bool:
    return one.kind is GoalKind.HARNESS


def _written(folders: WorkspaceFolders, room: Address, files: Mapping[str, str], key: str) -> None:
    """Put the files into the workspace. Blocks. Errors: OSError."""
    for name, text in files.items():
        arriving = folders.arriving(f"{key}-{name}")
        arriving.write_text(text, encoding="utf-8")
        folders.keep(room, name, arriving)


def _read_plan(folders: WorkspaceFolders, room: Address) -> str:
    """Errors: Refusal where there is none, or it's no text. Blocks."""
    try:
        with folders.open(room, PLAN_FILE) as file:
            return _text(file.read(PLAN_MAX_CHARS * 4 + 1), folders.path(room) / PLAN_FILE)
    except (FileNotFoundError, ValueError) as error:
        raise Refusal(404, NO_PLAN) from error


def _text(data: bytes, path: Path) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Refusal(400, f"{path} is no text in UTF-8.") from error


@by_role
class HarnessApi(PartialApi):
    """Long work by the plan of a room."""

    async def harness_runs(self) -> list[View]:
        """Long work, newest first."""
        await self._context.refresh()
        return await self._entitled(await self._harness.listed())

    async def init_harness(self, to: str, text: str, agent: str = "") -> View:
        """Write the plan of long work into the workspace of a room. `text` is a goal, as in a chat."""
        return await self._harness.begin_files(await self._work_room(to), self._agent_named(agent), text)

    async def run_harness(self, to: str, agent: str = "") -> View:
        """Begin long work by the plan of a room."""
        room = await self._work_room(to)
        return await self._one_entitled(await self._harness.begin(room, self._agent_named(agent), self.actor))

    async def harness_run(self, which: str) -> View:
        """One of them with its turns, by its id or the end of that."""
        await self._context.refresh()
        return await self._one_entitled(await self._harness.shown(which))

    async def resume_harness(self, which: str) -> View:
        return await self._one_entitled(await self._harness.resume(which, self.actor))

    async def _work_room(self, to: str) -> Address:
        room = await self._room_meant(to)
        if room is None:
            raise Refusal(400, "Long work needs a room: write it as `--to slack:work/C1`.")
        return room

    def _agent_named(self, name: str) -> str:
        known = [str(one["name"]) for one in self._context.agents()]
        if name and name not in known:
            raise Refusal(404, f"There is no agent {name!r}. There are: {', '.join(known)}.")
        return name or MAIN

    @property
    def _harness(self) -> HarnessOperations:
        has = self._context
        return HarnessOperations(
            store=has.store,
            folders=has.folders,
            bounds=has.goals,
            notifier=has.notifier,
            named=has.named,
            called=has.called,
            mask=has.mask,
            new_id=has.new_id,
            now=has.now,
            door=has.door,
        )
