"""Forms behind the buttons of a card, made from its question. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from runtime.chat.cards import listing
from runtime.chat.cards.exchanges import PLAIN_QUESTION, QUESTION_MAX_CHARS, used_up
from runtime.chat.views import grants as grant_views
from runtime.contract import REASON, REASON_MAX_CHARS, Asking, Choice, Field, Form, Json
from runtime.domain.approvals import Approval
from runtime.text.glyphs import clip, length_meant, meant, visible
from runtime.text.words import count, marked, say

ARGUMENT: Final = "argument"
"""The field for the only argument of a call, where that is a text."""
ARGUMENTS: Final = "arguments"
CALL_MAX_CHARS: Final = 60
OPTIONS_MAX: Final = 100
"""Choices of a list in a form of Slack's; the number of a call may be typed too."""
ARGUMENTS_MAX_CHARS: Final = 100_000
QUESTION: Final = "question"
"""The field for what an approver asks the agent."""
CALL: Final = "call"
"""The field for one of the calls of a list."""
TOO_LONG: Final = marked("This is too long: at most {number} characters.")
OTHER_CALL: Final = marked("The call has changed in the meantime. Please open the form again.")
AGENTS_QUESTION_MAX_CHARS: Final = 300
"""Of the agent's question, above the field for its answer; the card has all of it."""
NO_FORM: Final = marked("There's nothing to fill in here.")


def denial(approval: Approval) -> Form:
    """The reason for a denial."""
    hint = say("What should I do instead?")
    field = Field(REASON, say("Why not? I'll read your reason."), hint=hint, lines=True, most=REASON_MAX_CHARS)
    return Form(approval.as_shown, Choice.DENY, "Deny", (field,), send="Deny with this reason")


def edit(approval: Approval) -> Form:
    """The call, to be changed: the one text it has, or all of its arguments as JSON. Of a long list, which one it is."""
    if which := _which(approval):
        note = say("It gets a card of its own, where you can edit it. The others stay on the list.")
        return Form(approval.as_shown, Choice.EDIT, say("Edit one of these calls"), which, note, say("Choose"))
    text = _lone(approval.arguments)
    if text is None:
        shown, label = visible(readable(approval.arguments)), say("Arguments, as JSON")
        field = Field(ARGUMENTS, label, shown, lines=True, most=ARGUMENTS_MAX_CHARS)
    else:
        name = next(iter(json.loads(approval.arguments)))
        field = Field(ARGUMENT, name.capitalize(), visible(text), lines=True, most=ARGUMENTS_MAX_CHARS)
    return Form(
        approval.as_shown,
        Choice.EDIT,
        say("Edit {tool}", tool=approval.tool),
        (field,),
        say("It runs exactly as you write it."),
        "Approve this",
    )


def changed_arguments(approval: Approval, values: Mapping[str, str]) -> Mapping[str, Json] | str:
    """Arguments that were typed into the form, or what is wrong with them. Codes are read as what they stand for."""
    if any(length_meant(text) > ARGUMENTS_MAX_CHARS for text in values.values()):
        return say(TOO_LONG, number=count(ARGUMENTS_MAX_CHARS))
    typed = {name: meant(text).replace("\r\n", "\n") for name, text in values.items()}
    if ARGUMENT in typed and _lone(approval.arguments) is not None:
        arguments: Json = dict.fromkeys(json.loads(approval.arguments), typed[ARGUMENT])
    elif ARGUMENTS in typed:
        try:
            arguments = json.loads(typed[ARGUMENTS], parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            return say("This isn't valid JSON: {error}.", error=error)
    else:
        return say(OTHER_CALL)
    if not isinstance(arguments, dict):
        return say("The arguments must be a JSON object of names and values.")
    return _fault(approval, arguments) or arguments


def _fault(approval: Approval, arguments: Mapping[str, Json]) -> str:
    text = written(arguments)
    if len(text) > ARGUMENTS_MAX_CHARS:
        return say(TOO_LONG, number=count(ARGUMENTS_MAX_CHARS))
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return say("This contains a broken character. Please type it again.")
    if arguments == json.loads(approval.arguments or "{}"):
        return say("You haven't changed anything. To run it as it is, approve it.")
    return ""


def written(arguments: Mapping[str, Json]) -> str:
    """Arguments as they are kept."""
    return json.dumps(arguments, ensure_ascii=False)


def _lone(arguments: str) -> str | None:
    """The text of a call that has no other argument."""
    try:
        known = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    values = list(known.values()) if isinstance(known, dict) else []
    return values[0] if len(values) == 1 and isinstance(values[0], str) else None


def readable(arguments: str) -> str:
    """Arguments as JSON that people can change."""
    try:
        return json.dumps(json.loads(arguments or "{}"), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return arguments


def _no_number(name: str) -> Json:
    raise ValueError(say("{name} isn't a number", name=name))


def _which(lead: Approval) -> tuple[Field, ...]:
    """A field for one of the calls that a card lists, where these have no buttons of their own."""
    calls = listing.listed_on(lead) if lead.lead == lead.id else []
    if len(calls) <= listing.EACH_MAX:
        return ()
    told = tuple(f"{number}. {clip(one.tool, CALL_MAX_CHARS)}" for number, one in enumerate(calls, 1))
    hint = say("The number of the call on the card, 1 to {calls}", calls=len(calls))
    return (Field(CALL, say("Which call?"), told[0], hint, options=told if len(told) <= OPTIONS_MAX else (), most=80),)


def why(approval: Approval) -> Form | str:
    """A question for the agent about its call; words where it was asked often enough."""
    field = Field(
        QUESTION, say("Your question"), hint=say(PLAIN_QUESTION), lines=True, optional=True, most=QUESTION_MAX_CHARS
    )
    note = say(
        "The agent answers beneath the card, and the call waits. A “?” alone asks: {question}",
        question=say(PLAIN_QUESTION),
    )
    asking = Form(approval.as_shown, Choice.WHY, say("Ask the agent"), (*_which(approval), field), note, say("Ask"))
    return used_up(approval.card) or asking


def answer(approval: Approval) -> Form:
    """Words in answer to a question of the agent's."""
    question = clip(" ".join(Asking.from_json(approval.card).question.split()), AGENTS_QUESTION_MAX_CHARS)
    field = Field(REASON, question, hint=say("I'll read what you write."), lines=True, most=REASON_MAX_CHARS)
    return Form(approval.id, Choice.TEXT, "Answer", (field,))


FORMS: Final[Mapping[Choice, Callable[[Approval], Form | str]]] = {
    Choice.DENY: denial,
    Choice.EDIT: edit,
    Choice.ALWAYS: grant_views.form,
    Choice.WHY: why,
    Choice.TEXT: answer,
}
"""The form of each choice that has one."""


def form_of(approval: Approval, choice: Choice) -> Form | str:
    """The form behind a button; words where there is none."""
    make = FORMS.get(choice)
    return make(approval) if make else say(NO_FORM)
