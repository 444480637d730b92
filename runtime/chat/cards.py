"""Words of an approval card, asked and settled. Pure text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from runtime.chat import offers
from runtime.chat.calls import ShownCall, shown_call, whole_call
from runtime.chat.remarks import remarks
from runtime.contract import (
    CHOICES,
    FORM_CHOICES,
    Address,
    ApprovalId,
    ApprovalKind,
    Asking,
    Button,
    Choice,
    Content,
    Mark,
    Mention,
    PersonId,
    Whole,
)
from runtime.domain.approvals import EVENT_OF, HEARD, OPTIONS, Approval, ApprovalState, Home, answer_of, offered, told
from runtime.domain.ids import digest
from runtime.domain.transcript import CHANGED, DENIED, ERROR, NO_ANSWER, NOT_RUN, OURS
from runtime.markup.moments import briefly, moment, several
from runtime.text.glyphs import bound, clip, fenced, in_a_line, legible, plainly, visible
from runtime.text.naming import listed

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
FURTHER: Final = {Choice.CONVERSATION: " for this conversation", Choice.ALWAYS: " from now on"}
"""Words about a yes that holds for more than its call."""
MARKS: Final = {
    ApprovalState.APPROVED: Mark.YES,
    ApprovalState.DENIED: Mark.NO,
    ApprovalState.ANSWERED: Mark.YES,
    ApprovalState.EXPIRED: Mark.NOBODY,
    ApprovalState.VOID: Mark.WITHDRAWN,
}
SHA256_SHOWN: Final = 8
"""Characters of the hash on a card."""
NOBODY_HERE: Final = "Nobody here can answer this. An operator can, on the console."
NOBODY_REACHED: Final = (
    "I can't privately reach anybody who can decide this. They can send me `/approvals` in a private chat; "
    "operators can also use the console."
)
REQUEST_MAX_CHARS: Final = 120
"""Of the line that led to a call."""
LINES_SHOWN: Final = 3
"""Of what an approved call returned."""
LINE_MAX_CHARS: Final = 120
LABEL_MAX_CHARS: Final = 60
"""Of an answer on a button. The least that a channel shows is 64, in UTF-16 units; it stands in full above where it is cut."""
ANSWER_MAX_CHARS: Final = 3000
"""Of a person's answer, for the model and on the card."""
NOTE_MAX_CHARS: Final = 200
"""Of a call's arguments in a note for the model."""
EXIT_CODE: Final = re.compile(r"\n?\[(?:no output, )?exit code (\d+)(?: \([^()]*\))?\]$")
"""As the shell tool ends its result."""
RUNNING: Final = '{"state": "running"}'
CUT: Final = '{"state": "was cut off"}'
NOT_RUN_AFTER_ALL: Final = '{"state": "not run"}'
NOT_FINISHED: Final = '{"state": "not finished"}'


def stranger(approval_id: ApprovalId, arguments: str, choices: Sequence[Choice] = LET_IN) -> Content:
    """The card about an unknown person."""
    buttons = tuple(Button(approval_id, choice, LABELS[choice]) for choice in choices)
    return Content(f"**Let {_name(arguments)} in?**\n\n{_facts(arguments)}", buttons)


def _stranger_settled(approval: Approval) -> Content:
    if approval.state is ApprovalState.APPROVED:
        how = f"Let in as {approval.choice}" if approval.choice else "Let in"
    else:
        how = "Not let in" if approval.state is ApprovalState.DENIED else ENDED[approval.state]
    why = f"\n\n{quoted(approval.reason)}" if approval.reason else ""
    mark = MARKS[approval.state]
    about = f"{_name(approval.arguments)}\n\n{_facts(approval.arguments)}{why}"
    return Content(f"{mark} **{how}**{_by(approval)}: {about}", mark=mark)


def _name(arguments: str) -> str:
    """A name as the person gave it, which no mark-up in it can leave."""
    return f"`{json.loads(arguments)['name'].replace('`', chr(39)) or '-'}`"


def _facts(arguments: str) -> str:
    return "\n".join(f"- {key}: `{str(value).replace('`', chr(39))}`" for key, value in json.loads(arguments).items())


def question(
    approval_id: ApprovalId,
    kind: ApprovalKind,
    tool: str,
    arguments: str,
    caution: str,
    above: str = "",
    below: str = "",
    before: str = "",
    call: str = "",
) -> Content:
    """The card with its buttons. `above` the call stands who asks for it, `below` it who was asked. `call` is how it is shown."""
    head = f"**{before}{asked(kind, f'`{tool}`')}**"
    if kind is not ApprovalKind.CALL:
        head += " I can't tell, so I haven't run it again."
    buttons = tuple(Button(approval_id, choice, LABELS[choice]) for choice in CHOICES[kind])
    return Content(
        "\n\n".join(
            filter(None, [head, above, call or shown_call(arguments).text, remarks(arguments), caution, below])
        ),
        buttons,
    )


def pending(
    approval: Approval,
    now: datetime,
    *,
    home: bool = True,
    voted: Sequence[str] = (),
    again: bool = False,
    mentions: Sequence[Mention] = (),
    at: Address | None = None,
) -> Content:
    """The card of an open question. Only at `home`, the room it comes from, it tells what was said there.

    `voted` are those who said yes so far, where it takes several; `again`: it was asked before. `mentions` are called by it.
    `at` is the room of a copy.
    """
    if approval.lead == approval.id:
        from runtime.chat import listing  # which needs this module

        return listing.card(listing.listed_on(approval), now, home=home, voted=voted, again=again, mentions=mentions)
    how = home_of(approval) if home else Home.WHOLE
    whom = below(approval, how, voted, home=home)
    if how is Home.TOLD:
        return Content(" ".join(filter(None, [f"**{asked(approval.kind, f'`{approval.tool}`')}**", whom])))
    if approval.kind is ApprovalKind.ANSWER:
        return _to_person(approval, now, how, whom, again=again, mentions=mentions)
    left = briefly(approval.expires_at - now)
    above = [circumstances_of(approval, "asks", f"expires {moment(approval.expires_at)} (in {left})")]
    above.append(request_of(approval, home=home))
    call, is_whole = call_of(approval)
    card = question(
        approval.as_shown,
        approval.kind,
        approval.tool,
        approval.arguments,
        approval.caution,
        "\n\n".join(filter(None, above)),
        "\n\n".join(filter(None, [whom, offers.calls_too(approval, LABELS[Choice.ALL])])),
        "Reminder: " if again else "",
        call,
    )
    whole = Whole(approval.arguments_hash[:SHA256_SHOWN], "" if is_whole else whole_call(approval.arguments))
    if how is Home.QUIET:
        return replace(card, whole=whole, buttons=())
    if not approval.terms.editable:
        card = replace(card, buttons=tuple(one for one in card.buttons if one.choice is not Choice.EDIT))
    more = tuple(Button(approval.as_shown, choice, LABELS[choice]) for choice in offers.shown(approval, at))
    return replace(card, whole=whole, buttons=(*card.buttons, *more), mentions=tuple(mentions))


def request_of(approval: Approval, *, home: bool) -> str:
    """The request behind it, quoted at home alone, and a link to its message."""
    known = json.loads(approval.card) if approval.card else {}
    link = f"[{'message' if home else 'original message'}]({known['link']})" if "link" in known else ""
    return " · ".join(filter(None, [plainly(approval.request) if home else "", link]))


def call_of(approval: Approval) -> tuple[str, bool]:
    """The call as it was shown when it was asked about, and whether that is all of it; a changed one is drawn anew."""
    if approval.asked_arguments:
        return _both_calls(approval)
    known = json.loads(approval.card) if approval.card else {}
    if "call" in known and known.get("of") == approval.arguments_hash:
        return known["call"], "part" not in known
    drawn = shown_call(approval.arguments)
    return drawn.text, drawn.is_whole


def _both_calls(approval: Approval) -> tuple[str, bool]:
    """The call as it was asked about, and as an approver changed it."""
    asked = approval.asked_arguments
    before, is_whole = call_of(replace(approval, arguments=asked, arguments_hash=digest(asked), asked_arguments=""))
    after, is_whole_too = call_of(replace(approval, asked_arguments=""))
    runs = "Runs" if approval.state in (ApprovalState.PENDING, ApprovalState.APPROVED) else "Changed to"
    return f"Asked:\n\n{before}\n\n{runs}:\n\n{after}", is_whole and is_whole_too


def below(approval: Approval, how: Home, voted: Sequence[str], *, home: bool) -> str:
    """Below the call: whom the question reaches, and the votes so far."""
    known = json.loads(approval.card) if approval.card else {}
    asked_too = _asked_too(known.get("asked", ()), known.get("away", ()), how) if home else ""
    return " ".join(filter(None, [asked_too, _votes(voted, approval.terms.quorum)]))


def _votes(voted: Sequence[str], quorum: int) -> str:
    if voted:
        return f"{listed([plainly(name) for name in voted])} approved: {len(voted)} of {quorum}."
    return f"{quorum} people must approve this." if quorum > 1 else ""


def _asked_too(names: Sequence[str], away: Sequence[tuple[str, str]], how: Home) -> str:
    """Sentences for the room of a question: the people asked elsewhere, and the people who are away."""
    gone = [f"{plainly(name)} is away until {moment(datetime.fromisoformat(until))}." for name, until in away]
    if names:
        return " ".join([f"I've asked {listed([plainly(name) for name in names])}.", *gone])
    nobody = {Home.QUIET: NOBODY_HERE, Home.TOLD: NOBODY_REACHED}.get(how, "")
    return " ".join(filter(None, [nobody, *gone]))


def circumstances(
    room: str = "",
    schedule: str = "",
    home: Home = Home.WHOLE,
    told: Sequence[str] = (),
    link: str = "",
    away: Sequence[tuple[str, datetime]] = (),
) -> str:
    """JSON for `Approval.card`: what people call the room, the schedule that the run works for, whom it reaches, the link to the
    message that asked, and who is away."""
    how = "" if home is Home.WHOLE else home.value
    known: dict[str, Any] = {"room": room, "schedule": schedule, "home": how, "asked": list(told), "link": link}
    known["away"] = [[name, until.isoformat()] for name, until in away]
    return json.dumps(given, ensure_ascii=False) if (given := {k: v for k, v in known.items() if v}) else ""


def with_heard(card: str, people: Sequence[PersonId]) -> str:
    """The same, and who asked for it beside the requester: their words came into its run."""
    known: dict[str, Any] = json.loads(card) if card else {}
    return json.dumps(known | {HEARD: list(people)}, ensure_ascii=False) if people else card


def with_asking(card: str, asking: Asking) -> str:
    """The same, and what a person is asked."""
    known: dict[str, Any] = json.loads(card) if card else {}
    return json.dumps(known | asking.to_json(), ensure_ascii=False)


def frozen(card: str, call: ShownCall, arguments_hash: str) -> str:
    """The same, and how the call with this hash is shown."""
    known: dict[str, Any] = json.loads(card) if card else {}
    shown = {"call": call.text, "of": arguments_hash} | ({} if call.is_whole else {"part": True})
    return json.dumps(known | shown, ensure_ascii=False)


def asked_further(approval: Approval, names: Sequence[str]) -> Approval:
    """The same, which reaches these people and rooms too."""
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
    quoted = f"“{clip(words, REQUEST_MAX_CHARS)}”"
    return quoted if by == requester else f"{by}: {quoted}"


def circumstances_of(approval: Approval, asks: str, *more: str) -> str:
    """The requester, the room, the risk and the rule in one line; empty where nobody is known."""
    told = json.loads(approval.card) if approval.card else {}
    where = f" in {plainly(told['room'])}" if "room" in told else ""
    if "schedule" in told:
        made = f", made by {plainly(approval.requester_name)}," if approval.requester_name else ""
        who = f"The schedule {plainly(told['schedule'])}{made}"
    else:
        who = plainly(approval.requester_name)
    if not who:
        return ""
    rule = f"rule {plainly(approval.terms.rule)}" if approval.terms.rule else ""
    facts = [f"{who} {asks}{where}", plainly(approval.tool), approval.effect.value, rule, *more]
    return " · ".join(filter(None, facts))


def about(approval: Approval) -> str:
    """The question in one line, on a surface that has no card."""
    if approval.kind is ApprovalKind.ANSWER:
        return " ".join(Asking.from_json(approval.card).question.split())
    return asked(approval.kind, approval.tool)


def labels_of(approval: Approval) -> dict[Choice, str]:
    """Choices that answer it, and the label of each."""
    if approval.kind is ApprovalKind.ANSWER:
        options = dict(zip(OPTIONS, Asking.from_json(approval.card).options, strict=False))
        return {**options, Choice.TEXT: LABELS[Choice.TEXT]}
    more = (choice for choice in offered(approval) if choice not in FORM_CHOICES)
    return {choice: LABELS[choice] for choice in (*CHOICES[approval.kind], *more) if choice in EVENT_OF}


def asked(kind: ApprovalKind, tool: str) -> str:
    """The question about a call of `tool`, on every surface that shows it."""
    return f"May I run {tool}?" if kind is ApprovalKind.CALL else f"{tool} was cut off. Did it finish?"


def settled(approval: Approval, *, home: bool = True) -> Content:
    """The card after it was decided: who, what, when, and no buttons."""
    if approval.kind is ApprovalKind.PERSON:
        return _stranger_settled(approval)
    if approval.kind is ApprovalKind.ANSWER:
        return _answered(approval)
    if approval.lead == approval.id:
        from runtime.chat import listing

        return listing.card(listing.listed_on(approval), approval.asked_at, home=home)
    answer = f" **{LABELS[approval.choice]}**" if approval.state is ApprovalState.ANSWERED and approval.choice else ""
    why = f"\n\n{quoted(approval.reason)}" if approval.reason else ""
    call = f"`{approval.tool}`"
    about = asked(approval.kind, call) if approval.kind is ApprovalKind.OUTCOME else call
    mark = Mark.NO if approval.choice is Choice.SKIP else MARKS[approval.state]
    further = FURTHER.get(approval.choice, "") if approval.choice else ""
    head = f"{mark} **{ENDED[approval.state]}{further}**{_by(approval)}: {about}{answer}"
    how, shown = came(approval.outcome, home=home) if approval.outcome else ("", "")
    buttons = _undo_button(approval)
    known = json.loads(approval.card) if approval.card else {}
    if home and known.get("home") == Home.TOLD:
        return Content(f"{head}{how}{why}", buttons, folded=shown, mark=mark)
    asked_by = f"\n\n{told}" if (told := circumstances_of(approval, "asked")) else ""
    text = f"{head}{how}{asked_by}\n\n{call_of(approval)[0]}{why}"
    return Content(text, buttons, whole=Whole(approval.arguments_hash[:SHA256_SHOWN]), folded=shown, mark=mark)


def ruling(approval: Approval) -> str:
    """The ruling on it, by whom and when."""
    return f"**{ENDED[approval.state]}**{_by(approval)}"


def outcome(result: str, took: timedelta) -> str:
    """JSON for `Approval.outcome`: what came of a call, with the first lines of what it returned."""
    failed, ended = result.startswith(ERROR), EXIT_CODE.search(result)
    code = int(ended[1]) if ended else None
    lines = (result[: ended.start()] if ended else result.removeprefix(ERROR)).strip("\n").splitlines()
    first = [line if len(line) <= LINE_MAX_CHARS else clip(line, LINE_MAX_CHARS) for line in lines[:LINES_SHOWN]]
    told = {"state": "failed" if failed or code else "done", "seconds": round(took.total_seconds(), 1), "lines": first}
    more = {"exit": code, "more": len(lines) - len(first)}
    return json.dumps(told | {name: value for name, value in more.items() if value is not None}, ensure_ascii=False)


def came(outcome: str, *, home: bool) -> tuple[str, str]:
    """Outcome of an approved call: in the line that says who approved it, and beneath it. Its output is told at home only."""
    told = json.loads(outcome)
    lines, code = told.get("lines", ()) if home else (), f"exit {told['exit']}" if "exit" in told else ""
    match told["state"]:
        case "done":
            words = ", ".join(filter(None, [f"done in {told['seconds']:g} s", code]))
        case "failed":
            words = f"failed: {code or 'see below'}" if home else f"failed{code and ': '}{code}"
        case "waits":
            words = f"waiting for the other question{'s' * (told['left'] > 1)}"
        case state:
            words = state
    more = [f"… {several(told['more'], 'more line')}"] if told.get("more") else []
    shown = fenced(visible("\n".join([*lines, *more]))) if lines else ""
    return f" · {words}{_undone(told)}", shown and f"Result:\n\n{shown}"


def with_undo(outcome: str, how: str, by: str = "", why: str = "") -> str:
    """`outcome` (JSON) with how it stands with an undo: offered, wanted, done, refused or cut; empty for none."""
    undo = {"undo": how, "undo_by": by, "undo_why": why}
    return json.dumps(json.loads(outcome) | undo, ensure_ascii=False)


def _undo_button(approval: Approval) -> tuple[Button, ...]:
    is_offered = bool(approval.outcome) and json.loads(approval.outcome).get("undo") == "offered"
    return (Button(approval.id, Choice.UNDO, LABELS[Choice.UNDO]),) if is_offered else ()


def _undone(told: Mapping[str, Any]) -> str:
    """State of the undo, as a clause behind the outcome; empty if nobody asked for one."""
    by = plainly(told.get("undo_by", ""))
    match told.get("undo"):
        case "wanted":
            return f" · {by} is undoing it"
        case "done":
            return f" · Undone by {by}"
        case "refused":
            return f" · {by} tried to undo it: {plainly(told['undo_why'])}"
        case "cut":
            return f" · {by} tried to undo it, but I was cut off. Please check whether it worked."
        case _:
            return ""


def undo_note(approval: Approval, by: str, why_not: str = "", *, cut: bool = False) -> str:
    """Words for the model about an undo."""
    call = f"{approval.tool} {in_a_line(approval.arguments, NOTE_MAX_CHARS)}"
    if cut:
        return f"{OURS}{by} wanted to undo your call {call}. It was cut off: nobody knows whether it was undone."
    if why_not:
        return f"{OURS}{by} wanted to undo your call {call}. It was not undone: {why_not}"
    return f"{OURS}{by} undid your call {call}. Do not repeat it unless you are asked to."


def _by(approval: Approval) -> str:
    when = f", {moment(approval.decided_at)}" if approval.decided_at else ""
    return f" by {plainly(approval.decided_name)}{when}" if approval.decided_name else when


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


# ----------------------------------------------------------------------------------------------- questions to people


def _to_person(
    approval: Approval, now: datetime, how: Home, asked_too: str, *, again: bool, mentions: Sequence[Mention]
) -> Content:
    """The card of a question that the agent asks a person."""
    asking = Asking.from_json(approval.card)
    labels = [clip(legible(option), LABEL_MAX_CHARS) for option in asking.options]
    offered = [*zip(OPTIONS, labels, strict=False), (Choice.TEXT, LABELS[Choice.TEXT])]
    buttons = tuple(Button(approval.id, choice, label) for choice, label in offered)
    is_cut = any(len(option) > LABEL_MAX_CHARS for option in asking.options)
    listed_options = [f"{number}. {plainly(option)}" for number, option in enumerate(asking.options, 1)]
    left = f"expires {moment(approval.expires_at)} (in {briefly(approval.expires_at - now)})"
    lines = [
        f"**{'Reminder: ' if again else ''}{plainly(asking.question)}**",
        " · ".join(filter(None, [_for(approval, asking), left])),
        "\n".join(listed_options) if is_cut or how is Home.QUIET else "",
        approval.caution,
        asked_too,
    ]
    if how is Home.QUIET:
        return Content("\n\n".join(filter(None, lines)))
    return Content("\n\n".join(filter(None, lines)), buttons, mentions=tuple(mentions))


def _for(approval: Approval, asking: Asking) -> str:
    """The person a question is for, and the request or schedule it came from."""
    known = json.loads(approval.card)
    whom = f"A question for {plainly(asking.to)}" if asking.to else "A question for anybody here"
    where = f" in {plainly(known['room'])}" if "room" in known else ""
    if "schedule" in known:
        return f"{whom}, from the schedule {plainly(known['schedule'])}{where}"
    by = approval.requester_name
    return f"{whom}, about {plainly(by)}'s request{where}" if by and by != asking.to else f"{whom}{where}"


def _answered(approval: Approval) -> Content:
    """The card of a question to a person after it ended."""
    asking = Asking.from_json(approval.card)
    said = answer_of(approval) if approval.state is ApprovalState.ANSWERED else ""
    told = f": “{plainly(clip(said, ANSWER_MAX_CHARS))}”" if said else ""
    why = f"\n\n{quoted(approval.reason)}" if approval.reason and said != approval.reason else ""
    mark = MARKS[approval.state]
    head = f"{mark} **{ENDED[approval.state]}**{_by(approval)}{told}"
    return Content(f"{head}\n\n{plainly(asking.question)}\n\n{_for(approval, asking)}{why}", mark=mark)


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


def quoted(text: str) -> str:
    return "\n".join(f"> {legible(line)}".rstrip() for line in text.splitlines())


def _why(approval: Approval) -> str:
    return f" ({approval.reason})" if approval.reason else ""
