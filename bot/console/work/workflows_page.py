"""The pages of workflows: those that there are, those that were begun, and how far one is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, facts, kind_words, moment, nothing, page, table, where
from bot.console.pieces import cut, own_room
from bot.console.work.graph import UNKNOWN_STATE, graph
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.domain.agents.tasks import short_id
from runtime.text.glyphs import legible
from runtime.text.retold import retold
from runtime.text.words import count, marked, say, several

WORKFLOWS_PLACE: Final = "/console/workflows"
FLOW_HEADS: Final = (marked("Workflow"), marked("About"), marked("Inputs"), marked("Steps"))
BEGUN_HEADS: Final = (
    marked("Started"),
    marked("Workflow"),
    marked("State"),
    marked("Steps"),
    marked("Started by"),
    marked("Room"),
)
STEP_HEADS: Final = (marked("Step"), marked("Kind"), marked("State"), marked("Result"))
HOW_TO_ADD: Final = marked(
    "There are no workflows. Add one as a file in `workflows/` beside the settings file; without a settings file that folder isn't read."
)
RESULT_SHOWN: Final = 4_000
"""Characters of a step's result; the page of its run has all of it."""
AT_AN_END: Final = ("failed", "stopped")
LEFT_OUT: Final = "skipped"
"""The state of one that its schedule didn't begin, since the one before was at work."""


async def workflows(_request: web.Request, do: Operations) -> Html:
    flows, begun = await do.workflows(), await do.workflow_runs()
    return page(
        say("Workflows"),
        WORKFLOWS_PLACE,
        table(say("Workflows"), FLOW_HEADS, map(_flow, flows)) if flows else nothing(say(HOW_TO_ADD)),
        tag("h2", say("Begun")),
        table(say("Begun workflows"), BEGUN_HEADS, map(_begun, begun)) if begun else nothing(say("None was begun.")),
    )


async def workflow(request: web.Request, do: Operations) -> Html:
    """One that was begun: its graph, and what each step gave."""
    row = await do.workflow_run(request.match_info["id"])
    return page(
        say("Workflow {name}", name=legible(row["name"])),
        WORKFLOWS_PLACE,
        _facts(row, do.actor.person.name),
        _forms(row),
        *_steps(row),
    )


async def around_run(which: str, do: Operations) -> Sequence[Html]:
    """The graph of the workflow that a run works through, with where it is."""
    row = await do.workflow_run(which)
    name = tag("a", legible(row["name"]), href=_place(row))
    return [
        tag("h2", say("Workflow"), " ", name),
        graph(row["steps"]) if row["steps"] else nothing(say("It has not begun.")),
    ]


def _flow(row: View) -> Sequence[str | Html]:
    inputs = ", ".join(
        one["name"] if one["required"] else f"{one['name']}={in_words(one['default'])}" for one in row["inputs"]
    )
    picture = tag(
        "details", tag("summary", several(len(row["steps"]), "step")), graph(row["steps"]), id=f"flow-{row['name']}"
    )
    return tag("b", legible(row["name"])), legible(row["about"]), legible(inputs), picture


def _begun(row: View) -> Sequence[str | Html]:
    name = tag("a", legible(row["name"]), href=_place(row))
    then = _resumed(row)
    state = tag("span", badge(row["state"]), " " if then else None, then)
    how_far = say("{done} of {steps}", done=count(row["done"]), steps=count(len(row["steps"]))) if row["steps"] else ""
    return moment(row["started_at"]), name, state, how_far, legible(row["by"]), where(row)


def _facts(row: View, me: str) -> Html:
    given = ", ".join(f"{name}={in_words(value)}" for name, value in row["inputs"].items())
    run = tag("a", say("Its calls"), href=f"/console/runs/{quote(row['run'], safe='')}") if row["run"] else ""
    told: Iterator[tuple[str, str | Html]] = (
        (name, value)
        for name, value in (
            (say("State"), badge(row["state"])),
            (say("Goes on"), _resumed(row) or ""),
            (say("Why"), legible(retold(row["reason"].partition("\n")[0]))),  # its steps are told below
            (say("Started by"), legible(row["by"])),
            (say("Room"), own_room(row, me)),
            (say("Inputs"), legible(given)),
            (say("Started"), moment(row["started_at"])),
            (say("Ended"), moment(row["ended_at"]) if row["ended_at"] else ""),
            (say("Definition"), row["sha256"]),
            (say("Run"), run),
        )
        if value
    )
    return facts(told)


def _forms(row: View) -> Html | None:
    if row["state"] == LEFT_OUT:
        return None
    if row["ended_at"] is None:
        return _form(
            row,
            "cancel",
            say("Stop"),
            say("Stop the workflow {name}? What its steps did stays done.", name=row["name"]),
        )
    if row["state"] in AT_AN_END and row["steps"] and not row["resumed_as"]:
        ask = say("Go on with {name} where it stopped?", name=row["name"])
        return _form(row, "resume", say("Resume"), ask, then=f"{WORKFLOWS_PLACE}/{{id}}")
    return None


def _form(row: View, verb: str, word: str, ask: str, then: str | None = None) -> Html:
    action = f"{ROOT}/workflow-runs/{quote(row['id'], safe='')}/{verb}"
    return tag("form", tag("button", word, type="submit"), method="post", action=action, data_ask=ask, data_then=then)


def _resumed(row: View) -> Html | None:
    """The link to the one that goes on with it."""
    if not row["resumed_as"]:
        return None
    place = f"{WORKFLOWS_PLACE}/{quote(row['resumed_as'], safe='')}"
    return tag("a", say("resumed as {id}", id=short_id(row["resumed_as"])), href=place)


def _steps(row: View) -> Iterator[Html]:
    if not row["steps"]:
        yield nothing(say("It has not begun."))
        return
    yield graph(row["steps"])
    yield tag("h2", say("Steps"))
    yield table(say("Steps"), STEP_HEADS, map(_step, row["steps"]))


def _step(step: View) -> Sequence[str | Html]:
    name = f"{step['name']} ({step['done']}/{step['pieces']})" if step["pieces"] > 1 else step["name"]
    told, kind = retold(step["why"]) or step["result"], kind_words(step["kind"])
    if step["state"] == "waiting":
        return legible(name), kind, _state(step["state"]), legible(told)
    result = (
        tag("details", tag("summary", cut(told, 80)), tag("pre", legible(told[:RESULT_SHOWN])), id=f"of-{step['name']}")
        if told
        else ""
    )
    return legible(name), kind, _state(step["state"]), result


def _state(state: str) -> Html:
    """A step that has not begun asks nobody for anything, as a pending question does."""
    return tag("span", say(state), class_="badge over") if state == UNKNOWN_STATE else badge(state)


def in_words(value: object) -> str:
    """The value of an input: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _place(row: View) -> str:
    return f"{WORKFLOWS_PLACE}/{quote(row['id'], safe='')}"
