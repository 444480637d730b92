"""The checker knows how work that is handed on must end, and sees each way in which that goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from runtime.contract import Content
from tests.soak.clerk import arguments, tool_of
from tests.soak.diary import Complaint
from tests.soak.evidence import Evidence
from tests.soak.handed import (
    each_call_is_handed_on_once,
    each_end_is_passed_on_once,
    each_result_reaches_its_parent_once,
    each_task_is_told_once,
)
from tests.soak.plan import Line, Plan, Want

SPLIT: Final = Line("w01001", Want.SPLIT)
LATER: Final = Line("w01002", Want.LATER)
TASK: Final = Line("w01004", Want.TASK)
LINES: Final = (SPLIT, LATER, TASK)
ANSWERS: Final = ("heard w010011", "ended w010012-1: done", "ended w010013-1: done")
RESULT: Final = "\n\n".join(f"{n}. main answered:\n{answer}" for n, answer in enumerate(ANSWERS, 1))

Promise = Callable[[Evidence], Iterator[Complaint]]
Tables = dict[str, list[dict[str, Any]]]


def well() -> Tables:
    """Rows of three calls of one run that went as they should."""
    return {
        "signals": [signal("t", "task", f"[Task]\n\n{TASK.pieces[0].text}")],
        "runs": [run("r"), run("t"), run("later"), *(run(f"c{n}") for n in range(4))],
        "steps": [step(number, line) for number, line in enumerate(LINES)],
        "children": [
            *(child(n, 0, piece.text, ANSWERS[n], awaits=1) for n, piece in enumerate(SPLIT.pieces)),
            child(3, 1, LATER.pieces[0].text, "ended w010021-1: done", awaits=0),
        ],
        "turns": [{"run_id": "r", "call_id": "w01001-1", "text": RESULT}],
        "deliveries": [final("later", "passed w010021: ended w010021-1: done"), final("t", "**Task done: w010041**")],
        "tasks": [{"id": "t1", "title": "w010041", "run_id": "t", "state": "done"}],
    }


def signal(name: str, trigger: str, text: str) -> dict[str, Any]:
    return {"id": name, "kind": "due", "trigger": trigger, "text": text, "run_id": name, "seq": 1}


def run(name: str) -> dict[str, Any]:
    return {"id": name, "state": "done", "session": "lane" if name in ("r", "later") else name}


def step(number: int, line: Line) -> dict[str, Any]:
    given = json.dumps(arguments(line.tag, line.slowly, line.want))
    result = RESULT if line is SPLIT else "Handed to main." if line is LATER else "I'm on it."
    about = {"call_id": f"{line.tag}-1", "tool": tool_of(line.want), "arguments": given, "result": result}
    return {"run_id": "r", "number": number, **about}


def child(number: int, at: int, goal: str, result: str, *, awaits: int) -> dict[str, Any]:
    place = {"parent_run": "r", "parent_step": at, "parent_session": "lane", "ordinal": number}
    when = {"created_at": 1, "ended_at": 2}
    return {"id": f"c{number}", "goal": goal, "result": result, "awaits": awaits, "state": "done", **place, **when}


def final(of: str, text: str) -> dict[str, Any]:
    return {"run_id": of, "kind": "final", "content": Content(text).to_json()}


def complaints(promise: Promise, tables: Tables) -> list[str]:
    lines = {one.tag: one for line in LINES for one in line.family}
    return [one.words for one in promise(Evidence(Plan("handed on", {}, []), lines, [], tables, [], {}, []))]


PROMISES: Final = (
    each_call_is_handed_on_once,
    each_result_reaches_its_parent_once,
    each_end_is_passed_on_once,
    each_task_is_told_once,
)


@pytest.mark.parametrize("promise", PROMISES)
def test_what_went_well_is_nothing_to_complain_of(promise: Promise) -> None:
    assert complaints(promise, well()) == []


def more_children(tables: Tables) -> None:
    tables["children"].append(child(3, 0, SPLIT.pieces[0].text, "", awaits=1))


def one_child_less(tables: Tables) -> None:
    del tables["children"][2]


def too_many_at_once(tables: Tables) -> None:
    tables["children"] += [child(9, number, "", "", awaits=1) for number in (7, 8)]


def answers_in_another_order(tables: Tables) -> None:
    tables["steps"][0]["result"] = RESULT.replace(ANSWERS[0], "x").replace(ANSWERS[1], ANSWERS[0])


def result_never_before_the_model(tables: Tables) -> None:
    tables["turns"][0]["text"] = "still at work: main"


def result_before_the_model_twice(tables: Tables) -> None:
    tables["turns"] *= 2


def end_passed_on_twice(tables: Tables) -> None:
    tables["deliveries"].append(final("r", "passed w010021: again"))


def end_never_passed_on(tables: Tables) -> None:
    del tables["deliveries"][0]


def end_of_nothing(tables: Tables) -> None:
    tables["deliveries"].append(final("r", "passed w099991: of nobody"))


def task_told_twice(tables: Tables) -> None:
    tables["deliveries"] *= 2


def task_never_told(tables: Tables) -> None:
    del tables["deliveries"][1]


def task_posted_twice(tables: Tables) -> None:
    tables["tasks"] *= 2


def task_never_posted(tables: Tables) -> None:
    del tables["tasks"][0]


@pytest.mark.parametrize(
    ("promise", "spoil"),
    [
        (PROMISES[0], more_children),
        (PROMISES[0], one_child_less),
        (PROMISES[0], too_many_at_once),
        (PROMISES[1], answers_in_another_order),
        (PROMISES[1], result_never_before_the_model),
        (PROMISES[1], result_before_the_model_twice),
        (PROMISES[2], end_passed_on_twice),
        (PROMISES[2], end_never_passed_on),
        (PROMISES[2], end_of_nothing),
        (PROMISES[3], task_told_twice),
        (PROMISES[3], task_never_told),
        (PROMISES[3], task_posted_twice),
        (PROMISES[3], task_never_posted),
    ],
)
def test_each_way_to_break_it_is_seen(promise: Promise, spoil: Callable[[Tables], None]) -> None:
    tables = well()
    spoil(tables)
    assert complaints(promise, tables)


def test_a_piece_that_a_person_stopped_may_be_left_untold() -> None:
    tables = well()
    del tables["deliveries"][0]
    tables["runs"][2]["state"] = "stopped"
    assert complaints(each_end_is_passed_on_once, tables) == []
