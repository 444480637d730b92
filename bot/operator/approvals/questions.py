"""Questions to people about calls: looked at, answered and asked back by an operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bot.operator import views
from bot.operator.lookups import finding
from bot.operator.partial_api import PartialApi, by_role, word_of
from bot.operator.views import View
from runtime.chat.forms import ARGUMENTS, QUESTION
from runtime.contract import ApprovalId, Choice, Outcome, Verdict
from runtime.domain.approvals import REVISION, Approval, ApprovalState
from runtime.http import bodies
from runtime.http.errors import Refusal
from runtime.text.naming import folded
from runtime.timeline.trail import Thing

ORDERS: Final = ("", "newest", "oldest")
LOOKED_THROUGH: Final = 2_000
"""Questions among which those of one person are looked for."""
CHANGED: Final = "This call has changed in the meantime. Look at it again, and answer {}."


@by_role
class QuestionsApi(PartialApi):
    """Questions to people, and their answers."""

    async def approvals(
        self, state: str = "", limit: int = 100, room: str = "", person: str = "", order: str = ""
    ) -> list[View]:
        """Newest first, or with `order` "oldest" the other way; with `person` those whose requester is called so."""
        if order not in ORDERS:
            raise Refusal(400, f'"{order}" isn\'t a sort order. Use one of: {", ".join(filter(None, ORDERS))}.')
        rows = await self._store.approvals.approvals(
            state=word_of(ApprovalState, state),
            room=await self._room_meant(room),
            limit=LOOKED_THROUGH if person else limit,
            oldest=order == "oldest",
        )
        found = [row for row in rows if not person or folded(row.requester_name) == folded(person)]
        return await self._entitled([await self._question(row) for row in found[:limit]])

    async def approval(self, approval_id: str) -> View:
        """One question, with the names of the person whose request led to it, and of the rule that asked."""
        approval_id = await self._meant(approval_id, Thing.APPROVAL)
        row = await self._store.approvals.approval(ApprovalId(approval_id))
        if row is None:
            raise Refusal(404, f"There is no approval {approval_id}.")
        known = next((one for one in await self._store.people.people() if one.person.id == row.requester), None)
        names = {known.person.name, *known.identities} if known else set()
        view = await self._one_entitled(await self._question(row))
        requester = known.person.name if known else row.requester_name
        return {**view, "requester": requester, "requester_names": sorted(names)}

    async def decide(self, approval_id: str, choice: str, reason: str = "") -> View:
        """Answer a question; the same transaction as a click in its room."""
        return await self._answer(approval_id, {"choice": choice, "reason": reason})

    async def edit(self, approval_id: str, arguments: str) -> View:
        """Approve a call with other arguments (JSON), or with another text where that is all it has."""
        return await self._answer(approval_id, {"choice": Choice.EDIT.value, "values": {ARGUMENTS: arguments}})

    async def always(self, approval_id: str, fields: Mapping[str, Any]) -> View:
        """Approve a call and later ones like it: `fields` are those of the form behind “Always…”."""
        return await self._answer(approval_id, {"choice": Choice.ALWAYS.value, "values": dict(fields)})

    async def ask_back(self, approval_id: str, question: str = "") -> View:
        """Ask the agent about a call that waits; its answer comes with the question's `asked_back`."""
        asked, verdict = await self._pressed(approval_id, {"choice": Choice.WHY.value, "values": {QUESTION: question}})
        if verdict.form_stays:
            raise Refusal(409, verdict.notice or "Nothing was asked.")
        return await self._approval(asked)

    async def _answer(self, approval_id: str, answer: View) -> View:
        answered, verdict = await self._pressed(approval_id, answer)
        if verdict.outcome is not Outcome.DECIDED:
            raise Refusal(409, verdict.notice or "Nothing has changed.")
        return await self._approval(answered)

    async def _pressed(self, approval_id: str, answer: View) -> tuple[ApprovalId, Verdict]:
        approval_id, mark, revision = approval_id.partition(REVISION)
        approval_id = await self._meant(approval_id, Thing.APPROVAL, state=ApprovalState.PENDING)
        question = await self._store.approvals.approval(ApprovalId(approval_id))
        if question is None:
            raise Refusal(404, f"There is no approval {approval_id}.")
        if not revision and question.asked_arguments and question.state is ApprovalState.PENDING:
            raise Refusal(409, CHANGED.format(question.as_shown))
        answer = {**answer, "choice": finding.answer(question, answer["choice"])}
        click = bodies.clicked(f"{question.id}{mark}{revision}", answer)
        return question.id, await self._context.sink(self._signal(question.address, click, self._context.new_id()))

    async def _approval(self, approval_id: ApprovalId) -> View:
        row = await self._store.approvals.approval(approval_id)
        if row is None:
            raise Refusal(404, f"There is no approval {approval_id}.")
        return await self._question(row)

    async def _question(self, row: Approval) -> View:
        """A question, with the votes so far where it waits for several people."""
        waits = row.state is ApprovalState.PENDING and row.terms.quorum > 1
        voted = await self._store.approvals.approved_by(row, self._context.rights()) if waits else ()
        return views.approval(row, *self._names, voted)
