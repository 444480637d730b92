"""One piece of work that a program asked for: followed, decided about, waited for and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from bot.doors.conversing import TakenIn
from bot.sdk.deciding import Decide, Said, decided, settle
from bot.sdk.events import Event, Telling
from bot.sdk.following import Following
from bot.sdk.program import Program, declining
from bot.sdk.results import Answer, Question
from runtime.contract import Outcome, Role, RunId
from runtime.domain.programs.followed import Followed, FollowState
from runtime.errors import Declined, RunFailed

if TYPE_CHECKING:
    from bot.sdk.session import Session

FAILED_STATES: Final = frozenset({FollowState.FAILED, FollowState.STOPPED, FollowState.REFUSED})
RUN_ENDED_WORDS: Final = {
    FollowState.FAILED: "The run failed.",
    FollowState.STOPPED: "The run was stopped.",
    FollowState.REFUSED: "The message was refused.",
}
STILL_AT_WORK: Final = "No answer within {seconds:g} s. The run goes on: wait for it again, or ask with the same key later, which asks nothing twice."
NOTHING_SUCH: Final = (
    "This run doesn't wait for the question {id}. Its open ones are in `(await run.look()).questions`."
)


class Run:
    """Work on one message. `id` is the message's, by which it stays the same over every restart.

    Each way of following it begins at its start, so that several may. Nothing of it is lost if nobody does.
    """

    def __init__(self, program: Program, session: Session, taken: TakenIn, *, key: str) -> None:
        self.id = taken.id
        self.key = key
        self.outcome = taken.outcome
        self.notice = taken.notice
        self.session = session
        self._program = program
        self._following = Following(program, taken.id, session.address)

    @property
    def repeated(self) -> bool:
        """True for a key that was used before: nothing happened twice."""
        return self.outcome is Outcome.DUPLICATE

    def __aiter__(self) -> AsyncIterator[Event]:
        return self.events()

    async def events(self) -> AsyncGenerator[Event, None]:
        """Its events from the first on, until it is over. Errors: AgentClosed, Declined, StoreError."""
        telling = Telling()
        async with aclosing(self._following.looks()) as looks:
            async for look in looks:
                for event in telling.news(look):
                    yield event

    async def look(self) -> Answer:
        """The answer as it stands now."""
        return await self._following.answer()

    async def wait(self, *, decide: Decide | None = None, timeout: float | timedelta | None = None) -> Answer:  # noqa: ASYNC109 - a program's own word for it
        """The answer, once it is over. Questions are answered by `decide`, else people answer them.

        Errors: RunFailed where it ended without an answer; TimeoutError after that many seconds, and the run goes on.
        """
        return await self._awaited(decide, timeout, stops_at_questions=False)

    async def answered(self, *, decide: Decide | None = None, timeout: float | timedelta | None = None) -> Answer:  # noqa: ASYNC109 - as of `wait`
        """As `wait`, and also once people are asked: then the answer has `questions`."""
        return await self._awaited(decide, timeout, stops_at_questions=decide is None)

    async def approve(self, question: Question | str, reason: str = "") -> None:
        """Let the call run, in the name of this program. Errors: Declined where it may not, or somebody was faster."""
        await self.decide(question, True, reason)

    async def deny(self, question: Question | str, reason: str = "") -> None:
        """Keep the call from running; the model reads the reason. Errors: as of `approve`."""
        await self.decide(question, False, reason)

    async def decide(self, question: Question | str, said: Said, reason: str = "") -> None:
        """Answer: true or false about a call, words for a question in words, or a word that its card offers, such as "skip".

        Errors: as of `approve`.
        """
        wanted = question if isinstance(question, str) else question.id
        asked = next((one for one in (await self.look()).questions if one.id == wanted), None)
        if asked is None:
            raise Declined(NOTHING_SUCH.format(id=wanted), status=409)
        await settle(self._program, asked.id, asked.kind, said, reason)

    async def stop(self) -> None:
        """End it; what is over stays as it is. Errors: Declined, StoreError."""
        found = await self._following.found()
        if found.state.is_over:
            return
        try:
            with declining():
                await self._stopped(found)
        except Declined:
            if not (await self.look()).is_over:  # it came to its end just now
                raise

    async def _stopped(self, found: Followed) -> None:
        if found.run and self._program.caller.role >= Role.OPERATOR:
            await self._program.operations.stop_run(RunId(found.run))
        else:  # what this program asked for in the conversation
            key = self._program.context.new_id()
            await self._program.conversing.stop(self._program.caller, self.session.name, key)

    async def _awaited(
        self, decide: Decide | None, within: float | timedelta | None, *, stops_at_questions: bool
    ) -> Answer:
        async with patience(within):
            return await self._until_over(decide, stops_at_questions=stops_at_questions)

    async def _until_over(self, decide: Decide | None, *, stops_at_questions: bool) -> Answer:
        answer, seen = await self.look(), set[str]()
        async with aclosing(self._following.looks()) as looks:
            async for look in looks:
                answer = look.answer
                if stops_at_questions and answer.questions:
                    return answer
                for question in answer.questions:
                    if decide and question.id not in seen:
                        seen.add(question.id)
                        await decided(self._program, question, decide)
        if answer.state in FAILED_STATES:
            words = answer.error or answer.text or RUN_ENDED_WORDS[answer.state]
            raise RunFailed(words, state=answer.state.value, run=answer.run)
        return answer


@asynccontextmanager
async def patience(within: float | timedelta | None) -> AsyncIterator[None]:
    """Bound a wait. Errors: TimeoutError with words, where it is this bound that is over."""
    seconds = within.total_seconds() if isinstance(within, timedelta) else within
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise TimeoutError(STILL_AT_WORK.format(seconds=seconds or 0)) from error
