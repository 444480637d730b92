"""A broken promise told as what happened: the whole life of a message, in the order of time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Final

from tests.soak.diary import Complaint
from tests.soak.evidence import Evidence, event_of, part_id, place_of, text_of
from tests.soak.rows import Row

Moment = tuple[float, str]
MOST: Final = 150  # lines of one story
AROUND: Final = 1.0  # seconds before and after, for the lives and deaths of the nodes


def story(complaint: Complaint, evidence: Evidence) -> str:
    subject = Subject(complaint.subject, evidence)
    told = sorted(subject.moments())
    everything = [note.at for note in evidence.notes] or [0.0]
    begin, end = (told[0][0], told[-1][0]) if told else (everything[0], everything[-1])
    told = sorted([*told, *lives(evidence, begin - AROUND, end + AROUND)])
    hidden = len(told) - MOST
    return "\n".join(
        [
            complaint.words,
            f"Broken promise: {complaint.promise} (docs/promises.md).",
            "",
            f"What happened{subject.where}:",
            *(f"  {clock(at)} +{at - begin:7.3f} s  {words}" for at, words in told[-MOST:]),
            *([f"  ({hidden} lines before these)"] if hidden > 0 else []),
        ]
    )


def clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))


def lives(evidence: Evidence, begin: float, end: float) -> Iterator[Moment]:
    for note in evidence.notes:
        if "node" in note.about and begin <= note.at <= end:
            how = f" {note.about['how']}" if "how" in note.about else ""
            yield note.at, f"--- the node {note.about['node']} is {note.what}{how}"


class Subject:
    """Everything that belongs to what a complaint names: its runs, messages, questions and deliveries.

    A complaint that names only a room is about all that happened there.
    """

    def __init__(self, named: Mapping[str, str], evidence: Evidence) -> None:
        self._evidence = evidence
        tables = evidence.tables
        signals = [row for row in tables["signals"] if self._is_meant(row, named)]
        self._runs = {row["run_id"] for row in signals if row["run_id"]} | {named.get("run", "")}
        self._runs |= {row["run_id"] for row in tables["approvals"] if row["id"] == named.get("approval")}
        self._runs |= {row["run_id"] for row in tables["deliveries"] if row["id"] == named.get("delivery")}
        self._runs -= {"", None}
        self._signals = [row for row in tables["signals"] if row in signals or row["run_id"] in self._runs]
        self._events = {event_of(row) for row in self._signals} | {named.get("event", "")}
        self._questions = {row["id"] for row in tables["approvals"] if row["run_id"] in self._runs}
        self._deliveries = {row["id"]: row for row in tables["deliveries"] if row["run_id"] in self._runs}
        places = {place_of(row["address"]) for row in [*self._signals, *self._deliveries.values()]}
        self.where = f" in {', '.join(sorted(room for _, room in places))}" if places else ""

    def _is_meant(self, signal: Row, named: Mapping[str, str]) -> bool:
        if "tag" in named:
            return named["tag"] in signal["text"].split()
        if not named.keys() & {"event", "signal", "run", "approval", "delivery"}:
            return named.get("address") == signal["address"] or named.get("room") == place_of(signal["address"])[1]
        return named.get("signal") == signal["id"] or named.get("event") == event_of(signal)

    def moments(self) -> Iterator[Moment]:
        yield from self._outside()
        yield from self._taken_in()
        for run in self._runs & self._evidence.runs.keys():
            yield from self._run(self._evidence.runs[run])
        yield from self._asked()
        for delivery in self._deliveries.values():
            yield from self._delivery(delivery)
        yield from self._seen()
        yield from self._moves()

    def _outside(self) -> Iterator[Moment]:
        for note in self._evidence.notes:
            about = note.about
            if about.get("event") not in self._events and about.get("approval") not in self._questions:
                continue
            what = (
                repr(about["text"]) if note.what == "said" else f"{about.get('choice', '')} {about.get('approval', '')}"
            )
            if note.what in ("said", "clicked", "stopped"):
                yield note.at, f"{about['who']} {note.what} {what} in {about['room']} (event {about['event']})"
        for event in self._events & self._evidence.acked.keys():
            yield self._evidence.acked[event], f"the event {event} is acknowledged"

    def _taken_in(self) -> Iterator[Moment]:
        for row in self._signals:
            became = f"merged into {row['merged_into']}" if row["merged_into"] else row["state"]
            words = f"taken in: the event {event_of(row)} is the signal {row['id']}, number {row['seq']}, now {became}"
            yield row["accepted_at"] / 1e6, f"{words}, run {row['run_id']}"
            if row["answered_at"] is not None:
                yield row["answered_at"] / 1e6, f"the signal {row['id']} is answered"

    def _run(self, run: Row) -> Iterator[Moment]:
        yield (
            run["started_at"] / 1e6,
            f"the run {run['id']} is claimed; {run['claims']} claims in all, now {run['state']}",
        )
        if run["ended_at"] is not None:
            yield run["ended_at"] / 1e6, f"the run {run['id']} is {run['state']} {run['error']}".rstrip()
        for step in self._evidence.tables["steps"]:
            if step["run_id"] == run["id"]:
                yield from self._step(step)

    def _step(self, step: Row) -> Iterator[Moment]:
        what = (
            f"step {step['number']}, {step['tool']} {step['call_id']}" if step["call_id"] else f"step {step['number']}"
        )
        if step["started_at"] is not None:
            yield step["started_at"] / 1e6, f"{what}: begun, by its marker; now {step['state']}"
        if step["ended_at"] is not None:
            yield step["ended_at"] / 1e6, f"{what}: recorded as {step['result'][:80]!r}"
        for deed in self._evidence.calls.get((step["run_id"], step["call_id"]), []):
            yield deed["at"], f"{what}: the tool itself {deed['what']} (process {deed['pid']})"

    def _asked(self) -> Iterator[Moment]:
        for row in self._evidence.tables["approvals"]:
            if row["id"] in self._questions:
                yield row["asked_at"] / 1e6, f"asked: {row['kind']} of step {row['step']}, {row['tool']}, {row['id']}"
            if row["id"] in self._questions and row["decided_at"] is not None:
                by = f" by {row['decided_name']} ({row['choice']})" if row["decided_by"] else ""
                yield row["decided_at"] / 1e6, f"the question {row['id']} is {row['state']}{by}"

    def _delivery(self, row: Row) -> Iterator[Moment]:
        yield (
            row["created_at"] / 1e6,
            f"the delivery {row['id']} ({row['kind']}) is stored; now {row['state']} {row['reason']}",
        )
        for part in self._evidence.parts.get(row["id"], []):
            what = f"the part {part_id(part)} {text_of(part)[:50]!r}"
            if part["marked_at"] is not None:
                yield part["marked_at"] / 1e6, f"{what} is marked, attempt {part['attempts']}; now {part['state']}"
            if part["shown_at"] is not None:
                yield part["shown_at"] / 1e6, f"{what} is checkpointed as {part['receipt']}"

    def _seen(self) -> Iterator[Moment]:
        ids = {part_id(part) for d in self._deliveries for part in self._evidence.parts.get(d, [])}
        texts = {
            (*place_of(row["address"]), text_of(part))
            for row in self._deliveries.values()
            for part in self._evidence.parts.get(row["id"], [])
        }
        for shown in self._evidence.shown:
            if shown.part in ids or (shown.place, shown.room, shown.first) in texts:
                mark = " (marked as a repeat)" * shown.marked
                yield shown.at, f"people see {shown.first[:50]!r}{mark} as {shown.id} in {shown.room}"
            if shown.edited_at is not None and shown.asked in self._questions:
                yield shown.edited_at, f"the card {shown.id} becomes {shown.text[:60]!r}"

    def _moves(self) -> Iterator[Moment]:
        for row in self._evidence.tables["moves"]:
            if row["subject"] in self._runs or row["subject"] in self._deliveries:
                yield row["at"] / 1e6, f"{row['subject']}: {row['what']} {row['detail']}".rstrip()
