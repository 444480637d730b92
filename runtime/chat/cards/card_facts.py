"""Facts that a question keeps for its cards, and the words that all of them have. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from runtime.chat.cards.calls import ShownCall
from runtime.contract import (
    CHOICES,
    FORM_CHOICES,
    ApprovalKind,
    Asking,
    Choice,
    PersonId,
)
from runtime.domain.approvals import EVENT_OF, HEARD, OPTIONS, Approval, Home, offered
from runtime.text.glyphs import clip, legible, plainly
from runtime.text.words import marked, say

LABELS = {  # English everywhere: they are part of what people are told to press
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
SHA256_SHOWN: Final = 8
"""Characters of the hash on a card."""
REQUEST_MAX_CHARS: Final = 120
"""Of the line that led to a call."""
POINT: Final = "- "
"""Begins a point of a question."""
ANSWER_MAX_CHARS: Final = 3000
"""Of a person's answer, for the model and on the card."""


def name_in(arguments: str) -> str:
    """A name as the person gave it, which no mark-up in it can leave."""
    return f"`{json.loads(arguments)['name'].replace('`', chr(39)) or '-'}`"


def facts_in(arguments: str) -> str:
    return "\n".join(f"- {key}: `{str(value).replace('`', chr(39))}`" for key, value in json.loads(arguments).items())


WORK_KINDS: Final = ("workflow", "goal", "schedule")
"""Work that asks without a person's message."""
WORK_TITLES: Final = {
    "workflow": marked("the workflow {name}"),
    "goal": marked("the goal {name}"),
    "schedule": marked("the schedule {name}"),
}


def circumstances(
    room: str = "",
    schedule: str = "",
    home: Home = Home.WHOLE,
    told: Sequence[str] = (),
    link: str = "",
    away: Sequence[tuple[str, datetime]] = (),
    workflow: str = "",
    goal: str = "",
) -> str:
    """JSON for `Approval.card`: what people call the room, the schedule, workflow or goal that the run works for, whom it reaches, the link to the
    message that asked, and who is away."""
    how = "" if home is Home.WHOLE else home.value
    known: dict[str, Any] = {"room": room, "home": how, "asked": list(told), "link": link}
    known |= {"schedule": schedule, "workflow": workflow, "goal": goal}
    known["away"] = [[name, until.isoformat()] for name, until in away]
    return json.dumps(given, ensure_ascii=False) if (given := {k: v for k, v in known.items() if v}) else ""


def with_heard(card: str, people: Sequence[PersonId]) -> str:
    """Card facts with the people besides the requester whose words came into its run."""
    known: dict[str, Any] = json.loads(card) if card else {}
    return json.dumps(known | {HEARD: list(people)}, ensure_ascii=False) if people else card


def with_asking(card: str, asking: Asking) -> str:
    """Card facts with the question to a person."""
    known: dict[str, Any] = json.loads(card) if card else {}
    return json.dumps(known | asking.to_json(), ensure_ascii=False)


def frozen(card: str, call: ShownCall, arguments_hash: str) -> str:
    """Card facts with the call of this hash as it is shown."""
    known: dict[str, Any] = json.loads(card) if card else {}
    shown = {"call": call.text, "of": arguments_hash} | ({} if call.is_whole else {"part": True})
    return json.dumps(known | shown, ensure_ascii=False)


def asked_further(approval: Approval, names: Sequence[str]) -> Approval:
    """Approval that reaches these people and rooms too."""
    known = json.loads(approval.card) if approval.card else {}
    asked_all = list(dict.fromkeys([*known.get("asked", ()), *names]))
    return replace(
        approval, card=json.dumps(known | {"asked": asked_all}, ensure_ascii=False) if names else approval.card
    )


def home_of(approval: Approval) -> Home:
    """The form a question has in the room of its request."""
    return Home(json.loads(approval.card).get("home", Home.WHOLE)) if approval.card else Home.WHOLE


def request_line(said: str, by: str, requester: str) -> str:
    """One line of what was asked for; `by` whom, where it was not the requester."""
    words = " ".join(said.split())
    if not words:
        return ""
    quoted = say("“{text}”", text=clip(words, REQUEST_MAX_CHARS))
    return quoted if by == requester else f"{by}: {quoted}"


def about(approval: Approval) -> str:
    """The question in one line, on a surface that has no card."""
    if approval.kind is ApprovalKind.ANSWER:
        return " ".join(Asking.from_json(approval.card).question.split())
    return asked(approval.kind, approval.tool)


def call_in_words(approval: Approval) -> str:
    """The question to a person with its answers to choose from; of every other question the arguments."""
    if approval.kind is not ApprovalKind.ANSWER:
        return approval.arguments
    return asking_in_words(Asking.from_json(approval.card))


def posed(question: str, marks: str = "") -> str:
    """A question as its card has it: the first line within `marks`, points as a list, each further line on its own."""
    first, *rest = [line.strip() for line in question.splitlines() if line.strip()] or [""]
    told, before = f"{marks}{plainly(first)}{marks}", ""
    for line in rest:
        gap = "\n" if line.startswith(POINT) and before.startswith(POINT) else "\n\n"
        told += gap + (f"{POINT}{plainly(line.removeprefix(POINT))}" if line.startswith(POINT) else plainly(line))
        before = line
    return told


def asking_in_words(asking: Asking) -> str:
    """The question in one line, with the answers to choose from in brackets."""
    question = " ".join(asking.question.split())
    return f"{question} ({' / '.join(asking.options)})" if asking.options else question


def labels_of(approval: Approval) -> dict[Choice, str]:
    """Choices that answer it, and the label of each."""
    if approval.kind is ApprovalKind.ANSWER:
        options = dict(zip(OPTIONS, Asking.from_json(approval.card).options, strict=False))
        return {**options, Choice.TEXT: LABELS[Choice.TEXT]}
    more = (choice for choice in offered(approval) if choice not in FORM_CHOICES)
    return {choice: LABELS[choice] for choice in (*CHOICES[approval.kind], *more) if choice in EVENT_OF}


def asked(kind: ApprovalKind, tool: str) -> str:
    """The question about a call of `tool`, on every surface that shows it."""
    return (
        say("May I run {tool}?", tool=tool)
        if kind is ApprovalKind.CALL
        else say("{tool} was cut off. Did it finish?", tool=tool)
    )


def whom_for(approval: Approval, asking: Asking) -> str:
    """The person a question is for, and the request or schedule it came from."""
    known = json.loads(approval.card) if approval.card else {}
    whom = say("A question for {to}", to=plainly(asking.to)) if asking.to else say("A question for anybody here")
    where = say(" in {room}", room=plainly(known["room"])) if "room" in known else ""
    if any(kind in known for kind in WORK_KINDS):
        return say("{whom}, from {known}{where}", whom=whom, known=work_of(known), where=where)
    by = approval.requester_name
    about = say(", about {by}'s request", by=plainly(by)) if by and by != asking.to else ""
    return f"{whom}{about}{where}"


def work_of(known: Mapping[str, Any]) -> str:
    """Work by the clock or of several steps that asks, for a sentence."""
    kind = next(one for one in WORK_KINDS if one in known)
    return say(WORK_TITLES[kind], name=plainly(known[kind]))


def quoted(text: str) -> str:
    return "\n".join(f"> {legible(line)}".rstrip() for line in text.splitlines())
