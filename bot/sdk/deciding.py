"""Decisions of a program about questions: yes, no, or in words."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Final

from bot.sdk.program import Program, declining
from bot.sdk.results import Question
from runtime.contract import ApprovalId, ApprovalKind, Choice
from runtime.domain.approvals import ApprovalState
from runtime.errors import Declined
from runtime.text.naming import folded

Said = bool | str
"""True lets a call run and false doesn't; words answer a question that the agent put, by one of its options or freely."""
Decide = Callable[[Question], Said | Awaitable[Said | None] | None]
"""A program's own answer to each question; None leaves it to people."""
LISTED_APPROVALS: Final = 200


async def settle(program: Program, question_id: str, kind: str, said: Said, reason: str = "") -> None:
    """Answer in the name of the program. Errors: Declined where it may not, or somebody was faster; AgentClosed."""
    program.must_be_open()
    with declining():
        if isinstance(said, bool):
            await program.operations.decide(question_id, Choice.APPROVE if said else Choice.DENY, reason)
        elif kind == ApprovalKind.ANSWER:
            await program.operations.decide(question_id, *await _in_words(program, question_id, said))
        else:
            await program.operations.decide(question_id, said, reason)


async def decided(program: Program, question: Question, decide: Decide) -> None:
    """Have `decide` say what becomes of a question; people may be faster. Errors: as of `settle`, and whatever `decide` raises."""
    answer = decide(question)
    said = await answer if inspect.isawaitable(answer) else answer
    if said is None:
        return
    try:
        await settle(program, question.id, question.kind, said)
    except Declined:
        row = await program.app.store.approvals.approval(ApprovalId(question.id))
        if row is None or row.state is ApprovalState.PENDING:
            raise


async def _in_words(program: Program, question_id: str, said: str) -> tuple[str, str]:
    """The option that is called so, else free words."""
    offered = (await program.operations.approval(question_id))["choices"]
    named = [choice for choice, label in offered.items() if folded(label) == folded(said)]
    return (named[0], "") if named else (Choice.TEXT, said)
