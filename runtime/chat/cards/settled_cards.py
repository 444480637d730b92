"""Cards after their question was settled: how it ended and what came of it; and the call, as every card has it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from runtime.chat.cards import asked_back
from runtime.chat.cards.calls import shown_call
from runtime.chat.cards.card_facts import (
    ANSWER_MAX_CHARS,
    LABELS,
    SHA256_SHOWN,
    WORK_KINDS,
    asked,
    facts_in,
    name_in,
    posed,
    quoted,
    whom_for,
    work_of,
)
from runtime.chat.cards.exchanges import ASKED_BACK
from runtime.contract import (
    ApprovalKind,
    Asking,
    Button,
    Choice,
    Content,
    Mark,
    Whole,
)
from runtime.domain.approvals import Approval, ApprovalState, Home, answer_of
from runtime.domain.ids import digest
from runtime.domain.transcript import ERROR
from runtime.text.glyphs import clip, fenced, plainly, visible
from runtime.text.outside import OPENS, unfenced
from runtime.text.retold import retold
from runtime.text.words import decimal, marked, moment, say, several

ENDED = {
    ApprovalState.APPROVED: marked("Approved"),
    ApprovalState.DENIED: marked("Denied"),
    ApprovalState.ANSWERED: marked("Answered"),
    ApprovalState.EXPIRED: marked("Expired"),
    ApprovalState.VOID: marked("Withdrawn"),
}
REQUEST_VERB: Final = marked("asked")
"""Of whoever asked, once it is settled."""
UNDONE: Final = marked("Undone")
FURTHER: Final = {Choice.CONVERSATION: marked(" for this conversation"), Choice.ALWAYS: marked(" from now on")}
"""Words about a yes that holds for more than its call."""
MARKS: Final = {
    ApprovalState.APPROVED: Mark.YES,
    ApprovalState.DENIED: Mark.NO,
    ApprovalState.ANSWERED: Mark.YES,
    ApprovalState.EXPIRED: Mark.NOBODY,
    ApprovalState.VOID: Mark.WITHDRAWN,
}
WORK_VERBS: Final = {
    "workflow": marked(", started by {name},"),
    "goal": marked(", set by {name},"),
    "schedule": marked(", made by {name},"),
}
"""Words for whoever had such work done."""
LINES_SHOWN: Final = 3
"""Of what an approved call returned."""
LINE_MAX_CHARS: Final = 120
EXIT_CODE: Final = re.compile(r"\n?\[(?:no output, )?exit code (\d+)(?: \([^()]*\))?\]$")
"""As the shell tool ends its result."""
RUNNING: Final = f'{{"state": "{marked("running")}"}}'
CUT: Final = f'{{"state": "{marked("was cut off")}"}}'
NOT_RUN_AFTER_ALL: Final = f'{{"state": "{marked("not run")}"}}'
NOT_FINISHED: Final = f'{{"state": "{marked("not finished")}"}}'


def _stranger_settled(approval: Approval) -> Content:
    if approval.state is ApprovalState.APPROVED:
        how = say("Let in as {choice}", choice=approval.choice) if approval.choice else say("Let in")
    else:
        how = say("Not let in") if approval.state is ApprovalState.DENIED else say(ENDED[approval.state])
    why = f"\n\n{quoted(approval.reason)}" if approval.reason else ""
    mark = MARKS[approval.state]
    about = f"{name_in(approval.arguments)}\n\n{facts_in(approval.arguments)}{why}"
    return Content(f"{mark} **{how}**{_by(approval)}: {about}", mark=mark)


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
    if approval.state in (ApprovalState.PENDING, ApprovalState.APPROVED):
        both = say("Asked:\n\n{before}\n\nRuns:\n\n{after}", before=before, after=after)
    else:
        both = say("Asked:\n\n{before}\n\nChanged to:\n\n{after}", before=before, after=after)
    return both, is_whole and is_whole_too


def circumstances_of(approval: Approval, asks: str, *more: str) -> str:
    """The requester, the room, the risk and the rule in one line; empty where nobody is known."""
    told = json.loads(approval.card) if approval.card else {}
    where = say(" in {room}", room=plainly(told["room"])) if "room" in told else ""
    if any(kind in told for kind in WORK_KINDS):
        verb = WORK_VERBS[next(kind for kind in WORK_KINDS if kind in told)]
        made = say(verb, name=plainly(approval.requester_name)) if approval.requester_name else ""
        work = work_of(told)
        who = f"{work[:1].upper()}{work[1:]}{made}"
    else:
        who = plainly(approval.requester_name)
    if not who:
        return ""
    rule = say("rule {rule}", rule=plainly(approval.terms.rule)) if approval.terms.rule else ""
    facts = [f"{who} {say(asks)}{where}", plainly(approval.tool), say(approval.effect.value), rule, *more]
    return " · ".join(filter(None, facts))


def settled(approval: Approval, *, home: bool = True) -> Content:
    """The card after it was decided: who, what, when, and no buttons."""
    if approval.kind is ApprovalKind.PERSON:
        return _stranger_settled(approval)
    if approval.kind is ApprovalKind.ANSWER:
        return _answered(approval)
    if approval.lead == approval.id:
        from runtime.chat.cards import listing

        return listing.card(listing.listed_on(approval), approval.asked_at, home=home)
    answer = f" **{LABELS[approval.choice]}**" if approval.state is ApprovalState.ANSWERED and approval.choice else ""
    why = f"\n\n{quoted(approval.reason)}" if approval.reason else ""
    call = f"`{approval.tool}`"
    about = asked(approval.kind, call) if approval.kind is ApprovalKind.OUTCOME else call
    mark = _mark(approval)
    further = say(FURTHER[approval.choice]) if approval.choice in FURTHER else ""
    outcome: dict[str, Any] = json.loads(approval.outcome) if approval.outcome else {}
    ruled = f"**{say(ENDED[approval.state])}{further}**{_by(approval)}"
    head = f"{mark} {ruled}: {about}{answer}"
    if mark is Mark.UNDONE:
        undone = say(" by {decided_name}{when}", decided_name=plainly(outcome["undo_by"]), when="")
        head = f"{mark} **{say(UNDONE)}**{undone}: {about} · {ruled}"
        del outcome["undo"]
    how, shown = came(outcome, home=home) if outcome else ("", "")
    is_offered = outcome.get("undo") == "offered"
    buttons = (Button(approval.id, Choice.UNDO, LABELS[Choice.UNDO]),) if is_offered else ()
    known = json.loads(approval.card) if approval.card else {}
    if home and known.get("home") == Home.TOLD:
        return Content(f"{head}{how}{why}", buttons, folded=shown, mark=mark)
    asked_by = f"\n\n{told}" if (told := circumstances_of(approval, REQUEST_VERB)) else ""
    back = f"\n\n{asked_back.told(approval, home=home)}" if ASKED_BACK in known else ""
    text = f"{head}{how}{asked_by}\n\n{call_of(approval)[0]}{why}{back}"
    return Content(text, buttons, whole=Whole(approval.arguments_hash[:SHA256_SHOWN]), folded=shown, mark=mark)


def _mark(approval: Approval) -> Mark:
    """Its end at a glance: an approved call that did not run after all is no yes to look back at."""
    if approval.choice is Choice.SKIP:
        return Mark.NO
    outcome = json.loads(approval.outcome) if approval.outcome else {}
    if outcome.get("undo") == "done":
        return Mark.UNDONE
    return MARKS[approval.state] if outcome.get("state") != "not run" else Mark.WITHDRAWN


def ruling(approval: Approval) -> str:
    """The ruling on it, by whom and when."""
    return f"**{say(ENDED[approval.state])}**{_by(approval)}"


def outcome(result: str, took: timedelta) -> str:
    """JSON for `Approval.outcome`: what came of a call, with the first lines of what it returned."""
    result = unfenced(result) if OPENS in result else result
    failed, ended = result.startswith(ERROR), EXIT_CODE.search(result)
    code = int(ended[1]) if ended else None
    lines = (result[: ended.start()] if ended else result.removeprefix(ERROR)).strip("\n").splitlines()
    first = [line if len(line) <= LINE_MAX_CHARS else clip(line, LINE_MAX_CHARS) for line in lines[:LINES_SHOWN]]
    told = {"state": "failed" if failed or code else "done", "seconds": round(took.total_seconds(), 1), "lines": first}
    more = {"exit": code, "more": len(lines) - len(first)}
    return json.dumps(told | {name: value for name, value in more.items() if value is not None}, ensure_ascii=False)


def refused(whose: str, reason: str = "") -> str:
    """JSON for `Approval.outcome`: a rule denied the call after people had allowed it."""
    why = {"denied_for": reason} if reason else {}
    return json.dumps({"state": "not run", "denied_by": whose, **why}, ensure_ascii=False)


def came(told: Mapping[str, Any], *, home: bool) -> tuple[str, str]:
    """Outcome of an approved call: in the line that says who approved it, and beneath it. Its output is told at home only."""
    lines, code = told.get("lines", ()) if home else (), say("exit {exit}", exit=told["exit"]) if "exit" in told else ""
    match told["state"]:
        case "done":
            took = told["seconds"]
            done = say("done in {seconds} s", seconds=decimal(f"{took:g}")) if took else say("done at once")
            words = ", ".join(filter(None, [done, code]))
        case "failed":
            words = say("failed: {why}", why=code or say("see below")) if home or code else say("failed")
        case "waits":
            words = say("waiting for the other answer") if told["left"] == 1 else say("waiting for the other answers")
        case "not run" if whose := told.get("denied_by"):
            why = f": {plainly(told['denied_for'])}" if "denied_for" in told else ""
            words = say("not run: {whose} doesn't allow it any more{why}", whose=plainly(whose), why=why)
        case state:
            words = say(state)
    more = [f"… {several(told['more'], 'more line')}"] if told.get("more") else []
    shown = fenced(visible("\n".join([*lines, *more]))) if lines else ""
    return f" · {words}{_undone(told) if 'undo' in told else ''}", shown and say("Result:\n\n{shown}", shown=shown)


def with_undo(outcome: str, how: str, by: str = "", why: str = "") -> str:
    """`outcome` (JSON) with how it stands with an undo: offered, wanted, done, refused or cut; empty for none."""
    undo = {"undo": how, "undo_by": by, "undo_why": why}
    return json.dumps(json.loads(outcome) | undo, ensure_ascii=False)


def _undone(told: Mapping[str, Any]) -> str:
    """State of the undo, as a clause behind the outcome; empty if nobody asked for one."""
    by = plainly(told.get("undo_by", ""))
    match told.get("undo"):
        case "wanted":
            return say(" · {by} is undoing it", by=by)
        case "done":
            return say(" · undone by {by}", by=by)
        case "refused":
            return say(" · {by} tried to undo it: {undo_why}", by=by, undo_why=plainly(retold(told["undo_why"])))
        case "cut":
            return say(" · {by} tried to undo it, but I was cut off. Please check whether it worked.", by=by)
        case _:
            return ""


def _by(approval: Approval) -> str:
    when = f", {moment(approval.decided_at)}" if approval.decided_at else ""
    return (
        say(" by {decided_name}{when}", decided_name=plainly(approval.decided_name), when=when)
        if approval.decided_name
        else when
    )


def _answered(approval: Approval) -> Content:
    """The card of a question to a person after it ended."""
    asking = Asking.from_json(approval.card)
    said = answer_of(approval) if approval.state is ApprovalState.ANSWERED else ""
    told = f": {say('“{text}”', text=plainly(clip(said, ANSWER_MAX_CHARS)))}" if said else ""
    why = f"\n\n{quoted(approval.reason)}" if approval.reason and said != approval.reason else ""
    mark = MARKS[approval.state]
    head = f"{mark} **{say(ENDED[approval.state])}**{_by(approval)}{told}"
    return Content(f"{head}\n\n{posed(asking.question)}\n\n{whom_for(approval, asking)}{why}", mark=mark)
