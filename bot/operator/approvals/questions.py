"""Questions to people about calls: looked at, answered and asked back by an operator."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from bot.accounts.naming import Named
from bot.operator.lookups import finding
from bot.operator.partial_api import PartialApi, by_role, word_of
from bot.operator.views import View, at
from runtime.chat.cards.card_facts import about, call_in_words, labels_of, whom_for
from runtime.chat.cards.exchanges import Exchange, exchanges
from runtime.chat.cards.settled_cards import call_of
from runtime.chat.forms import ARGUMENTS, QUESTION, readable
from runtime.chat.views.grants import form
from runtime.contract import ApprovalId, ApprovalKind, Asking, Choice, Outcome, Verdict
from runtime.domain.approvals import REVISION, Approval, ApprovalState, choices, offered
from runtime.http import bodies
from runtime.http.errors import Refusal
from runtime.text.glyphs import in_full, visible
from runtime.text.naming import folded
from runtime.text.words import listed, marked, say
from runtime.timeline.trail import Thing

ORDERS: Final = ("", "newest", "oldest")
LOOKED_THROUGH: Final = 2_000
"""Questions among which those of one person are looked for."""
CHANGED: Final = marked("This call has changed in the meantime. Look at it again, and answer {id}.")
NO_APPROVAL: Final = marked("There is no approval {id}.")


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
            raise Refusal(404, say(NO_APPROVAL, id=approval_id))
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
            raise Refusal(409, verdict.notice or say("Nothing was asked."))
        return await self._approval(asked)

    async def _answer(self, approval_id: str, answer: View) -> View:
        answered, verdict = await self._pressed(approval_id, answer)
        if verdict.outcome is not Outcome.DECIDED:
            raise Refusal(409, verdict.notice or say("Nothing has changed."))
        return await self._approval(answered)

    async def _pressed(self, approval_id: str, answer: View) -> tuple[ApprovalId, Verdict]:
        approval_id, mark, revision = approval_id.partition(REVISION)
        approval_id = await self._meant(approval_id, Thing.APPROVAL, state=ApprovalState.PENDING)
        question = await self._store.approvals.approval(ApprovalId(approval_id))
        if question is None:
            raise Refusal(404, say(NO_APPROVAL, id=approval_id))
        if not revision and question.asked_arguments and question.state is ApprovalState.PENDING:
            raise Refusal(409, say(CHANGED, id=question.as_shown))
        answer = {**answer, "choice": finding.answer(question, answer["choice"])}
        click = bodies.clicked(f"{question.id}{mark}{revision}", answer)
        return question.id, await self._context.sink(self._signal(question.address, click, self._context.new_id()))

    async def _approval(self, approval_id: ApprovalId) -> View:
        row = await self._store.approvals.approval(approval_id)
        if row is None:
            raise Refusal(404, say(NO_APPROVAL, id=approval_id))
        return await self._question(row)

    async def _question(self, row: Approval) -> View:
        """A question, with the votes so far where it waits for several people."""
        waits = row.state is ApprovalState.PENDING and row.terms.quorum > 1
        voted = await self._store.approvals.approved_by(row, self._context.rights()) if waits else ()
        return approval_view(row, *self._names, voted)


def approval_view(row: Approval, named: Named, called: Named, voted: Sequence[str] = ()) -> View:
    """With `choices`: what may be answered, and the label of each. `shown` is the call as its card has it, in Markdown.

    `words` is the call in short, or the question to a person with its answers.
    """
    shown, is_whole = _shown(row)
    words = call_in_words(row)
    return {
        "id": row.id,
        "kind": row.kind,
        "state": row.state,
        "run": row.run_id,
        "agent": row.session.partition("|")[0],
        "address": named(row.address),
        "room": called(row.address),
        "question": _question(row),
        "tool": row.tool,
        "effect": row.effect,
        "arguments": row.arguments,
        "words": words,
        "call": in_full(words)[0],
        "shown": shown,
        "all_shown": is_whole,
        "sha256": row.arguments_hash,
        "asked_arguments": row.asked_arguments,
        "as_shown": row.as_shown,
        "caution": row.caution,
        "requester": row.requester_name,
        "votes": _votes(row, voted) if row.state is ApprovalState.PENDING else "",
        "rule": row.terms.rule,
        "rule_reason": row.terms.reason,
        "asked_at": at(row.asked_at),
        "expires_at": at(row.expires_at),
        "choices": {choice.value: label for choice, label in labels_of(row).items()},
        "editable": Choice.EDIT in choices(row),
        "edited": visible(readable(row.arguments)) if Choice.EDIT in choices(row) else "",
        "always": [asdict(field) for field in form(row).fields] if Choice.ALWAYS in offered(row) else [],
        "askable": Choice.WHY in choices(row) and row.state is ApprovalState.PENDING,
        "asked_back": [_exchange(one) for one in exchanges(row.card)],
        "choice": row.choice,
        "decided_by": row.decided_name,
        "decided_at": at(row.decided_at),
        "reason": row.reason,
    }


def _shown(row: Approval) -> tuple[str, bool]:
    """The call as its card has it, and whether that is all of it; of a question to a person whom it is for."""
    if row.kind is ApprovalKind.ANSWER:
        return whom_for(row, Asking.from_json(row.card)), True
    return call_of(row)


def _votes(row: Approval, voted: Sequence[str]) -> str:
    """The votes so far, as the card tells them; empty where one person is enough."""
    if row.terms.quorum < 2:
        return ""
    wanted = row.terms.quorum
    if voted:
        return say("{names} approved: {number} of {wanted}.", names=listed(voted), number=len(voted), wanted=wanted)
    return say("{number} people must approve this.", number=wanted)


def _exchange(one: Exchange) -> View:
    """A question of an approver, with the agent's answer, or why there is none."""
    return {"by": one.by, "question": one.question, "answer": one.answer, "failed": one.failed}


def _question(row: Approval) -> str:
    if row.kind is ApprovalKind.PERSON:
        return say("Let {name} in?", name=json.loads(row.arguments)["name"])
    return about(row)
