"""A house with a tool for each rule of asking: what is asked there is in the books, and what runs is counted."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Any, Final

import structlog

from bot.testing.clocks import HandClock
from runtime.contract import (
    Call,
    Flow,
    Identity,
    Json,
    ModelReply,
    ModelRequest,
    OnText,
    Outcome,
    Reads,
    Said,
    ToolContext,
    ToolSpec,
    Undo,
    UserTurn,
)
from runtime.policy.rules import Rule, Ruling
from runtime.policy.terms import Changes
from runtime.store.store import Store
from tests.contract.runtime.stage import FakeTool, Process, Stage
from tests.contract.runtime.strict import Strict
from tests.security.answers.books import ASK, FORBIDDEN, KINDS, Books, Question
from tests.security.house import WISH, House
from tests.security.presses import HERE, RULES, Press
from tests.security.wires.page import WebWire
from tests.security.wires.wire import Wire
from tools.asking import ASK_PERSON

COMMAND: Final[Mapping[str, Json]] = {
    "type": "object",
    "properties": {"command": {"type": "string", "minLength": 1}},
    "required": ["command"],
    "additionalProperties": False,
}
VOTED: Final = "SELECT p.name, v.choice FROM votes v JOIN people p ON p.id = v.person_id WHERE v.approval_id = :id"
UNDONE: Final = "SELECT undone_by FROM undos WHERE approval_id = :id"
FRESH: Final = "SELECT id, tool, arguments FROM approvals WHERE asked_at > :last ORDER BY step"
Plan = Mapping[str, Sequence[tuple[str, str]]]


class Planning(Strict):
    """Makes for each wish the calls that were planned for it, by tool and command; `asked` outlives the process."""

    def __init__(self, plan: Plan, asked: set[str]) -> None:
        super().__init__([])
        self._plan = plan
        self._asked = asked

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        said = {word for turn in request.turns if isinstance(turn, UserTurn) for word in WISH.findall(turn.text)}
        fresh = sorted(said - self._asked)
        self._asked |= said
        calls = [one for word in fresh for one in self._plan.get(word, [("shell", "uname -a")])]
        numbers = count(len(request.turns))
        made = tuple(Call(f"call-{next(numbers)}", tool, _arguments(tool, command)) for tool, command in calls)
        self._answers = [made or "done"]
        return await super().reply(request, on_text)


def _arguments(tool: str, command: str) -> str:
    if tool != ASK:
        return json.dumps({"command": command})
    question, _, to = command.partition(" for ")
    return json.dumps({"question": question, "options": ["yes", "no"], "to": to})


@dataclass
class Desk(House):
    """`ran`: each call that was carried out, by its command. `books`: what has to be."""

    books: Books = field(default_factory=lambda: Books(False))
    plan: dict[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    ran: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    taken_back: list[str] = field(default_factory=list)
    numbers: Any = field(default_factory=count)

    async def _begun(self, **setting: Any) -> Process:
        rules = [
            Rule(Ruling.DENY, arguments={"command": f"{FORBIDDEN}*"}, name="never"),
            Rule(Ruling.ASK, "deploy", asking=Changes(quorum=2)),
            Rule(Ruling.ASK, "pay", asking=Changes(four_eyes=True, reason_required=True)),
        ]
        tools = [FakeTool(ASK_PERSON.spec), *(self._tool(name) for name in KINDS)]
        return await self.stage.process(Planning(self.plan, self.asked), tools, rules=rules, **setting)

    def _tool(self, name: str) -> FakeTool:
        kind = KINDS[name]
        undo = Undo(self._keep, self._take_back) if kind.can_undo else None

        async def does(arguments: Mapping[str, Json]) -> str:
            self.ran[str(arguments["command"])] += 1
            return "done"

        return FakeTool(
            replace(ToolSpec(name, f"The tool {name}.", COMMAND, kind.effect, flow=Flow(Reads.OURS)), undo=undo),
            does=does,
        )

    def _keep(self, arguments: Mapping[str, Json], context: ToolContext) -> str:
        return str(arguments["command"])

    def _take_back(self, kept: str, context: ToolContext) -> str:
        self.taken_back.append(kept)
        return "It is as it was."

    # --------------------------------------------------------------------------------------------------- questions

    async def say(self, asker: str, calls: Sequence[tuple[str, str]], room: int = HERE) -> None:
        """Somebody wants these calls."""
        wish = f"please w{next(self.numbers)}"
        self.plan[wish] = calls
        who = Identity(self.wire.identity(asker))
        await self.process.reception.sink(self._signal(Said(wish), who, self.wire.rooms[room]))

    async def questions(self, asker: str, calls: Sequence[tuple[str, str]], room: int = HERE) -> list[Question]:
        """The same, once it is asked about. Errors: AssertionError where that is not so."""
        [(last,)] = await self.stage.rows("SELECT coalesce(max(asked_at), 0) FROM approvals")
        await self.say(asker, calls, room)
        await self.rest()
        rows = await self.stage.rows(FRESH, last=last)
        assert [tool for _, tool, _ in rows] == [tool for tool, _ in calls], rows
        made = [_noted(row[0], asker, call) for row, call in zip(rows, calls, strict=True)]
        made[-1].is_last = len(made) > 1
        return made

    async def row(self, about: Question) -> tuple[object, ...]:
        """What the store says of it, as `Question.row`."""
        found = await self.stage.rows(
            "SELECT state, arguments, asked_arguments, card FROM approvals WHERE id = :id", id=about.id
        )
        [(state, arguments, before, card)] = found
        edits = json.loads(card).get("edits", 0) if before else 0
        command = about.command if about.tool == ASK else json.loads(arguments)["command"]
        votes = {name.lower(): choice for name, choice in await self.stage.rows(VOTED, id=about.id)}
        undone = [who for (who,) in await self.stage.rows(UNDONE, id=about.id)]
        return state, command, edits, tuple(sorted(votes.items())), "".join(undone).title()

    async def totals(self) -> tuple[int, ...]:
        """Questions, votes and grants there are, and how many clicks were refused."""
        tables = ("approvals", "votes", "grants", "undos WHERE undone_by <> ''")
        counts = [(await self.column(f"SELECT count(*) FROM {table}"))[0] for table in tables]
        return *counts, await self.refusals()

    async def work(self) -> None:
        """All there is to do is done, undos too."""
        await self.process.undoer.look()
        await self.rest()

    async def answered(self, press: Press) -> tuple[list[Outcome], str]:
        """What was made of a press, and an error on the way."""
        outcomes, error = await self.together(press)
        told = [*self.faults.told]
        self.faults.told.clear()
        return outcomes, error or "; ".join(told)

    async def at_once(self, presses: Sequence[Press]) -> list[tuple[list[Outcome], str]]:
        return [*await asyncio.gather(*map(self.answered, presses))]


def _noted(found: str, asker: str, call: tuple[str, str]) -> Question:
    tool, command = call
    to = command.partition(" for ")[2] if tool == ASK else ""
    return Question(found, tool, asker, command, {"room": "", "": asker}.get(to, to))


@asynccontextmanager
async def desk(store: Store, clock: HandClock, wire: Wire, folder: Path) -> AsyncIterator[Desk]:
    """A life of it, with everybody there, and the foreign question open in the other room."""
    stage = Stage(store, clock, folder)
    made = Desk(stage, wire, RULES[0], None, None, books=Books(isinstance(wire, WebWire)))  # type: ignore[arg-type]
    await made.move_in()
    with structlog.testing.capture_logs():
        try:
            async with made.life():
                await made.change_people()
                yield made
        finally:
            await store.close()
