"""Looks at one run, again and again: its rows, which last, and the text that it says right now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from datetime import timedelta
from functools import partial
from typing import Final

from bot.sdk.events import Look
from bot.sdk.program import CLOSING_TOPIC, Program, declining, live_topic, rows_topic
from bot.sdk.results import Answer, Artifact, Decided, Question, object_in
from runtime.cluster.notifier import Listener
from runtime.contract import Address, ApprovalId, FileRef, Json, RunId, Usage, room_topic
from runtime.domain.agents.manifest import MAIN
from runtime.domain.approvals import ApprovalState
from runtime.domain.programs.followed import Followed, FollowState
from runtime.store.protocol.operations import StepRow

LOOK_AGAIN: Final = timedelta(seconds=15)
"""As an open page does: a ring may be lost."""
LIVE_FRAME: Final = timedelta(milliseconds=50)
"""Between two states of a text that is being said."""
TOOL_STEP: Final = "tool"


class Following:
    """Follows the message `signal_id` and its run."""

    def __init__(self, program: Program, signal_id: str, address: Address) -> None:
        self._program = program
        self._signal_id = signal_id
        self._address = address
        self._asked: set[str] = set()
        self._settled_ones: dict[str, Decided] = {}

    async def found(self) -> Followed:
        """The message as its rows tell it. Errors: AgentClosed, Declined, StoreError."""
        self._program.must_be_open()
        with declining():
            return await self._program.conversing.look(self._program.caller, self._signal_id)

    async def answer(self) -> Answer:
        return await self._answer(await self.found())

    async def looks(self) -> AsyncGenerator[Look, None]:
        """A look now, and after each change, until it is over. Errors: as `found`."""
        rings, heard = self._listener(""), ""
        look = await self._look()
        while True:
            if look.answer.run != heard:
                rings, heard = self._listener(look.answer.run), look.answer.run
                look = await self._look()  # with what came before we listened
            yield self._with_live(look)
            if look.answer.is_over:
                return
            if await self._rung(rings, heard):
                look = await self._look()

    def _listener(self, run: str) -> Listener:
        topics = [rows_topic(run), live_topic(run)] if run else []
        return self._program.app.base.notifier.listen(room_topic(self._address), CLOSING_TOPIC, *topics)

    async def _rung(self, rings: Listener, run: str) -> bool:
        """Wait for the next reason to look; true if rows may have changed."""
        try:
            async with asyncio.timeout(LOOK_AGAIN.total_seconds()):
                topics = {await anext(rings), *rings.heard}
        except TimeoutError:
            topics = set()
        rings.forget()
        self._program.must_be_open()
        if topics == {live_topic(run)}:
            await asyncio.sleep(LIVE_FRAME.total_seconds())
            return False
        return True

    def _with_live(self, look: Look) -> Look:
        said = self._program.hearing.said(RunId(look.answer.run)) if look.answer.run else None
        is_ahead = said is not None and look.answer.state is FollowState.WORKING
        return Look(look.answer, look.calls, look.settled, said.text if said and is_ahead else "")

    async def _look(self) -> Look:
        answer = await self.answer()
        settled = await self._settled({one.id for one in answer.questions})
        return Look(answer, await self._calls(answer.run), settled)

    async def _calls(self, run: str) -> Sequence[tuple[StepRow, dict[str, Json]]]:
        row = await self._program.app.store.operations.run(RunId(run)) if run else None
        return [(step, object_in(step.arguments)) for step in row[1] if step.kind == TOOL_STEP] if row else ()

    async def _settled(self, asking: set[str]) -> Sequence[Decided]:
        """Ends of questions that were open at an earlier look."""
        self._asked |= asking
        for one in self._asked - asking - self._settled_ones.keys():
            row = await self._program.app.store.approvals.approval(ApprovalId(one))
            if row is not None and row.state is not ApprovalState.PENDING:
                self._settled_ones[one] = Decided(row.id, row.state, row.decided_name)
        return [*self._settled_ones.values()]

    async def _answer(self, found: Followed) -> Answer:
        store = self._program.app.store
        asked = [(one, await store.approvals.approval(ApprovalId(one.id))) for one in found.questions]
        return Answer(
            text=found.text,
            state=found.state,
            agent=found.agent or MAIN,
            id=found.id,
            run=found.run or "",
            error=found.error,
            files=tuple(self._artifact(found, one) for one in found.files),
            questions=tuple(Question.of(one, row) for one, row in asked),
            usage=Usage(found.model, found.input_tokens, found.output_tokens, found.cost_micros),
        )

    def _artifact(self, found: Followed, file: FileRef) -> Artifact:
        folders = self._program.context.folders(found.agent or MAIN)
        return Artifact(file.name, file.path, file.size, partial(folders.open, found.address, file.path))
