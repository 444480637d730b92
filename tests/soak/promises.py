"""Was every promise kept? Pure: from the evidence to the first complaint, in the order of docs/promises.md."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final

from runtime.domain.approvals import LISTED_WITH
from runtime.domain.transcript import OURS
from tests.soak.clerk import HEARD, arguments
from tests.soak.diary import Complaint
from tests.soak.evidence import Evidence, content, grouped, is_blind, is_final, place_of
from tests.soak.flows import FLOW_PROMISES
from tests.soak.handed import (
    each_call_is_handed_on_once,
    each_end_is_passed_on_once,
    each_result_reaches_its_parent_once,
    each_task_is_told_once,
)
from tests.soak.plan import ADA, ASKED, EFFECTS, SPOKEN, WEB
from tests.soak.posted import each_call_posts_one_message
from tests.soak.rows import Row
from tests.soak.screens import (
    each_delivery_is_whole,
    each_part_is_on_screen_once,
    no_buttons_are_left,
    parts_come_in_order,
)

CLOCKS: Final = 0.05  # seconds by which the clocks of a database and of a process may differ on one machine


def check(evidence: Evidence) -> None:
    """Errors: Complaint, the first one."""
    for promise in PROMISES:
        for complaint in promise(evidence):
            raise complaint


Complaints = Iterator[Complaint]


# ---------------------------------------------------------------------------------------------------- inbound event


def each_event_is_one_signal(evidence: Evidence) -> Complaints:
    for event, note in evidence.events.items():
        signals = evidence.signals.get(event, [])
        if not signals and event in evidence.acked:
            yield Complaint("inbound event", f"The event {event} was acknowledged, and no record has it.", event=event)
        if not signals:
            yield Complaint("inbound event", f"The event {event} was never taken in.", event=event)
        if len(signals) > 1:
            yield Complaint("inbound event", f"The event {event} is {len(signals)} signals.", event=event)
        if event not in evidence.acked:
            yield Complaint("inbound event", f"The event {event} was never acknowledged.", event=event)
        if note.what == "said" and signals[0]["text"] != note.about["text"]:
            yield Complaint(
                "inbound event", f"The words of the event {event} are not those that were said.", event=event
            )
    for event, signals in evidence.signals.items():
        if event not in evidence.events:
            words = f"The signal {signals[0]['id']} is of an event {event} that never was."
            yield Complaint("inbound event", words, signal=signals[0]["id"])


# ------------------------------------------------------------------------------------------------- accepted, answered


def each_message_is_answered(evidence: Evidence) -> Complaints:
    for signal in evidence.tables["signals"]:
        if signal["kind"] == "said" and (words := unanswered(signal, evidence)):
            yield Complaint("answered once", f"The message {signal['text']!r} {words}.", signal=signal["id"])


def unanswered(signal: Row, evidence: Evidence) -> str | None:
    """What is wrong with what became of a message."""
    if signal["state"] == "merged":
        return wrong_twin(signal, evidence)
    if signal["state"] != "consumed" or signal["run_id"] not in evidence.runs:
        return f"was left {signal['state']}, with no run"
    finals = [row for row in evidence.tables["deliveries"] if is_final(row) and row["run_id"] == signal["run_id"]]
    if len(finals) != 1:
        return f"has {len(finals)} answers"
    held = finals[0]["state"] == "held" and is_blind(finals[0])
    return None if signal["answered_at"] is not None or held else "is not answered in our records"


def wrong_twin(signal: Row, evidence: Evidence) -> str | None:
    """The same words share a run only within a minute, of one person, while those before have no answer.

    Whoever answers those before answers both at once. Their times tell nothing of who came first: each operation has its
    own before it waits for the other's lock, and on two nodes by two clocks.
    """
    twin = next((row for row in evidence.said if row["id"] == signal["merged_into"]), None)
    if twin is None or (twin["words_hash"], twin["actor"]) != (signal["words_hash"], signal["actor"]):
        return "was taken for words that nobody said before"
    if twin["answered_at"] != signal["answered_at"]:
        return "was taken for one that was answered without it"
    return None


def each_answer_says_what_it_should(evidence: Evidence) -> Complaints:
    """By the words: the clerk tells of each line of chat once for each time that it was asked."""
    told = Counter(tag for row in evidence.tables["deliveries"] if is_final(row) for tag in HEARD.findall(content(row)))
    for tag, line in evidence.lines.items():
        asked = evidence.asked(tag)
        if line.want not in SPOKEN or told[tag] == len(asked):
            continue
        if told[tag] < len(asked) and any(evidence.is_stopped(row["run_id"]) for row in asked):
            continue  # a person ended that run
        words = f"{line.text!r} was said {len(asked)} times and told of {told[tag]} times."
        yield Complaint("answered once", words, tag=tag)


# ------------------------------------------------------------------------------------------------ tools with effects


def each_call_is_one_that_was_asked_for(evidence: Evidence) -> Complaints:
    for (run, call), deeds in evidence.calls.items():
        if run in evidence.by_rules:
            continue  # told by its definition
        tag = call.partition("-")[0]
        line = evidence.lines.get(tag)
        if line is None or (run, call) not in evidence.steps:
            yield Complaint("tool with effects", f"{call} ran, and nobody had asked for it.", run=run)
            continue
        for deed in deeds:
            if (deed["tool"], deed["arguments"]) != (line.want, arguments(tag, line.slowly)):
                yield Complaint("approval", f"{call} ran as {deed['tool']} {deed['arguments']}.", run=run, tag=tag)


def each_effect_happens_at_most_once(evidence: Evidence) -> Complaints:
    for (run, call), step in evidence.steps.items():
        if step["tool"] in EFFECTS and (words := wrong_runs(run, call, step, evidence)):
            yield Complaint(
                "tool with effects", f"{call} ({step['tool']}) {words}.", run=run, tag=call.partition("-")[0]
            )


def wrong_runs(run: str, call: str, step: Row, evidence: Evidence) -> str | None:
    """What is wrong with how often a call with effects ran, by what people said of it."""
    began = [deed["at"] for deed in evidence.calls.get((run, call), []) if deed["what"] == "began"]
    questions = evidence.approvals.get((run, step["number"]), [])
    doubts = [question for question in questions if question["kind"] == "outcome"]
    verdict = next((question for question in questions if question["kind"] == "call"), None)
    allowed = 1 if step["tool"] not in ASKED or (verdict and verdict["state"] == "approved") else 0
    word = sum(question["choice"] == "again" for question in doubts)
    if len(began) > allowed + word:
        return f"ran {len(began)} times, and people allowed {allowed + word}"
    if began and verdict and min(began) < verdict["decided_at"] / 1e6 - CLOCKS:
        return "ran before anybody allowed it"
    if allowed and not doubts and not began and not evidence.is_stopped(run):
        return "was allowed and never ran"
    return None


def each_call_is_made_once(evidence: Evidence) -> Complaints:
    made = Counter(call.partition("-")[0] for _, call in evidence.steps)
    for tag, line in evidence.lines.items():
        asked = evidence.asked(tag)
        wanted = 0 if line.want in SPOKEN else len(asked)
        stopped = any(evidence.is_stopped(row["run_id"]) for row in asked)
        if made[tag] > wanted or (made[tag] < wanted and not stopped):
            yield Complaint(
                "model call", f"{line.text!r} was asked {wanted} times and called {made[tag]} times.", tag=tag
            )


# --------------------------------------------------------------------------------------------------------- approvals


def each_question_is_decided_once(evidence: Evidence) -> Complaints:
    votes = grouped(evidence.tables["votes"], lambda row: row["approval_id"])
    clicks = grouped(evidence.notes, lambda note: note.about.get("approval") if note.what == "clicked" else None)
    cards = grouped(evidence.tables["deliveries"], lambda row: row["origin"])
    for question in evidence.tables["approvals"]:
        given = [row["choice"] for row in votes.get(question["id"], [])]
        card = card_of(question)
        places = {place_of(row["address"]) for row in cards.get(f"approval:{card}", [])}
        if words := wrong_decision(question, given, clicks.get(card, []), places):
            yield Complaint("approval", f"The question {question['id']} {words}.", approval=question["id"])


def card_of(question: Row) -> str:
    """The question whose card asks this one: itself, or that which lists it, whose buttons decide all that it lists."""
    known = json.loads(question["card"] or "{}")
    return str(known.get(LISTED_WITH, question["id"]))


def wrong_decision(
    question: Row, votes: Sequence[str], clicks: Sequence[object], places: Collection[tuple[str, str]]
) -> str | None:
    """`places` are those in which a card of the question was to be shown."""
    decided = question["state"] in ("approved", "denied", "answered")
    if len(votes) != decided:
        return f"is {question['state']} by {len(votes)} votes"
    if decided and not any(counts(click, question, places) for click in clicks):
        return f"is {question['state']}, and nobody who may decide clicked {question['choice']} where it stands"
    return None


def counts(click: object, question: Row, places: Collection[tuple[str, str]]) -> bool:
    about = getattr(click, "about", {})
    return (about["place"], about["room"]) in places and about["who"] == ADA and about["choice"] == question["choice"]


def each_question_is_of_the_call_it_names(evidence: Evidence) -> Complaints:
    for question in evidence.tables["approvals"]:
        given = json.loads(question["arguments"])
        if question["kind"] == "answer":
            continue  # a question in words, of a workflow or a goal
        line = evidence.lines.get(given["tag"])
        if line is None or (question["tool"], given) != (line.want, arguments(line.tag, line.slowly)):
            words = f"The question {question['id']} is about {question['tool']} {given}, which nobody asked for."
            yield Complaint("approval", words, approval=question["id"])


# ------------------------------------------------------------------------------------------------------------- order


def each_room_is_taken_in_in_order(evidence: Evidence) -> Complaints:
    order = {event: number for number, event in enumerate(evidence.events)}
    lanes = grouped(evidence.said, lambda row: row["session"])
    for rows in lanes.values():
        for before, after in pairwise(rows):
            if order[before["dedupe_key"].rpartition("#")[2]] > order[after["dedupe_key"].rpartition("#")[2]]:
                words = f"{after['text']!r} was said before {before['text']!r}, and has the later number."
                yield Complaint("order", words, signal=after["id"])


def the_model_hears_each_message_once_and_in_order(evidence: Evidence) -> Complaints:
    heard = grouped((row for row in by_number(evidence) if is_heard(row)), lambda row: row["session"])
    for session, rows in grouped(evidence.said, lambda row: row["session"]).items():
        texts = [row["text"] for row in heard.get(session, [])]
        for number, row in enumerate(rows):
            if texts[number : number + 1] != [row["text"]]:
                heard_here = repr(texts[number]) if number < len(texts) else "nothing"
                words = f"The model heard {heard_here} where {row['text']!r} was said."
                yield Complaint("order", words, signal=row["id"])
        if len(texts) > len(rows):
            yield Complaint("order", f"The model heard {texts[len(rows)]!r} too.", address=rows[0]["address"])


def by_number(evidence: Evidence) -> list[Row]:
    return sorted(evidence.tables["turns"], key=lambda row: (row["session"], row["number"]))


def is_heard(turn: Row) -> bool:
    return turn["role"] == "user" and not turn["text"].startswith(OURS)


def answers_come_in_order(evidence: Evidence) -> Complaints:
    """Of runs that waited for nobody, where no platform delays a message: as they were asked."""
    first = {shown.part.rpartition(".")[0]: number for number, shown in reversed([*enumerate(evidence.shown)])}
    finals = {row["run_id"]: row["id"] for row in evidence.tables["deliveries"] if is_final(row)}
    waited = {row["run_id"] for table in ("approvals", "waits") for row in evidence.tables[table]}
    for rows in grouped(evidence.said, lambda row: row["session"]).values():
        straight = [row for row in rows if row["run_id"] not in waited and place_of(row["address"])[0] == WEB]
        for before, after in pairwise(straight):
            if first[finals[before["run_id"]]] > first[finals[after["run_id"]]]:
                words = f"{after['text']!r} was said after {before['text']!r}, and its answer stands before."
                yield Complaint("order", words, signal=after["id"])


PROMISES: Final[Sequence[Callable[[Evidence], Complaints]]] = (
    each_event_is_one_signal,
    each_effect_happens_at_most_once,
    each_call_is_one_that_was_asked_for,
    each_question_is_decided_once,
    each_question_is_of_the_call_it_names,
    each_part_is_on_screen_once,
    each_delivery_is_whole,
    the_model_hears_each_message_once_and_in_order,
    each_room_is_taken_in_in_order,
    each_message_is_answered,
    each_answer_says_what_it_should,
    each_call_is_made_once,
    each_call_is_handed_on_once,
    each_result_reaches_its_parent_once,
    each_end_is_passed_on_once,
    each_task_is_told_once,
    each_call_posts_one_message,
    *FLOW_PROMISES,
    parts_come_in_order,
    answers_come_in_order,
    no_buttons_are_left,
)
