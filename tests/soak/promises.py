"""Was every promise kept? Pure: from the evidence to the first complaint, in the order of docs/promises.md."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from runtime.transcript import OURS
from tests.soak.clerk import HEARD, arguments
from tests.soak.diary import Complaint
from tests.soak.evidence import Evidence, grouped, part_id, place_of, text_of
from tests.soak.plan import ADA, ASKED, EFFECTS, WEB, Want
from tests.soak.platforms import Shown
from tests.soak.rows import Row

CANNOT_TELL: Final = "none"
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
    """The same words share a run only within a minute, of one person, while those before have no answer."""
    twin = next((row for row in evidence.said if row["id"] == signal["merged_into"]), None)
    if twin is None or (twin["words_hash"], twin["actor"]) != (signal["words_hash"], signal["actor"]):
        return "was taken for words that nobody said before"
    if twin["answered_at"] is not None and twin["answered_at"] < signal["accepted_at"]:
        return "was taken for one that had its answer already"
    return None


def each_answer_says_what_it_should(evidence: Evidence) -> Complaints:
    """By the words: the clerk tells of each line of chat once for each time that it was asked."""
    told = Counter(tag for row in evidence.tables["deliveries"] if is_final(row) for tag in HEARD.findall(content(row)))
    for tag, line in evidence.lines.items():
        asked = evidence.asked(tag)
        if line.want is not Want.CHAT or told[tag] == len(asked):
            continue
        if told[tag] < len(asked) and any(evidence.is_stopped(row["run_id"]) for row in asked):
            continue  # a person ended that run
        words = f"{line.text!r} was said {len(asked)} times and told of {told[tag]} times."
        yield Complaint("answered once", words, tag=tag)


# ------------------------------------------------------------------------------------------------ tools with effects


def each_call_is_one_that_was_asked_for(evidence: Evidence) -> Complaints:
    for (run, call), deeds in evidence.calls.items():
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
        wanted = 0 if line.want is Want.CHAT else len(asked)
        stopped = any(evidence.is_stopped(row["run_id"]) for row in asked)
        if made[tag] > wanted or (made[tag] < wanted and not stopped):
            yield Complaint(
                "model call", f"{line.text!r} was asked {wanted} times and called {made[tag]} times.", tag=tag
            )


# --------------------------------------------------------------------------------------------------------- approvals


def each_question_is_decided_once(evidence: Evidence) -> Complaints:
    votes = grouped(evidence.tables["votes"], lambda row: row["approval_id"])
    clicks = grouped(evidence.notes, lambda note: note.about.get("approval") if note.what == "clicked" else None)
    for question in evidence.tables["approvals"]:
        given = [row["choice"] for row in votes.get(question["id"], [])]
        if words := wrong_decision(question, given, clicks.get(question["id"], [])):
            yield Complaint("approval", f"The question {question['id']} {words}.", approval=question["id"])


def wrong_decision(question: Row, votes: Sequence[str], clicks: Sequence[object]) -> str | None:
    decided = question["state"] in ("approved", "denied", "answered")
    if len(votes) != decided:
        return f"is {question['state']} by {len(votes)} votes"
    if decided and not any(counts(click, question) for click in clicks):
        return f"is {question['state']}, and nobody who may decide clicked {question['choice']} in its room"
    return None


def counts(click: object, question: Row) -> bool:
    about = getattr(click, "about", {})
    here = (about["place"], about["room"]) == place_of(question["address"])
    return here and about["who"] == ADA and about["choice"] == question["choice"]


def each_question_is_of_the_call_it_names(evidence: Evidence) -> Complaints:
    for question in evidence.tables["approvals"]:
        given = json.loads(question["arguments"])
        line = evidence.lines.get(given["tag"])
        if line is None or (question["tool"], given) != (line.want, arguments(line.tag, line.slowly)):
            words = f"The question {question['id']} is about {question['tool']} {given}, which nobody asked for."
            yield Complaint("approval", words, approval=question["id"])


def no_buttons_are_left(evidence: Evidence) -> Complaints:
    """A copy that nobody can tell of may keep them."""
    for shown in evidence.shown:
        if shown.approval and shown.place != CANNOT_TELL and not is_frozen_copy(shown, evidence):
            words = f"The card {shown.id} in {shown.room} still has buttons."
            yield Complaint("approval", words, approval=shown.approval)


# ------------------------------------------------------------------------------------------------------ visible part


def each_part_is_on_screen_once(evidence: Evidence) -> Complaints:
    """Parts are told apart by the key or marker that went with them, else by their room and text."""
    parts = grouped(fresh_parts(evidence), lambda part: name_of(part, evidence))
    screens = grouped(evidence.shown, screen_name)
    for name, copies in screens.items():
        if name not in parts:
            words = f"{copies[0].first[:80]!r} stands in {copies[0].room}, and nothing of ours says so."
            yield Complaint("visible part", words, place=copies[0].place, room=copies[0].room)
    for name, same in parts.items():
        if wrong := wrong_copies(same, screens.get(name, []), evidence):
            said = f"{text_of(same[0])[:80]!r} {wrong}."
            yield Complaint("visible part", said, delivery=same[0]["delivery_id"])


def fresh_parts(evidence: Evidence) -> Iterator[Row]:
    """Parts that are messages of their own, and not edits of an earlier one."""
    for delivery, parts in evidence.parts.items():
        edits = evidence.deliveries[delivery]["edits"]
        replaced = {part["receipt"] for part in evidence.parts.get(edits, []) if part["receipt"]}
        is_page = place_of(evidence.deliveries[delivery]["address"])[0] == WEB
        yield from (p for p in parts if not (edits and p["ordinal"] == 1 and (is_page or p["receipt"] in replaced)))


def name_of(part: Row, evidence: Evidence) -> tuple[str, ...]:
    place, room = place_of(evidence.deliveries[part["delivery_id"]]["address"])
    return (place, part_id(part)) if place in (WEB, "key", "lookup") else (place, room, plain(text_of(part)))


def screen_name(shown: Shown) -> tuple[str, ...]:
    return (shown.place, shown.part) if shown.part else (shown.place, shown.room, plain(shown.first))


def wrong_copies(parts: Sequence[Row], copies: Sequence[Shown], evidence: Evidence) -> str | None:
    """What is wrong with how often `parts`, which look alike, are on screen."""
    known = [part for part in parts if part["state"] == "shown"]
    surely = [copy for copy in copies if not is_frozen_copy(copy, evidence)]
    if is_blind(evidence.deliveries[parts[0]["delivery_id"]]):
        return wrong_marks(parts, len(known), copies, evidence)
    if len(copies) < len(known):
        return "is on no screen" if not copies else f"is on screen {len(copies)} times instead of {len(known)}"
    if any(copy.marked for copy in copies):
        return "is marked as a repeat, where one can look"
    if len(copies) > len(parts) and (len(surely) > len(parts) or copies[0].place in (WEB, "key")):
        return f"is on screen {len(copies)} times"
    if copies and copies[0].place == WEB:
        return None  # there people see a card as it is now
    right = {plain(text_of(part)) for part in parts}
    wrong = next((copy for copy in copies if plain(copy.first) not in right), None)
    return f"is on screen as {wrong.first[:80]!r}" if wrong else None


def wrong_marks(parts: Sequence[Row], known: int, copies: Sequence[Shown], evidence: Evidence) -> str | None:
    """Where nobody can tell: each attempt after the first may add a copy, and that one says so; or it is held."""
    further = sum(max(0, part["attempts"] - 1) for part in parts)
    marked = sum(copy.marked for copy in copies)
    fresh = sum(not copy.marked and not is_frozen_copy(copy, evidence) for copy in copies)
    if len(copies) < known:
        return f"is on screen {len(copies)} times, and our records say {known}"
    if fresh > len(parts):
        return f"is on screen {fresh} times without a word that it is a repeat"
    if marked > further:
        return f"is marked as a repeat {marked} times, and was tried again {further} times"
    return "is repeated, where it should be held" if marked and evidence.plan.unknown == "hold" else None


def is_frozen_copy(shown: Shown, evidence: Evidence) -> bool:
    """Whether a frozen process may have shown it, which is counted apart."""
    return any(begin <= shown.at <= end for begin, end in evidence.thaws)


def each_delivery_is_whole(evidence: Evidence) -> Complaints:
    for delivery, parts in evidence.parts.items():
        text = "".join(map(text_of, parts))
        if plain(text) != plain(content(evidence.deliveries[delivery])):
            yield Complaint("visible part", f"The parts of {delivery} are not its text.", delivery=delivery)


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


def parts_come_in_order(evidence: Evidence) -> Complaints:
    """By the first copy of each."""
    first: dict[tuple[str, ...], int] = {}
    for number, shown in enumerate(evidence.shown):
        first.setdefault(screen_name(shown), number)
    for delivery, parts in evidence.parts.items():
        places = [first[name] for part in parts if (name := name_of(part, evidence)) in first]
        if places != sorted(places) and len({text_of(part) for part in parts}) == len(parts):
            yield Complaint("order", f"The parts of {delivery} stand in another order.", delivery=delivery)


def answers_come_in_order(evidence: Evidence) -> Complaints:
    """Of runs that waited for nobody, where no platform delays a message: as they were asked."""
    first = {shown.part.rpartition(".")[0]: number for number, shown in reversed([*enumerate(evidence.shown)])}
    finals = {row["run_id"]: row["id"] for row in evidence.tables["deliveries"] if is_final(row)}
    waited = {row["run_id"] for row in evidence.tables["approvals"]}
    for rows in grouped(evidence.said, lambda row: row["session"]).values():
        straight = [row for row in rows if row["run_id"] not in waited and place_of(row["address"])[0] == WEB]
        for before, after in pairwise(straight):
            if first[finals[before["run_id"]]] > first[finals[after["run_id"]]]:
                words = f"{after['text']!r} was said after {before['text']!r}, and its answer stands before."
                yield Complaint("order", words, signal=after["id"])


# --------------------------------------------------------------------------------------------------------- small talk


def is_final(delivery: Row) -> bool:
    return bool(delivery["kind"] == "final")


def is_blind(delivery: Row) -> bool:
    """Whether nobody can tell what its place shows."""
    return place_of(delivery["address"])[0] == CANNOT_TELL


def plain(text: str) -> str:
    """As its plain twin says it: which of the two came through is up to the platform."""
    return text.replace("*", "")


def content(delivery: Row) -> str:
    return str(json.loads(delivery["content"])["text"])


def frozen_repeats(evidence: Evidence) -> int:
    """Parts that a frozen process repeated, where nothing refuses that."""
    counted = Counter(screen_name(shown) for shown in evidence.shown if not shown.marked)
    parts = Counter(name_of(part, evidence) for part in fresh_parts(evidence))
    return sum(max(0, number - parts[name]) for name, number in counted.items())


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
    parts_come_in_order,
    answers_come_in_order,
    no_buttons_are_left,
)
