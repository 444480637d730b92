"""The pages of goals: all that were set, and one with its contract, its turns and their verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote

from aiohttp import web

from bot.console.html import Html, tag
from bot.console.layout import badge, facts, moment, nothing, page, table, where
from bot.console.pieces import answer_line, cut, own_room
from bot.console.runs.timeline import dollars
from bot.operator.api import ROOT
from bot.operator.operations import Operations
from bot.operator.views import View
from runtime.text.glyphs import legible
from runtime.text.retold import retold
from runtime.text.words import marked, say

GOALS_PLACE: Final = "/console/goals"
GOAL_HEADS: Final = (
    marked("Set"),
    marked("Goal"),
    marked("State"),
    marked("Turns"),
    marked("Set by"),
    marked("Room"),
    marked("Actions"),
)
TURN_HEADS: Final = (marked("Turn"), marked("State"), marked("Answer"), marked("Verdict"))
NO_GOAL_YET: Final = marked("No goal was set yet. Set one in a conversation: `/goal TEXT`.")
GOAL_LINE_CHARS: Final = 80
ANSWER_LINE_CHARS: Final = 80
ANSWER_SHOWN_CHARS: Final = 4_000
"""Characters of a turn's answer; the page of its run has all of it."""
ENDS_TOLD: Final = {
    "met": marked("the judge accepted the result"),
    "declined": marked("whoever set it did not agree"),
    "turns": marked("its turns are over"),
    "deadline": marked("its time is over"),
    "budget": marked("its budget is spent"),
    "senseless": marked("the judge stopped it"),
    "failing": marked("its turns fail"),
}


async def goals(_request: web.Request, do: Operations) -> Html:
    rows = await do.goals()
    return page(
        say("Goals"),
        GOALS_PLACE,
        table(say("Goals"), GOAL_HEADS, map(_line, rows)) if rows else nothing(say(NO_GOAL_YET)),
    )


async def goal(request: web.Request, do: Operations) -> Html:
    row = await do.goal(request.match_info["id"])
    return page(
        say("Goal: {name}", name=cut(row["name"], GOAL_LINE_CHARS)),
        GOALS_PLACE,
        facts(_facts(row, do.actor.person.name)),
        _stop(row),
        *_told(row),
    )


def _line(row: View) -> Sequence[str | Html]:
    name = tag("a", cut(row["name"], GOAL_LINE_CHARS), href=f"{GOALS_PLACE}/{quote(row['id'], safe='')}")
    return (
        moment(row["started_at"]),
        name,
        badge(row["state"]),
        retold(row["how_far"]) or "-",
        legible(row["by"]),
        where(row),
        _stop(row) or "-",
    )


def _facts(row: View, me: str) -> Iterator[tuple[str, str | Html]]:
    run = tag("a", say("Its calls"), href=f"/console/runs/{quote(row['run'], safe='')}") if row["run"] else ""
    told: tuple[tuple[str, str | Html], ...] = (
        (say("State"), badge(row["state"])),
        (say("Waits for"), say(row["waits_for"])),
        (say("Ended, since"), say(ENDS_TOLD[row["end"]]) if row["end"] in ENDS_TOLD else ""),
        (say("Why"), legible(retold(row["reason"].partition("\n")[0]))),
        (say("Turns"), retold(row["how_far"])),
        (say("Bounds"), retold(row["bounds"])),
        (say("Until"), moment(row["until"]) if row["until"] and not row["ended_at"] else ""),
        (say("Judged by"), row["judge"] or (say("the same model") if row["bounds"] else "")),
        (say("Cost"), dollars(row["cost"]) if row["cost"] else ""),
        (say("Set by"), legible(row["by"])),
        (say("Room"), own_room(row, me)),
        (say("Set"), moment(row["started_at"])),
        (say("Ended"), moment(row["ended_at"]) if row["ended_at"] else ""),
        (say("Run"), run),
    )
    return (pair for pair in told if pair[1])


def _told(row: View) -> Iterator[Html]:
    if row["outcome"]:
        yield tag("h2", say("The goal"))
        yield tag("pre", legible(row["outcome"]))
    for title, name in ((say("Done when"), "criteria"), (say("Kept to"), "constraints")):
        if row[name]:
            yield tag("h2", title)
            yield tag("ul", *(tag("li", legible(one)) for one in row[name]))
    yield tag("h2", say("Turns"))
    yield (
        table(say("Turns"), TURN_HEADS, map(_turn, row["turns"]))
        if row["turns"]
        else nothing(say("No turn has begun."))
    )


def _turn(turn: View) -> Sequence[str | Html]:
    score = say("{score} of 10. ", score=f"{turn['score']:g}") if turn["score"] is not None else ""
    answer = _folded(turn["answer"], f"answer-{turn['number']}") if turn["answer"] else ""
    critique = " ".join(turn["critique"].split())
    return str(turn["number"]), badge(turn["state"]), answer, f"{score}{legible(critique)}"


def _folded(text: str, name: str) -> Html:
    return tag(
        "details",
        tag("summary", answer_line(text, ANSWER_LINE_CHARS)),
        tag("pre", legible(text[:ANSWER_SHOWN_CHARS])),
        id=name,
    )


def _stop(row: View) -> Html | None:
    if row["ended_at"] or not row["run"]:
        return None
    form = tag(
        "form",
        tag("button", say("Stop"), type="submit"),
        method="post",
        action=f"{ROOT}/goals/{quote(row['id'], safe='')}/stop",
        data_ask=say("Stop this goal? What its turns did stays done."),
    )
    return tag("div", form, class_="buttons")
