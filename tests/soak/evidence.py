"""Everything that is known about an episode when it is over, by what one may ask of it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from runtime.contract import Address, Content, Trigger
from runtime.domain.quality.gate import HOW_TO_JUDGE
from tests.soak.diary import Note
from tests.soak.plan import WEB, Line, Plan
from tests.soak.platforms import Shown
from tests.soak.rows import Row, Tables

CANNOT_TELL: Final = "none"
"""The place that shows what was sent to it and tells nothing."""

JUDGES: Final = HOW_TO_JUDGE.partition("\n")[0]
"""The first line of words for a judge."""

THAW: Final = 3.0  # seconds after it goes on in which a process that was frozen may still write to a socket


@dataclass(frozen=True)
class Evidence:
    """`notes` is the diary, `acked` when each event was acknowledged, `deeds` the journal of the tools."""

    plan: Plan
    lines: Mapping[str, Line]
    notes: Sequence[Note]
    tables: Tables
    shown: Sequence[Shown]
    acked: Mapping[str, float]
    deeds: Sequence[Mapping[str, Any]]
    log: str = ""

    @cached_property
    def events(self) -> Mapping[str, Note]:
        """The first time that somebody did each thing, by its id."""
        found: dict[str, Note] = {}
        for note in self.notes:
            if note.what in ("said", "clicked", "stopped"):
                found.setdefault(note.about["event"], note)
        return found

    @cached_property
    def signals(self) -> Mapping[str, Sequence[Row]]:
        """By event, those of people."""
        return grouped((row for row in self.tables["signals"] if row["kind"] != "due"), event_of)

    @cached_property
    def said(self) -> Sequence[Row]:
        """Messages that wait for an answer of their own, in the order of their lanes."""
        rows = [row for row in self.tables["signals"] if row["kind"] == "said" and row["seq"] is not None]
        return sorted(rows, key=lambda row: (row["session"], row["seq"]))

    @cached_property
    def handed(self) -> Sequence[Row]:
        """Messages with which work begins that somebody handed on, or left to the background."""
        return [row for row in self.tables["signals"] if row["trigger"] in (Trigger.CHILD, Trigger.TASK)]

    @cached_property
    def children(self) -> Mapping[str, Row]:
        return {row["id"]: row for row in self.tables["children"]}

    @cached_property
    def brood(self) -> Mapping[tuple[str, int], Sequence[Row]]:
        """Children by run and step, in the order of the call."""
        rows = sorted(self.tables["children"], key=lambda row: row["ordinal"])
        return grouped(rows, lambda row: (row["parent_run"], row["parent_step"]))

    @cached_property
    def runs(self) -> Mapping[str, Row]:
        return {row["id"]: row for row in self.tables["runs"]}

    @cached_property
    def steps(self) -> Mapping[tuple[str, str], Row]:
        """Tool steps, by run and call."""
        return {(row["run_id"], row["call_id"]): row for row in self.tables["steps"] if row["call_id"]}

    @cached_property
    def by_rules(self) -> Mapping[str, Row]:
        """Runs of workflows and goals, each with the step in which it froze what it goes by."""
        return {run: row for (run, _), row in self.steps.items() if row["tool"] in ("workflow_begin", "goal_begin")}

    @cached_property
    def any_stopped(self) -> bool:
        return any(row["state"] == "stopped" for row in self.tables["runs"])

    @cached_property
    def approvals(self) -> Mapping[tuple[str, int], Sequence[Row]]:
        """By run and step, in the order asked."""
        rows = sorted(self.tables["approvals"], key=lambda row: row["asked_at"])
        return grouped(rows, lambda row: (row["run_id"], row["step"]))

    @cached_property
    def deliveries(self) -> Mapping[str, Row]:
        return {row["id"]: row for row in self.tables["deliveries"]}

    @cached_property
    def parts(self) -> Mapping[str, Sequence[Row]]:
        """By delivery, in their order."""
        rows = sorted(self.tables["parts"], key=lambda row: row["ordinal"])
        return grouped(rows, lambda row: row["delivery_id"])

    @cached_property
    def calls(self) -> Mapping[tuple[str, str], Sequence[Mapping[str, Any]]]:
        """What the tools wrote down, by run and call."""
        return grouped(self.deeds, lambda deed: (deed["run"], deed["call"]))

    @cached_property
    def thaws(self) -> Sequence[tuple[float, float]]:
        """The spans in which a frozen process may have repeated a part: another one had its duties by then."""
        if len(self.plan.ends) == 1:
            return []
        return [(note.at, note.at + THAW) for note in self.notes if note.what == "thawed"]

    def asked(self, tag: str) -> list[Row]:
        """Messages with a line of that tag, by people or by those who hand work on."""
        handed = (row for row in self.handed if not is_judging(row["text"]))
        return [row for row in (*self.said, *handed) if tag in tags_in(row["text"])]

    def is_stopped(self, run: str | None) -> bool:
        """Whether a person ended it, or one above it."""
        if run is None or self.runs[run]["state"] == "stopped":
            return True
        child = self.children.get(run)
        return child is not None and (child["state"] == "stopped" or self.is_stopped(child["parent_run"]))


def grouped(rows: Any, key: Any) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def is_judging(text: str) -> bool:
    """Whether these are words for whoever judges what another run did."""
    return JUDGES in text


def event_of(signal: Row) -> str:
    """The page puts the person in front of the id."""
    return str(signal["dedupe_key"]).rpartition("#")[2]


def tags_in(text: str) -> list[str]:
    return [line.partition(" ")[0] for line in text.splitlines()]


def place_of(address: str) -> tuple[str, str]:
    """(place, room) of the address in a row."""
    parsed = Address.parse(address)
    return (WEB if parsed.channel == WEB else parsed.account.removeprefix("bot-")), parsed.room


def text_of(part: Row) -> str:
    raw = json.loads(part["body"])
    return str(raw["markdown"] if "markdown" in raw else raw["text"])


def part_id(part: Row) -> str:
    return f"{part['delivery_id']}.{part['ordinal']}"


def is_final(delivery: Row) -> bool:
    return bool(delivery["kind"] == "final")


def is_blind(delivery: Row) -> bool:
    """Whether nobody can tell what its place shows."""
    return place_of(delivery["address"])[0] == CANNOT_TELL


def content(delivery: Row) -> str:
    return Content.from_json(delivery["content"]).all_text
