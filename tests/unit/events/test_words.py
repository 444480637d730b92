"""Words of events: every kind of row in the audit has one, and the words are for programs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from bot.reference.events import EVENTS_PAGE, made
from runtime.domain.agents.lifecycle import PAST
from runtime.domain.agents.tasks import TaskEvent
from runtime.domain.approvals import ApprovalState
from runtime.domain.events.words import EVENT_WORDS, OF_ONE_RUN
from runtime.domain.schedules import ScheduleEvent
from runtime.interceptors.chain import AUDIT_KINDS, FAILED_KIND
from runtime.timeline.run_events import WORD_OF_WHAT

ROOT = Path(__file__).parents[3]
TELLERS = {"fact": 1, "note_fact": 0}
"""Functions that add a row to the audit, with the place of its kind among their arguments."""
MADE = {
    "approval": [state.value for state in ApprovalState if state is not ApprovalState.PENDING],
    "schedule": [event.value for event in ScheduleEvent],
    "agent.": list(PAST.values()),
    "task": [event.value for event in TaskEvent],
    "process": ["ended", "stopped", "late", "lost"],
    "delivery": ["hold", "give-up"],
    "memory": ["pinned", "unpinned"],
    "summary turned": ["on", "off"],
    "undo": ["done", "refused"],
}
"""Kinds that are made of a word at run time, by how they begin."""


def told_kinds() -> Iterator[tuple[str, str]]:
    """Each kind in the source that is written out, or how it begins, with its module."""
    for path in [*(ROOT / "runtime").rglob("*.py"), *(ROOT / "bot").rglob("*.py")]:
        source = path.read_text()
        for node in ast.walk(ast.parse(source)) if "fact(" in source else ():
            if not isinstance(node, ast.Call):
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in TELLERS and len(node.args) > TELLERS[name]:
                for kind in kinds_of(node.args[TELLERS[name]]):
                    yield kind, str(path.relative_to(ROOT))


def kinds_of(told: ast.expr) -> Iterator[str]:
    match told:
        case ast.Constant(value=str() as kind):
            yield kind
        case ast.IfExp(body=one, orelse=other):
            yield from kinds_of(one)
            yield from kinds_of(other)
        case ast.JoinedStr(values=[ast.Constant(value=str() as begin), *_]):
            joint = "" if begin.endswith(".") else " "
            yield from (f"{begin.strip()}{joint}{word}" for word in MADE[begin.strip()])
        case _:
            pass  # a variable, whose words are told where it is set


def test_every_kind_of_row_is_an_event() -> None:
    kinds = sorted(told_kinds())
    assert len(kinds) > 90
    missing = {(kind, where) for kind, where in kinds if kind not in EVENT_WORDS}
    assert not missing
    assert {*AUDIT_KINDS.values(), FAILED_KIND} <= EVENT_WORDS.keys(), "else numbers of events have gaps"


def test_words_are_for_programs() -> None:
    for word in [*(one.word for one in EVENT_WORDS.values()), *OF_ONE_RUN]:
        assert re.fullmatch(r"[a-z]+\.[a-z_]+", word), word


def test_words_of_one_run_are_those_that_are_made() -> None:
    assert {*WORD_OF_WHAT.values(), "tool.failed", "run.noted"} == set(OF_ONE_RUN)


def test_the_events_page_is_fresh() -> None:
    page = EVENTS_PAGE.read_text(encoding="utf-8")
    assert page == made(page), "run python -m bot.reference.events"
