"""Goals for operators: those that were set, how far each is, and how one is stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from bot.accounts.naming import Named
from bot.operator.actor import Actor
from bot.operator.partial_api import PartialApi, by_role
from bot.operator.views import View, at
from bot.operator.work.ended import Hearers, hearers_of
from runtime.chat.views.goals import SetGoal, bounds_told, turns_told
from runtime.contract import RunId
from runtime.domain.agents.tasks import short_id
from runtime.domain.goals.progress import GoalStanding, GoalTurn
from runtime.domain.runs import WaitKind
from runtime.http.errors import Refusal
from runtime.store.store import Store
from runtime.text.words import marked

GOAL_ID_MIN_CHARS: Final = 4
UNKNOWN_GOAL: Final = marked("No goal is called {name!r}. The end of its id is enough, four characters or more.")
GOAL_OVER: Final = marked("This goal is over already.")
GOAL_NOT_BEGUN: Final = marked("This goal is about to begin. Try again in a moment.")
TURN_AT_WORK: Final = marked("at work")
TURN_JUDGED: Final = marked("being judged")
WAITING_TURN: Final = "waiting"
"""The state of a turn whose work asks somebody."""
FOR_A_PERSON: Final = marked("a person")


@dataclass(frozen=True, slots=True)
class GoalOperations:
    """Goals as operators call things."""

    store: Store
    hearers: Hearers
    named: Named
    called: Named
    mask: Callable[[str], str]

    async def listed(self, state: str) -> list[View]:
        rows = [self._view(one) for one in await self.store.goals.goals_set()]
        return [row for row in rows if state in ("", row["state"])]

    async def shown(self, name: str) -> View:
        """One goal with its contract, its turns, and whom it waits for."""
        one = await self._meant(name)
        waits = await self.store.workflows.waiting_calls(RunId(one.run)) if one.run and one.open else {}
        is_asked = WaitKind.APPROVAL in waits.values()
        view = {**self._view(one), "waits_for": FOR_A_PERSON if is_asked else "", "cost": await self._cost(one)}
        if is_asked and view["turns"] and view["turns"][-1]["state"] in (TURN_AT_WORK, TURN_JUDGED):
            view["turns"][-1]["state"] = WAITING_TURN
        return view

    async def stop(self, name: str, actor: Actor) -> View:
        """End one that is not over; what its turns did stays done."""
        one = await self._meant(name)
        if not one.open:
            raise Refusal(409, GOAL_OVER)
        ended = await self.store.workflows.cancel(RunId(one.run), actor.person.name) if one.run else None
        if ended is None:
            raise Refusal(409, GOAL_NOT_BEGUN)
        self.hearers.tell(ended)
        return await self.shown(one.id)

    async def _cost(self, one: SetGoal) -> int:
        return await self.store.goals.cost_of(RunId(one.run)) if one.run else 0

    async def _meant(self, name: str) -> SetGoal:
        is_long = len(name.strip()) >= GOAL_ID_MIN_CHARS
        one = await self.store.goals.goal_called(name.strip()) if is_long else None
        if one is None:
            raise Refusal(404, UNKNOWN_GOAL.format(name=name))
        return one

    def _view(self, one: SetGoal) -> View:
        return {
            "id": one.id,
            "short": short_id(one.id),
            "name": self.mask(one.name),
            "state": one.state,
            "run": one.run,
            "by": one.asked_by,
            "room": self.called(one.room) if one.room else "",
            "address": self.named(one.room) if one.room else "",
            "started_at": at(one.started_at),
            "ended_at": at(one.ended_at),
            "reason": self.mask(one.reason),
            **(self._progress(one.now) if one.now else NOT_FROZEN),
            **(NO_END if one.state == STOPPED_GOAL else {}),
        }

    def _progress(self, now: GoalStanding) -> View:
        contract = now.contract
        return {
            "outcome": self.mask(contract.outcome),
            "criteria": [self.mask(one) for one in contract.criteria],
            "constraints": [self.mask(one) for one in contract.constraints],
            "bounds": bounds_told(contract),
            "judge": contract.judge,
            "how_far": turns_told(now),
            "until": at(now.until),
            "end": now.end.value if now.end else "",
            "turns": [self._turn(one) for one in _begun(now)],
        }

    def _turn(self, one: GoalTurn) -> View:
        return {
            "number": one.number,
            "state": _state(one),
            "answer": self.mask(one.candidate),
            "critique": self.mask(one.critique),
            "score": one.verdict.score if one.verdict else None,
        }


STOPPED_GOAL: Final = "stopped"
NO_END: Final[View] = {"end": ""}
"""Of a goal that a person stopped: its reason says so, and not what its rules would make of that."""
NOT_FROZEN: Final[View] = {
    "outcome": "",
    "criteria": [],
    "constraints": [],
    "bounds": "",
    "judge": "",
    "how_far": "",
    "until": None,
    "end": "",
    "turns": [],
}
"""What is known of one whose run has not begun."""


def _begun(now: GoalStanding) -> list[GoalTurn]:
    """Turns with the one that begins now, of which nothing has come yet."""
    next_number = now.next.number if now.next else 0
    more = [GoalTurn(next_number)] if next_number > len(now.turns) else []
    return [*now.turns, *more]


def _state(one: GoalTurn) -> str:
    if one.failure:
        return "failed"
    if one.verdict is None:
        return TURN_JUDGED if one.candidate else TURN_AT_WORK
    return "accepted" if one.verdict.passed else "not accepted"


@by_role
class GoalsApi(PartialApi):
    """Goals that were set."""

    async def goals(self, state: str = "") -> list[View]:
        """Goals that were set, newest first."""
        return await self._entitled(await self._goals.listed(state))

    async def goal(self, name: str) -> View:
        """One, by its id or the end of that, with its turns and verdicts."""
        await self._context.refresh()
        return await self._one_entitled(await self._goals.shown(name))

    async def stop_goal(self, name: str) -> View:
        return await self._one_entitled(await self._goals.stop(name, self.actor))

    @property
    def _goals(self) -> GoalOperations:
        has = self._context
        return GoalOperations(has.store, hearers_of(has), has.named, has.called, has.mask)
