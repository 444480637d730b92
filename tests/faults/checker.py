"""Was every promise kept? Pure: it reads what people said, what they see, and which tools ran."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tests.faults.program import Kill
from tests.faults.sides import Seen
from tests.faults.story import FILES_ANSWER, Kind, Line, Talk, answers, holds

SHELL: Final = "shell"
READS: Final = "read"


@dataclass(frozen=True, slots=True)
class Part:
    """What our records say about one message: how often it was tried, and whether it waits for a person's word."""

    room: str
    text: str
    attempts: int
    held: bool = False


@dataclass(frozen=True, slots=True)
class Evidence:
    """`can_tell`: the channel lets us find out what it shows. `work` counts what each line's command did.

    `questions` is empty for the web page, where a message cannot be on screen twice without two records.
    """

    talks: Sequence[Talk]
    screens: Mapping[str, Sequence[Seen]]
    calls: Sequence[Mapping[str, Any]]
    work: Mapping[str, int]
    parts: Sequence[Part]
    approvals: Mapping[str, Sequence[str]]  # by room, the state of each
    kills: Sequence[Kill]
    questions: Mapping[str, Sequence[Seen]]  # by room, each message with buttons as it was first shown
    can_tell: bool = True
    log: str = field(default="", repr=False)


class BrokenPromise(AssertionError):
    """The first promise that was not kept, told as what happened."""


Complaint = str | None


def check(evidence: Evidence) -> None:
    """Errors: BrokenPromise."""
    for promise in PROMISES:
        for talk in evidence.talks:
            if complaint := promise(talk, evidence):
                raise BrokenPromise(story(complaint, talk, evidence))
    if complaint := nothing_ran_unasked(evidence):
        raise BrokenPromise(complaint)


# --------------------------------------------------------------------------------------------------------- promises


def each_line_is_answered_once(talk: Talk, evidence: Evidence) -> Complaint:
    told = answers(evidence.screens[talk.room])
    for line in talk.lines:
        for word in line.words:
            copies = [seen for seen in told if holds(seen.text, word)]
            if not copies and is_held(word, talk, evidence):
                continue
            if complaint := wrong_copies(copies, talk, evidence):
                return f"The answer to {line.text[:60]!r} (word {word}) {complaint}."
    asked = sum(line.kind is Kind.FILES for line in talk.lines)
    got = sum(seen.text.count(FILES_ANSWER) for seen in told if not seen.marked)
    repeats = sum(seen.text.count(FILES_ANSWER) for seen in told if seen.marked)
    if not (asked - repeats <= got <= asked) or (evidence.can_tell and repeats):
        return f"The files were asked for {asked} times and listed {got} times, and {repeats} times as a repeat."
    return None


def is_held(word: str, talk: Talk, evidence: Evidence) -> bool:
    """Whether it waits for a person's word, which is allowed where nobody can tell."""
    return not evidence.can_tell and any(
        part.held and part.room == talk.room and holds(part.text, word) for part in evidence.parts
    )


def wrong_copies(copies: Sequence[Seen], talk: Talk, evidence: Evidence) -> Complaint:
    """What is wrong with how often one text is on screen.

    Where nobody can tell, each attempt after the first may add a copy that says so; where the policy is to hold, a
    text may be missing while its delivery is on hold.
    """
    if not copies:
        return "is on no screen"
    known = [part for part in evidence.parts if part.room == talk.room and part.text == copies[0].text]
    attempts = max((part.attempts for part in known), default=1)
    if len({seen.text for seen in copies}) > 1:
        return "is on screen in two different messages"
    if evidence.can_tell:
        if any(seen.marked for seen in copies):
            return "is marked as a repeat, on a channel that lets us look"
        return None if len(copies) == 1 else f"is on screen {len(copies)} times"
    if any(not seen.marked for seen in copies[1:]):
        return f"is on screen {len(copies)} times, and a repeat does not say that it is one"
    if copies[0].marked and attempts == 1:
        return "is marked as a repeat, though it was sent once"
    return None if len(copies) <= attempts else f"is on screen {len(copies)} times after {attempts} attempts"


def answers_come_in_order(talk: Talk, evidence: Evidence) -> Complaint:
    """Of lines that wait for nobody, the answers stand in the order in which the lines were written."""
    wanted = [word for line in talk.lines if line.kind is Kind.CHAT for word in line.words]
    text = "\n".join(seen.text for seen in answers(evidence.screens[talk.room]))
    places = [text.find(word) for word in wanted]
    for (before, word), (place, other) in zip(
        zip(places, wanted, strict=True), list(zip(places, wanted, strict=True))[1:], strict=False
    ):
        if before >= place:
            return f"{other} was said after {word}, and its answer stands before."
    return None


def tools_ran_as_people_said(talk: Talk, evidence: Evidence) -> Complaint:
    for line in talk.lines:
        if line.is_asked and (complaint := wrong_runs(line, evidence)):
            return f"{line.text!r} {complaint}."
    return None


def wrong_runs(line: Line, evidence: Evidence) -> Complaint:
    calls = [call for call in evidence.calls if is_of(call, line)]
    work = evidence.work[line.words[0]]
    if line.kind is Kind.DENIED:
        return f"was denied, and ran {len(calls)} times" if calls or work else None
    if any(call["at"] < (line.clicked_at or float("inf")) for call in calls):
        return "ran before anybody allowed it"
    if not line.doubts:
        return None if len(calls) == work == 1 else f"was approved once and ran {len(calls)} times ({work} effects)"
    allowed = 1 + line.doubts.count("again")
    if len(calls) > allowed:
        return f"was allowed {allowed} times and ran {len(calls)} times"
    if work > 1 or (work == 0 and line.doubts[-1] != "skip"):
        return f"did its work {work} times, and people said {', '.join(line.doubts)}"
    return None


def cards_are_closed(talk: Talk, evidence: Evidence) -> Complaint:
    """Each question has one card, which ends without buttons; a copy that nobody can tell of may keep them."""
    screen, states = evidence.screens[talk.room], evidence.approvals.get(talk.room, [])
    settled = sum(seen.is_settled_card for seen in screen)
    with_buttons = sum(bool(seen.buttons) for seen in screen)
    asked = sum(line.is_asked for line in talk.lines)
    doubts = sum(len(line.doubts) for line in talk.lines)
    if "pending" in states or len(states) != asked + doubts:
        return f"{asked} calls and {doubts} doubts were asked about; the records say {', '.join(states) or 'nothing'}."
    if settled != len(states):
        return f"There were {len(states)} questions, and {settled} cards say how one ended."
    if with_buttons and (evidence.can_tell or with_buttons > len(evidence.kills)):
        return f"{with_buttons} cards still have buttons."
    return None


def each_question_is_shown_once(talk: Talk, evidence: Evidence) -> Complaint:
    copies: dict[str, list[Seen]] = defaultdict(list)
    for seen in evidence.questions.get(talk.room, ()):
        copies[seen.buttons[0].approval_id].append(seen)
    for of_one in copies.values():
        if complaint := wrong_copies(of_one, talk, evidence):
            return f"The question {of_one[0].text[:60]!r} {complaint}."
    return None


def nothing_ran_unasked(evidence: Evidence) -> Complaint:
    asked = [line for talk in evidence.talks for line in talk.lines if line.is_asked]
    for call in evidence.calls:
        if call["effect"] != READS and not any(is_of(call, line) for line in asked):
            return f"{call['tool']} ran with {call['arguments']}, and nobody had asked for that."
    return None


PROMISES: Final[Sequence[Callable[[Talk, Evidence], Complaint]]] = (
    tools_ran_as_people_said,
    each_line_is_answered_once,
    answers_come_in_order,
    each_question_is_shown_once,
    cards_are_closed,
)


def is_of(call: Mapping[str, Any], line: Line) -> bool:
    if call["effect"] == READS or not line.is_asked:
        return False
    return any(holds(str(value), line.words[0]) for value in call["arguments"].values())


# ------------------------------------------------------------------------------------------------------- telling it


def story(complaint: str, talk: Talk, evidence: Evidence) -> str:
    said = [f"  {line.text[:100]}{told(line)}" for line in talk.lines]
    screen = [
        f"  {'(repeated) ' * seen.marked}{seen.text!r}{' [buttons]' * bool(seen.buttons)}"
        for seen in evidence.screens[talk.room]
    ]
    calls = [
        f"  {call['tool']} {call['arguments']}"
        for call in evidence.calls
        if any(is_of(call, line) for line in talk.lines)
    ]
    parts = [
        f"  {p.attempts} attempts{', on hold' * p.held}: {p.text[:80]!r}" for p in evidence.parts if p.room == talk.room
    ]
    return "\n".join(
        [
            complaint,
            f"The process was killed at {', '.join(map(str, evidence.kills)) or 'no point'}.",
            f"In {talk.room} people wrote:",
            *said,
            "They see:",
            *(screen or ["  nothing"]),
            "Calls with effects that began:",
            *(calls or ["  none"]),
            "Our records:",
            *(parts or ["  nothing"]),
            evidence.log,
        ]
    )


def told(line: Line) -> str:
    doubts = f"; of a cut call people said {', '.join(line.doubts)}" if line.doubts else ""
    return f"  <- {line.kind}{doubts}" if line.is_asked else ""
