"""Work that was handed on, or left to the background: begun once, told once. Pure, as the other promises."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from runtime.contract import ChildState
from runtime.domain.agents.delegation import MOST_IN_A_RUN, NOTHING_BEGUN
from runtime.domain.agents.manifest import MOST_CHILDREN
from tests.soak.clerk import PASSED
from tests.soak.diary import Complaint
from tests.soak.evidence import Evidence, content, grouped, is_final
from tests.soak.plan import HANDED, Want
from tests.soak.rows import Row

Complaints = Iterator[Complaint]


def each_call_is_handed_on_once(evidence: Evidence) -> Complaints:
    """A child for each goal of the call, in its words; or none, and then the model was told why."""
    for (run, call), step in evidence.steps.items():
        line = evidence.lines.get(call.partition("-")[0])
        if line is None or line.want not in HANDED:
            continue
        found = [row["goal"] for row in evidence.brood.get((run, step["number"]), [])]
        none_begun = NOTHING_BEGUN in step["result"] or evidence.is_stopped(run)
        if found != [piece.text for piece in line.pieces] and (found or not none_begun):
            yield Complaint("children", f"The call {call} began {found}.", run=run)
    for run, rows in grouped(evidence.tables["children"], lambda row: row["parent_run"]).items():
        if most_at_once(rows) > MOST_CHILDREN or len(rows) > MOST_IN_A_RUN:
            yield Complaint("children", f"The run {run} has more children than it may.", run=run)


def most_at_once(children: Sequence[Row]) -> int:
    """How many were at work together; one that ends as another begins is over before."""
    moments = sorted(
        moment for row in children for moment in ((row["created_at"], 1), (row["ended_at"] or float("inf"), -1))
    )
    now = most = 0
    for _, change in sorted(moments, key=lambda moment: (moment[0], moment[1])):
        now += change
        most = max(most, now)
    return most


def each_result_reaches_its_parent_once(evidence: Evidence) -> Complaints:
    """As the result of its call, and in the one turn of the parent's conversation that holds it."""
    turns = grouped(evidence.tables["turns"], lambda row: (row["run_id"], row["call_id"]))
    for (run, call), step in evidence.steps.items():
        children = [row for row in evidence.brood.get((run, step["number"]), []) if row["awaits"]]
        if not children or evidence.is_stopped(run):
            continue
        if wrong := wrong_result(step, children, turns.get((run, call), [])):
            yield Complaint("children", f"The call {call} {wrong}.", run=run)


def wrong_result(step: Row, children: Sequence[Row], turns: Sequence[Row]) -> str | None:
    """The answers of its children stand there in the order of the call."""
    at = 0
    for child in children:
        answer = f" answered:\n{child['result']}"
        if child["state"] == ChildState.DONE and (at := step["result"].find(answer, at) + 1) == 0:
            return f"was not told {child['result']!r} in its place, which the child {child['id']} answered"
    if [turn["text"] for turn in turns] != [step["result"]]:
        return f"has the results {[turn['text'] for turn in turns]} before its model, and {step['result']!r} on record"
    return None


def each_end_is_passed_on_once(evidence: Evidence) -> Complaints:
    """Work that nobody waited for: its conversation is told, and the person reads once what came of it."""
    passed = Counter(
        tag for row in evidence.tables["deliveries"] if is_final(row) for tag in PASSED.findall(content(row))
    )
    ends = grouped((row for row in evidence.tables["children"] if not row["awaits"]), lambda row: row["goal"])
    stopped = {row["session"] for row in evidence.runs.values() if row["state"] == "stopped"}
    for goal, children in ends.items():
        tag, is_cut = goal.partition(" ")[0], any(child["parent_session"] in stopped for child in children)
        if passed[tag] > len(children) or (passed[tag] < len(children) and not is_cut):
            words = f"{goal!r} came to {len(children)} ends, and the person was told {passed[tag]} times."
            yield Complaint("children", words, run=children[0]["id"])
    for tag in passed:
        if all(goal.partition(" ")[0] != tag for goal in ends):
            yield Complaint("children", f"The person was told of {tag}, which nobody handed on.", tag=tag)


def each_task_is_told_once(evidence: Evidence) -> Complaints:
    """One task for each call that posts one, and one message in its room for each task."""
    told = grouped((row for row in evidence.tables["deliveries"] if is_final(row)), lambda row: row["run_id"])
    tasks = grouped(evidence.tables["tasks"], lambda row: row["title"])
    posts: Counter[str] = Counter()
    for (run, call), step in evidence.steps.items():
        line = evidence.lines.get(call.partition("-")[0])
        if line is not None and line.want is Want.TASK and not evidence.is_stopped(run):
            posts[json.loads(step["arguments"])["title"]] += 1
    for title in {*posts, *tasks}:
        if len(tasks.get(title, [])) < posts[title] or (len(tasks.get(title, [])) > len(evidence.asked(title))):
            words = f"{title} was posted {posts[title]} times, and is {len(tasks.get(title, []))} tasks."
            yield Complaint("tasks", words, tag=title)
    for task in evidence.tables["tasks"]:
        finals = told.get(task["run_id"], [])
        if len(finals) != 1 or not content(finals[0]).startswith("**Task "):
            words = f"The task {task['title']} is {task['state']}, and its room was told {len(finals)} times."
            yield Complaint("tasks", words, run=task["run_id"] or "")
