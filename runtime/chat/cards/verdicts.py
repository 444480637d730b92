"""Words for the model about a question that was settled. Pure."""

from __future__ import annotations

import json
from typing import Final

from runtime.chat.cards.card_facts import ANSWER_MAX_CHARS
from runtime.contract import (
    ApprovalKind,
    Asking,
    Choice,
)
from runtime.domain.approvals import Approval, ApprovalState, answer_of, told
from runtime.domain.transcript import CHANGED, DENIED, NO_ANSWER, NOT_RUN, OURS
from runtime.text.glyphs import bound, in_a_line

NOTE_MAX_CHARS: Final = 200
"""Of a call's arguments in a note for the model."""


def undo_note(approval: Approval, by: str, why_not: str = "", *, cut: bool = False) -> str:
    """Words for the model about an undo."""
    call = f"{approval.tool} {in_a_line(approval.arguments, NOTE_MAX_CHARS)}"
    if cut:
        return f"{OURS}{by} wanted to undo your call {call}. It was cut off: nobody knows whether it was undone."
    if why_not:
        return f"{OURS}{by} wanted to undo your call {call}. It was not undone: {why_not}"
    return f"{OURS}{by} undid your call {call}. Do not repeat it unless you are asked to."


def result_of(approval: Approval) -> str:
    """Words for the model about a call that will not run (again)."""
    if approval.kind is ApprovalKind.ANSWER:
        return _answer(approval)
    match approval.choice:
        case Choice.DONE:
            return f"The call was cut off. {approval.decided_name} says that it was carried out; its output is lost.{_why(approval)}"
        case Choice.SKIP:
            return f"The call was cut off and its outcome is unknown. {approval.decided_name} says to go on without it.{_why(approval)}"
        case None if approval.kind is ApprovalKind.OUTCOME:
            return f"The call was cut off and its outcome is unknown; nobody said what became of it.{_why(approval)}"
        case _:
            return f"{DENIED}{told(approval)}.{NOT_RUN}"


def _answer(approval: Approval) -> str:
    """Answer of a person as the result of the call that asked; their words stand in quotation marks, as JSON."""
    asking = Asking.from_json(approval.card)
    match approval.state:
        case ApprovalState.ANSWERED:
            said = answer_of(approval)
            more = f" They add: {_as_words(approval.reason)}" if approval.reason and said != approval.reason else ""
            return f"{approval.decided_name} answered: {_as_words(said)}{more}"
        case ApprovalState.EXPIRED:
            who = f"{asking.to} did not answer" if asking.to else "nobody answered"
            return f"{NO_ANSWER}{who} in time. Go on without it."
        case _:
            return f"{NO_ANSWER}the question was withdrawn{_why(approval)}."


def _as_words(text: str) -> str:
    return json.dumps(bound(text, ANSWER_MAX_CHARS), ensure_ascii=False)


def changed_call(approval: Approval) -> str:
    """Words for the model behind the result of a call that an approver changed."""
    return f"{CHANGED}{approval.decided_name} had it run with {approval.arguments}"


def _why(approval: Approval) -> str:
    return f" ({approval.reason})" if approval.reason else ""
