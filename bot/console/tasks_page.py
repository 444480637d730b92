"""The pages of tasks: all of them, and one with what was asked and what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console import pieces
from bot.console.html import Html, tag
from bot.console.layout import badge, facts, moment, page, table, tabs, where
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.contract import TaskState
from runtime.text.words import marked, say

TASKS_PLACE: Final = "/console/tasks"
TASK_HEADS: Final = (
    marked("Task"),
    marked("State"),
    marked("Agent"),
    marked("Tries"),
    marked("Asked by"),
    marked("Posted"),
    marked("Room"),
    marked("Actions"),
)
PROCESS_HEADS: Final = (
    marked("Command"),
    marked("State"),
    marked("Agent"),
    marked("Started"),
    marked("Room"),
    marked("Why"),
    marked("Actions"),
)
TASK_TEXTS: Final = {
    "goal": marked("Goal"),
    "criteria": marked("Done when"),
    "input": marked("Input"),
    "result": marked("Result"),
}
AS_GIVEN: Final = "input"
"""Data more often than words, so it stands as it was given."""
TASK_TURNS: Final = {"open": "drop", "claimed": "drop", "failed": "retry", "dropped": "retry"}
"""What can be done with a task, by its state."""
TASK_VERBS: Final = {"drop": marked("Drop"), "retry": marked("Try again")}


async def tasks(request: web.Request, do: Operations) -> Html:
    state = request.query.get("state", "")
    rows = await do.tasks(state)
    shown = tabs(say("State"), TASKS_PLACE, TaskState, state), table(say("Tasks"), TASK_HEADS, map(_line, rows))
    programs = await do.processes()
    more = (
        [tag("h2", say("Processes")), table(say("Processes"), PROCESS_HEADS, map(_process, programs))]
        if programs
        else []
    )
    return page(say("Tasks"), TASKS_PLACE, *shown, *more)


async def task(request: web.Request, do: Operations) -> Html:
    row = await do.task(request.match_info["id"])
    return page(
        row["title"], TASKS_PLACE, facts(_facts(row)), _turn(row) if row["state"] in TASK_TURNS else None, *_texts(row)
    )


def _line(row: View) -> tuple[str, ...]:
    title = tag("a", row["title"], href=f"{TASKS_PLACE}/{quote(row['id'], safe='')}")
    told = row["owner"] or "-", str(row["attempts"]), row["by"] or "-"
    return title, _state(row), *told, moment(row["created_at"]), where(row), _turn(row)


def _state(row: View) -> Html:
    return badge("asked") if row["asks"] else badge(row["state"])


def _facts(row: View) -> Iterator[tuple[str, str]]:
    yield say("State"), _state(row)
    yield say("Room"), where(row)
    yield say("For"), row["agent"]
    if row["owner"]:
        yield say("Claimed by"), row["owner"]
    if row["by"]:
        yield say("Asked by"), row["by"]
    yield say("Tries"), str(row["attempts"])
    for name, words in (("due_at", marked("Due")), ("created_at", marked("Posted")), ("ended_at", marked("Ended"))):
        if row[name]:
            yield say(words), moment(row[name])
    if row["run"]:
        yield say("Run"), tag("a", say("Steps"), href=f"/console/runs/{quote(row['run'], safe='')}")


def _texts(row: View) -> Iterator[Html]:
    for name, words in TASK_TEXTS.items():
        if row[name]:
            yield tag("h2", say(words))
            yield tag("pre", row[name] if name == AS_GIVEN else pieces.unmarked(row[name]))


def _turn(row: View) -> Html:
    if (verb := TASK_TURNS.get(row["state"])) is None:
        return tag("span", "-", class_="faint")
    form = tag(
        "form",
        tag("button", say(TASK_VERBS[verb]), type="submit"),
        method="post",
        action=f"{ROOT}/tasks/{quote(row['id'], safe='')}/{verb}",
        data_ask=say("Drop {title}? A run that works on it ends.", title=row["title"]) if verb == "drop" else None,
    )
    return tag("div", form, class_="buttons")


def _process(row: View) -> tuple[str, ...]:
    why = row["reason"] or ("" if row["exit"] is None else say("exit code {exit}", exit=row["exit"]))
    told = row["agent"], moment(row["started_at"]), where(row), why or "-"
    return tag("code", row["command"]), badge(row["state"]), *told, _stop(row)


def _stop(row: View) -> Html:
    if row["state"] != "running":
        return tag("span", "-", class_="faint")
    form = tag(
        "form",
        tag("button", say("Stop"), type="submit"),
        method="post",
        action=f"{ROOT}/processes/{quote(row['id'], safe='')}/stop",
        data_ask=say("Stop this process?"),
    )
    return tag("div", form, class_="buttons")
