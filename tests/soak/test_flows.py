"""The checker knows how work by rules must end, and sees each way in which that goes wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from runtime.contract import Content
from tests.soak.clerk import arguments, tool_of
from tests.soak.diary import Complaint
from tests.soak.evidence import Evidence
from tests.soak.flows import (
    FLOW,
    NOTED,
    each_event_fires_once,
    each_goal_is_met_once,
    each_start_is_one_workflow,
    each_step_is_done_once,
    expected,
)
from tests.soak.plan import Line, Plan, Want

STARTS: Final = Line("w01001", Want.FLOW)
SETS: Final = Line("w01002", Want.GOAL)
TELLS: Final = Line("w01003", Want.TELL)
LINES: Final = (STARTS, SETS, TELLS)
INPUTS: Final = {"tag": STARTS.tag, "pieces": ["2", "3"]}
FIRED: Final = {"tag": "s1"}

Promise = Callable[[Evidence], Iterator[Complaint]]
Tables = dict[str, list[dict[str, Any]]]


def well() -> Tables:
    """Rows of a workflow, a goal and a trigger that went as they should."""
    return {
        "signals": [said("s1", TELLS.text)],
        "runs": [{"id": name, "state": "done"} for name in ("talk", "flow", "goal", "noted")],
        "steps": [
            called("talk", STARTS, "The workflow soak has begun (abc)."),
            called("talk", SETS, "The goal is set (abc)."),
            *flow_steps("flow", FLOW, INPUTS),
            *flow_steps("noted", NOTED, FIRED),
            step("goal", "goal-begin", "goal_begin", {}),
            step("goal", "goal-clock", "goal_clock", {}),
        ],
        "children": [{"id": f"c{n}", "parent_run": "goal"} for n in range(4)],
        "deliveries": [
            report("flow", f"reported {STARTS.tag}"),
            report("noted", "noted s1"),
            report("goal", "**Goal met** after 2 turns: …"),
        ],
        "tasks": [],
        "trigger_fires": [{"trigger": "told", "event": "s1"}],
    }


def said(name: str, text: str) -> dict[str, Any]:
    return {
        "id": name,
        "kind": "said",
        "trigger": "message",
        "text": text,
        "run_id": "talk",
        "seq": 1,
        "session": "lane",
    }


def called(run: str, line: Line, result: str) -> dict[str, Any]:
    about = arguments(line.tag, line.slowly, line.want)
    return {**step(run, f"{line.tag}-1", tool_of(line.want), about), "result": result}


def step(run: str, call: str, tool: str, given: dict[str, Any]) -> dict[str, Any]:
    return {"run_id": run, "number": 1, "call_id": call, "tool": tool, "arguments": json.dumps(given), "result": ""}


def flow_steps(run: str, name: str, inputs: dict[str, Any]) -> list[dict[str, Any]]:
    frozen = {"definition": json.dumps({"name": name}), "inputs": inputs}
    return [step(run, "begin", "workflow_begin", frozen), *(step(run, call, "", {}) for call in expected(inputs, name))]


def report(run: str, text: str) -> dict[str, Any]:
    return {"run_id": run, "kind": "report", "content": Content(text).to_json()}


def deeds() -> list[dict[str, Any]]:
    both = [("flow", call, about) for call, about in expected(INPUTS, FLOW).items() if about]
    both += [("noted", call, about) for call, about in expected(FIRED, NOTED).items() if about]
    return [
        {"run": run, "call": call, "tool": tool, "arguments": {"tag": tag, "slowly": False}, "what": "did", "at": 1.0}
        for run, call, (tool, tag) in both
    ]


def complaints(promise: Promise, tables: Tables, done: list[dict[str, Any]]) -> list[str]:
    lines = {one.tag: one for line in LINES for one in line.family}
    return [one.words for one in promise(Evidence(Plan("by rules", {}, []), lines, [], tables, [], {}, done))]


PROMISES: Final = (each_step_is_done_once, each_start_is_one_workflow, each_goal_is_met_once, each_event_fires_once)


@pytest.mark.parametrize("promise", PROMISES)
def test_work_that_went_well_is_nothing_to_complain_of(promise: Promise) -> None:
    assert complaints(promise, well(), deeds()) == []


def call_made_twice(tables: Tables) -> None:
    tables["steps"].append(next(row for row in tables["steps"] if row["call_id"] == "step-look-1"))


def call_left_out(tables: Tables) -> None:
    tables["steps"] = [row for row in tables["steps"] if row["call_id"] != "step-each_one-2"]


def never_begun(tables: Tables) -> None:
    tables["steps"] = [row for row in tables["steps"] if row["run_id"] != "flow"]


def begun_twice(tables: Tables) -> None:
    tables["runs"].append({"id": "again", "state": "done"})
    tables["steps"] += flow_steps("again", FLOW, INPUTS)
    tables["deliveries"].append(report("again", f"reported {STARTS.tag}"))


def told_twice(tables: Tables) -> None:
    tables["deliveries"] *= 2


def ended_otherwise(tables: Tables) -> None:
    tables["deliveries"][0] = report("flow", "The workflow soak stopped at its step look")


def piece_too_many(tables: Tables) -> None:
    tables["children"].append({"id": "c9", "parent_run": "goal"})


def goal_never_set(tables: Tables) -> None:
    tables["steps"] = [row for row in tables["steps"] if row["run_id"] != "goal"]


def not_accepted(tables: Tables) -> None:
    tables["deliveries"][2] = report("goal", "**Goal not met:** …")


def fired_twice(tables: Tables) -> None:
    tables["trigger_fires"] *= 2


def never_fired(tables: Tables) -> None:
    tables["trigger_fires"].clear()


def fired_for_nothing(tables: Tables) -> None:
    tables["trigger_fires"].append({"trigger": "told", "event": "s9"})


def its_work_never_began(tables: Tables) -> None:
    tables["steps"] = [row for row in tables["steps"] if row["run_id"] != "noted"]


@pytest.mark.parametrize(
    ("promise", "spoil"),
    [
        (PROMISES[0], call_made_twice),
        (PROMISES[0], call_left_out),
        (PROMISES[1], never_begun),
        (PROMISES[1], begun_twice),
        (PROMISES[1], told_twice),
        (PROMISES[1], ended_otherwise),
        (PROMISES[2], piece_too_many),
        (PROMISES[2], goal_never_set),
        (PROMISES[2], not_accepted),
        (PROMISES[3], fired_twice),
        (PROMISES[3], never_fired),
        (PROMISES[3], fired_for_nothing),
        (PROMISES[3], its_work_never_began),
    ],
)
def test_each_way_to_break_work_by_rules_is_seen(promise: Promise, spoil: Callable[[Tables], None]) -> None:
    tables = well()
    spoil(tables)
    assert complaints(promise, tables, deeds())


def test_a_step_that_was_never_done_is_seen() -> None:
    done = [deed for deed in deeds() if deed["call"] != "step-stamp-1"]
    assert len(complaints(each_step_is_done_once, well(), done)) == 2
