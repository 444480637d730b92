"""Calls that the steps of a workflow are made of, and what their results say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from runtime.contract import Call, Json
from runtime.domain.change_digest import has_failed
from runtime.domain.transcript import ERROR, NO_ANSWER
from runtime.domain.workflows.definition import Step, StepKind
from runtime.domain.workflows.expressions import filled, text_of
from runtime.domain.workflows.progress import Result, Wanted
from runtime.text.outside import unfenced

BEGIN: Final = "workflow_begin"
"""The call by which a workflow is frozen: its arguments are what the run goes by from then on."""
BEGIN_ID: Final = "begin"
PAUSE: Final = "wait_until"
AWAIT_EVENT: Final = "wait_for_event"
DELEGATE: Final = "delegate"
ASK: Final = "ask_person"
POST: Final = "channel_send"
BEFORE_ANSWER: Final = " answered: "
SECONDS_A_MINUTE: Final = 60


def call_of(wanted: Wanted) -> Call:
    """The call of a step. Errors: ExpressionError for values that are not there."""
    step, values = wanted.step, wanted.values
    tool, arguments = step.text, filled(dict(step.arguments), values)
    if step.kind is not StepKind.TOOL:
        tool, arguments = AWAIT_EVENT if step.event else TOOLS[step.kind], _arguments(step, values)
    return Call(wanted.id, tool, json.dumps(arguments, ensure_ascii=False))


TOOLS: Final[Mapping[StepKind, str]] = {
    StepKind.PROMPT: DELEGATE,
    StepKind.DELEGATE: DELEGATE,
    StepKind.ASK: ASK,
    StepKind.WAIT: PAUSE,
    StepKind.POST: POST,
}
"""Tools by which the kinds of steps are done; that of a call it names itself."""


def _arguments(step: Step, values: Mapping[str, Any]) -> dict[str, Json]:
    words, to = (text_of(text, values).strip() for text in (step.text, step.to))
    match step.kind:
        case StepKind.PROMPT | StepKind.DELEGATE:
            minutes = max(1, -(-step.seconds // SECONDS_A_MINUTE))
            return {"goal": words, "agent": to, "schema": dict(step.schema) or None, "minutes": minutes}
        case StepKind.ASK:
            options: list[Json] = [text_of(one, values).strip() for one in step.options]
            return {"question": words, "options": options or None, "to": to}
        case StepKind.POST:
            return {"to": to or "here", "text": words}
        case StepKind.WAIT if step.event:
            watched: list[Json] = [text_of(one, values).strip() for one in step.words]
            return {"time": words, "event": step.event, "words": watched, "room": to}
        case _:
            return {"time": words}


def result_of(call: Call, text: str) -> Result:
    """The result of a call as the steps behind it read it: without the fence, and without the name of who answered."""
    failed = has_failed(text) or text.startswith(NO_ANSWER)
    plain = unfenced(text).removeprefix(ERROR).lstrip() if failed else unfenced(text)
    if call.tool == DELEGATE and not failed:
        plain = unfenced(text.partition("\n")[2])
    if call.tool == ASK and not failed:
        plain = answer_in(plain)
    return Result(plain, failed)


def answer_in(text: str) -> str:
    """The words of whoever answered, which stand as JSON behind their name.

    >>> answer_in('Anna answered: "Yes" They add: "soon"')
    'Yes'
    """
    said = text.partition(BEFORE_ANSWER)[2]
    try:
        return str(json.JSONDecoder().raw_decode(said)[0])
    except ValueError:
        return text
