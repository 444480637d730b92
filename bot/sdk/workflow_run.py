"""A workflow that a program began: its steps, its questions, and its end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Final

from bot.sdk.deciding import LISTED_APPROVALS, Decide, decided
from bot.sdk.following import LOOK_AGAIN
from bot.sdk.program import CLOSING_TOPIC, Program, declining
from bot.sdk.results import Question, object_in
from bot.sdk.run import patience
from runtime.contract import Address, room_topic
from runtime.domain.approvals import ApprovalState
from runtime.errors import Declined, RunFailed
from runtime.store.programs.following import asked_in

WELL_ENDED: Final = "done"
FLOW_LOOK: Final = timedelta(seconds=0.2)
"""Between two looks at a workflow while it works: its steps ring nobody."""
CONFLICT: Final = 409
FLOW_ENDED_BADLY: Final = "The workflow {name} ended as {state}. {reason}"


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step: succeeded, skipped, failed, or still to come; and what it gave."""

    name: str
    state: str
    text: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class WorkflowResult:
    """A workflow as it stands; `steps` by name."""

    name: str
    state: str
    reason: str
    run: str
    steps: Mapping[str, StepResult]
    is_over: bool
    questions: Sequence[Question] = ()


class WorkflowRun:
    """One that was begun. `id` is its own, by which `signalbox workflows show` knows it too."""

    def __init__(self, program: Program, begun_id: str, room: Address) -> None:
        self.id = begun_id
        self._program = program
        self._room = room

    async def look(self) -> WorkflowResult:
        """It as it stands now. Errors: AgentClosed, Declined, StoreError."""
        self._program.must_be_open()
        with declining():
            row = await self._program.operations.workflow_run(self.id)
        steps = {one["name"]: StepResult(one["name"], one["state"], one["result"], one["why"]) for one in row["steps"]}
        questions = await self._questions(row["run"]) if row["run"] and not row["ended_at"] else ()
        return WorkflowResult(
            name=row["name"],
            state=row["state"],
            reason=row["reason"],
            run=row["run"],
            steps=MappingProxyType(steps),
            is_over=bool(row["ended_at"]),
            questions=questions,
        )

    async def wait(self, *, decide: Decide | None = None, timeout: float | timedelta | None = None) -> WorkflowResult:  # noqa: ASYNC109 - a program's own word for it
        """Its end. Questions are answered by `decide`, else people answer them.

        Errors: RunFailed where it didn't succeed; TimeoutError after that many seconds, and it goes on.
        """
        async with patience(timeout):
            found = await self._until_over(decide)
        if found.state != WELL_ENDED:
            words = FLOW_ENDED_BADLY.format(name=found.name, state=found.state, reason=found.reason).strip()
            raise RunFailed(words, state=found.state, run=found.run)
        return found

    async def cancel(self) -> None:
        """End it; what its steps did stays done, and what is over stays as it is. Errors: Declined, AgentClosed, StoreError."""
        while not (found := await self.look()).is_over:
            if found.run and await self._is_cancelled():
                return
            await asyncio.sleep(FLOW_LOOK.total_seconds())  # it has not begun yet, or comes to its end just now

    async def _is_cancelled(self) -> bool:
        try:
            with declining():
                await self._program.operations.cancel_workflow(self.id)
        except Declined as error:
            if error.status != CONFLICT:
                raise
            return False
        return True

    async def _until_over(self, decide: Decide | None) -> WorkflowResult:
        rings = self._program.app.base.notifier.listen(room_topic(self._room), CLOSING_TOPIC)
        seen = set[str]()
        while True:
            found = await self.look()
            if found.is_over:
                return found
            for question in found.questions if decide else ():
                if decide and question.id not in seen:
                    seen.add(question.id)
                    await decided(self._program, question, decide)
            is_asked = bool(found.questions) and decide is None
            await rings.within((LOOK_AGAIN if is_asked else FLOW_LOOK).total_seconds())

    async def _questions(self, run: str) -> Sequence[Question]:
        """Open questions of the run, oldest first."""
        rows = await self._program.app.store.approvals.approvals(
            state=ApprovalState.PENDING, limit=LISTED_APPROVALS, oldest=True
        )
        return [
            Question(row.id, row.kind, row.tool, object_in(row.arguments), asked_in(row.kind, row.card), row.expires_at)
            for row in rows
            if row.run_id == run
        ]
