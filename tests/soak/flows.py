"""Work by rules: workflows, goals and what triggers begin. How the campaign sets it up, and the promises about it. Pure."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from bot.settings.settings import Settings
from bot.settings.triggers.tables import TriggerTable
from bot.settings.workflows.tables import WorkflowTable
from runtime.contract import Kind
from tests.soak.diary import Complaint
from tests.soak.evidence import Evidence, content, grouped
from tests.soak.plan import FLOW_PIECES, Want
from tests.soak.rows import Row

Complaints = Iterator[Complaint]

FLOW: Final = "soak"
NOTED: Final = "noted"
REPORTED: Final = "reported"
"""Begin the reports of the two workflows, before the tag or the event that each is for."""
GOAL_PIECES: Final = 4
"""Runs of a goal in this campaign: its work is accepted in the second turn, and each is judged."""


def arguments_of(number: int | str) -> dict[str, Any]:
    """Arguments of a step's call, under the tag of a piece of the line."""
    return {"tag": f"{{{{ inputs.tag }}}}{number}", "slowly": False}


def steps() -> list[dict[str, Any]]:
    """A call, a fan-out, a question, a call that is asked about, a piece for an agent, a timer, and a call that may be repeated."""
    skip = {"on_error": "skip"}
    return [
        {"name": "look", "tool": "look", "arguments": arguments_of(1)},
        {"name": "each_one", "each": "inputs.pieces", "tool": "post", "arguments": arguments_of("{{ item }}"), **skip},
        {"name": "sure", "ask": "Go on, tag: {{ inputs.tag }}?", "options": ["Yes", "No"], "to": "room", **skip},
        {"name": "write", "after": ["each_one"], "tool": "write", "arguments": arguments_of(4), **skip},
        {"name": "pause", "after": ["sure", "write"], "wait": "1 second"},
        {"name": "work", "after": ["sure", "write"], "prompt": "{{ inputs.tag }}5 look"},
        {"name": "stamp", "after": ["pause", "work"], "tool": "stamp", "arguments": arguments_of(6)},
    ]


FLOWS: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": FLOW,
        "inputs": {"tag": {"type": "text"}, "pieces": ["2", "3"]},
        "steps": steps(),
        "report": f"{REPORTED} {{{{ inputs.tag }}}}",
    },
    {
        "name": NOTED,
        "inputs": {"tag": {"type": "text"}},
        "steps": [{"name": "stamp", "tool": "stamp", "arguments": {"tag": "{{ inputs.tag }}", "slowly": False}}],
        "report": f"{NOTED} {{{{ inputs.tag }}}}",
    },
)
TRIGGERS: Final[tuple[dict[str, Any], ...]] = (
    {"name": "told", "on": "words", "words": [Want.TELL.value]},
    {"name": "task over", "on": "task_done"},
)


def with_flows(settings: Settings) -> Settings:
    """`settings` with these. They are put in once it is loaded: the tools they name are those of the campaign alone."""
    flows = [WorkflowTable.model_validate(flow) for flow in FLOWS]
    inputs = {"tag": "{{ event.id }}"}
    triggers = [TriggerTable.model_validate({**one, "workflow": NOTED, "inputs": inputs}) for one in TRIGGERS]
    return settings.model_copy(update={"workflows": tuple(flows), "triggers": tuple(triggers)})


# ---------------------------------------------------------------------------------------------------- the promises


def each_step_is_done_once(evidence: Evidence) -> Complaints:
    """Of a workflow that came to its end: each call once, in its words, and the effect of each as often as people allowed."""
    calls = grouped(evidence.tables["steps"], lambda row: row["run_id"])
    for run, frozen in evidence.by_rules.items():
        made = Counter(row["call_id"] for row in calls[run] if row["call_id"])
        if twice := [call for call, times in made.items() if times > 1]:
            yield Complaint("workflow", f"The calls {twice} of the run {run} were made more than once.", run=run)
        if frozen["tool"] != "workflow_begin" or evidence.is_stopped(run):
            continue
        given = json.loads(frozen["arguments"])
        wanted = expected(given["inputs"], json.loads(given["definition"])["name"])
        if made.keys() - {frozen["call_id"]} != wanted.keys():
            yield Complaint("workflow", f"The run {run} made the calls {sorted(made)}.", run=run)
        for call, about in wanted.items():
            if about and (words := wrong_deed(evidence, run, call, *about)):
                yield Complaint("workflow", f"The step {call} {words}.", run=run)


def expected(inputs: Mapping[str, Any], name: str) -> dict[str, tuple[str, str] | None]:
    """Calls of a workflow by id, each with the tool of ours and its tag; None for those that are no tool of ours."""
    tag = inputs["tag"]
    if name == NOTED:
        return {"step-stamp-1": ("stamp", tag)}
    pieces = {f"step-each_one-{n}": ("post", f"{tag}{piece}") for n, piece in enumerate(inputs["pieces"], 1)}
    ours = {
        "step-look-1": ("look", f"{tag}1"),
        "step-write-1": ("write", f"{tag}4"),
        "step-stamp-1": ("stamp", f"{tag}6"),
    }
    return {**pieces, **ours, "step-sure-1": None, "step-pause-1": None, "step-work-1": None}


def wrong_deed(evidence: Evidence, run: str, call: str, tool: str, tag: str) -> str | None:
    deeds = evidence.calls.get((run, call), [])
    for deed in deeds:
        if (deed["tool"], deed["arguments"]) != (tool, {"tag": tag, "slowly": False}):
            return f"ran as {deed['tool']} {deed['arguments']}"
    if tool in (Want.LOOK, Want.STAMP) and not any(deed["what"] == "did" for deed in deeds):
        return "was never done"
    return None


def each_start_is_one_workflow(evidence: Evidence) -> Complaints:
    """One run for each call that starts a workflow, with one report."""
    begun = Counter(
        tag for run, given in flows_of(evidence).items() if (tag := given["inputs"]["tag"]) in evidence.lines and run
    )
    asked, done = Counter[str](), Counter[str]()
    for _, call, step in calls_for(evidence, Want.FLOW):
        tag = call.partition("-")[0]
        asked[tag] += 1
        done[tag] += "has begun" in step["result"]
    for tag in {*begun, *asked}:
        if not done[tag] <= begun[tag] <= asked[tag]:
            yield Complaint("workflow", f"{tag} began {begun[tag]} workflows, by {asked[tag]} calls.", tag=tag)
    yield from told_once(evidence, flows_of(evidence).keys(), "workflow")


def each_goal_is_met_once(evidence: Evidence) -> Complaints:
    """A goal that people agreed to: two turns, each judged once, and one report."""
    pieces = Counter(row["parent_run"] for row in evidence.tables["children"])
    goals = {run for run, frozen in evidence.by_rules.items() if frozen["tool"] == "goal_begin"}
    agreed = {run for run, call in evidence.steps if call == "goal-clock"}
    for run in goals:
        if not evidence.is_stopped(run) and pieces[run] != GOAL_PIECES * (run in agreed):
            yield Complaint("goal", f"The goal {run} handed on {pieces[run]} pieces.", run=run)
    set_by = sum("The goal is set" in step["result"] for _, _, step in calls_for(evidence, Want.GOAL))
    made = sum(1 for _ in calls_for(evidence, Want.GOAL))
    if not set_by <= len(goals) <= made:
        yield Complaint("goal", f"{made} calls set {len(goals)} goals, and {set_by} were told so.")
    yield from told_once(evidence, goals, "goal")


def told_once(evidence: Evidence, runs: Collection[str], promise: str) -> Complaints:
    """The end of each is one report in its room."""
    found = grouped(
        (row for row in evidence.tables["deliveries"] if row["kind"] in (Kind.REPORT, Kind.FINAL)),
        lambda row: row["run_id"],
    )
    for run in runs:
        reports = found.get(run, [])
        if len(reports) != 1:
            words = f"The {promise} {run} is {evidence.runs[run]['state']}, and its room was told {len(reports)} times."
            yield Complaint(promise, words, run=run)
            continue
        text, begins = (
            content(reports[0]),
            ("**Goal met** after 2 turns", "The goal ") if promise == "goal" else (REPORTED, NOTED),
        )
        if not evidence.is_stopped(run) and not text.startswith(begins):
            yield Complaint(promise, f"The {promise} {run} ended with {text[:200]!r}.", run=run)


def each_event_fires_once(evidence: Evidence) -> Complaints:
    """One workflow for each message that has the word, and for each task that is done."""
    lines = evidence.lines
    tells = {tag for tag, line in lines.items() if line.want is Want.TELL}
    events = {row["id"] for row in evidence.said if tells & {one.partition(" ")[0] for one in row["text"].splitlines()}}
    events |= {f"{row['id']}:{row['attempts']}" for row in evidence.tables["tasks"] if row["state"] == "done"}
    fired = Counter(
        given["inputs"]["tag"] for given in flows_of(evidence).values() if given["inputs"]["tag"] not in lines
    )
    begun = Counter(row["event"] for row in evidence.tables["trigger_fires"])
    for event in {*events, *begun, *fired}:
        if begun[event] != (event in events):
            yield Complaint("trigger", f"The event {event} fired {begun[event]} times.", signal=event)
        elif fired[event] > 1 or (fired[event] == 0 and not evidence.any_stopped):
            yield Complaint("trigger", f"The work of the event {event} began {fired[event]} times.", signal=event)


def flows_of(evidence: Evidence) -> dict[str, Mapping[str, Any]]:
    """What each run of a workflow froze as it began."""
    found = evidence.by_rules.items()
    return {run: json.loads(step["arguments"]) for run, step in found if step["tool"] == "workflow_begin"}


def calls_for(evidence: Evidence, want: Want) -> Iterator[tuple[str, str, Row]]:
    for (run, call), step in evidence.steps.items():
        line = evidence.lines.get(call.partition("-")[0])
        if line is not None and line.want is want:
            yield run, call, step


FLOW_PROMISES: Final = (
    each_step_is_done_once,
    each_start_is_one_workflow,
    each_goal_is_met_once,
    each_event_fires_once,
)
assert len(FLOW_PIECES) == 6
