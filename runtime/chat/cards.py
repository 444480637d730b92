"""Words of an approval card, asked and settled. Pure text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from runtime.contract import CHOICES, ApprovalId, ApprovalKind, Button, Choice, Content
from runtime.domain.approvals import Approval, ApprovalState, told
from runtime.domain.transcript import DENIED, NOT_RUN
from runtime.markup.moments import moment
from runtime.text.glyphs import in_full

LABELS = {
    Choice.APPROVE: "Approve",
    Choice.DENY: "Deny",
    Choice.DONE: "It was done",
    Choice.AGAIN: "Run again",
    Choice.SKIP: "Skip it",
    Choice.USER: "As user",
    Choice.NO: "No",
    Choice.OTHER: "Other role…",
    Choice.VIEWER: "As viewer",
    Choice.OPERATOR: "As operator",
    Choice.CONVERSATION: "This conversation",
    Choice.ALWAYS: "Always…",
    Choice.EDIT: "Edit…",
    Choice.ALL: "Approve all",
    Choice.WHY: "Why?",
    Choice.UNDO: "Undo",
    Choice.FIRST: "Answer 1",
    Choice.SECOND: "Answer 2",
    Choice.THIRD: "Answer 3",
    Choice.FOURTH: "Answer 4",
    Choice.TEXT: "Answer…",
}
LET_IN: Final = (Choice.USER, Choice.NO, Choice.OTHER)
ROLES: Final = (Choice.USER, Choice.VIEWER, Choice.OPERATOR, Choice.NO)
ENDED = {
    ApprovalState.APPROVED: "Approved",
    ApprovalState.DENIED: "Denied",
    ApprovalState.ANSWERED: "Answered",
    ApprovalState.EXPIRED: "Expired",
    ApprovalState.VOID: "Withdrawn",
}


def stranger(approval_id: ApprovalId, arguments: str, choices: Sequence[Choice] = LET_IN) -> Content:
    """The card about somebody nobody knows."""
    buttons = tuple(Button(approval_id, choice, LABELS[choice]) for choice in choices)
    return Content(f"**Let {_name(arguments)} in?**\n\n{_facts(arguments)}", buttons)


def _stranger_settled(approval: Approval) -> Content:
    if approval.state is ApprovalState.APPROVED:
        how = f"Let in as {approval.choice}" if approval.choice else "Let in"
    else:
        how = "Not let in" if approval.state is ApprovalState.DENIED else ENDED[approval.state]
    why = f"\n\n{_quoted(approval.reason)}" if approval.reason else ""
    return Content(f"**{how}**{_by(approval)}: {_name(approval.arguments)}\n\n{_facts(approval.arguments)}{why}")


def _name(arguments: str) -> str:
    """A name as the person gave it, which no mark-up in it can leave."""
    return f"`{json.loads(arguments)['name'].replace('`', chr(39)) or '-'}`"


def _facts(arguments: str) -> str:
    return "\n".join(f"- {key}: `{str(value).replace('`', chr(39))}`" for key, value in json.loads(arguments).items())


def question(approval_id: ApprovalId, kind: ApprovalKind, tool: str, arguments: str, caution: str) -> Content:
    """The card with its buttons."""
    head = f"**{asked(kind, f'`{tool}`')}**"
    if kind is not ApprovalKind.CALL:
        head += " I do not know, so I have not run it again."
    buttons = tuple(Button(approval_id, choice, LABELS[choice]) for choice in CHOICES[kind])
    return Content("\n\n".join(filter(None, [head, shown_arguments(arguments), caution])), buttons)


def asked(kind: ApprovalKind, tool: str) -> str:
    """The question about a call of `tool`, on every surface that shows it."""
    return f"May I run {tool}?" if kind is ApprovalKind.CALL else f"{tool} was cut off. Was it carried out?"


def settled(approval: Approval) -> Content:
    """The card after it was decided: who, what, when, and no buttons."""
    if approval.kind is ApprovalKind.PERSON:
        return _stranger_settled(approval)
    answer = f": {LABELS[approval.choice]}" if approval.state is ApprovalState.ANSWERED and approval.choice else ""
    why = f"\n\n{_quoted(approval.reason)}" if approval.reason else ""
    call = f"`{approval.tool}`"
    about = asked(approval.kind, call) if approval.kind is ApprovalKind.OUTCOME else call
    head = f"**{ENDED[approval.state]}{answer}**{_by(approval)}: {about}"
    return Content(f"{head}\n\n{shown_arguments(approval.arguments)}{why}")


def _by(approval: Approval) -> str:
    when = f", {moment(approval.decided_at)}" if approval.decided_at else ""
    return f" by {approval.decided_name}{when}" if approval.decided_name else when


def result_of(approval: Approval) -> str:
    """Words for the model about a call that will not run (again)."""
    match approval.choice:
        case Choice.DONE:
            return f"The call was cut off. {approval.decided_name} says that it was carried out; its output is lost.{_why(approval)}"
        case Choice.SKIP:
            return f"The call was cut off and its outcome is unknown. {approval.decided_name} says to go on without it.{_why(approval)}"
        case None if approval.kind is ApprovalKind.OUTCOME:
            return f"The call was cut off and its outcome is unknown; nobody said what became of it.{_why(approval)}"
        case _:
            return f"{DENIED}{told(approval)}.{NOT_RUN}"


def shown_arguments(arguments: str) -> str:
    """Arguments in a block, as people read them."""
    return _block(*in_full(arguments))


def _block(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _why(approval: Approval) -> str:
    return f" ({approval.reason})" if approval.reason else ""
