"""A model that answers each thing that was asked exactly once, whatever order the transcript came to have.

It keeps nothing: what it called for and what it told stands in the transcript, so the same one gives the same reply. Where
a summary is wanted of it, it writes down all of that, a line each, and reads it there later.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import count
from typing import Any, Final

from runtime.context import handoff, summaries
from runtime.contract import AssistantTurn, Call, ModelReply, ModelRequest, OnText, ToolTurn, Turn, Usage, UserTurn
from runtime.domain.transcript import RECORD_BEGINS, STILL_AT_WORK, TOLD_LATER, WAITING_FOR_APPROVAL
from tests.soak.evidence import is_judging
from tests.soak.plan import HANDED, SPOKEN, Line, Want, board_of

LINE: Final = re.compile(rf"\b(w\d+) ({'|'.join(Want)})( slowly)?(?: (\d+))?$", re.MULTILINE)
HEARD: Final = re.compile(r"\bheard (w\d+)\b")
MADE: Final = re.compile(r"\bmade (w\d+-\d+)\b")
CALLED: Final = re.compile(
    r"^assistant called \w+ {\"(tag|goals?|title|text|name)\": \[?\"(?:For tag: |soak\", \"inputs\": {\"tag\": \")?(w\d+)",
    re.MULTILINE,
)
ENDED: Final = re.compile(r"\bended (w\d+-\d+)\b")
OVER: Final = re.compile(
    rf"(?:{re.escape(TOLD_LATER)}: “(w\d+)[^”]*”[^\n]*\n\n(?:\w+ answered:\n)?|^over (w\d+) )([^\n]*)", re.MULTILINE
)
"""What came of work that nobody waited for, as a conversation is told of it, or as its record says."""
PASSED: Final = re.compile(r"\bpassed (w\d+)\b")
WAITS: Final = (WAITING_FOR_APPROVAL, STILL_AT_WORK)
"""How the result of a call begins that is not over."""
CRITIQUE: Final = "once more, please"
SECOND_TRY: Final = "This is the second try."
"""A judge sends the first result back, and accepts what says this."""
NOTHING: Final = "All of it has been said."

Asked = tuple[str, Want, bool, int]


class Clerk:
    """`think` is how long each reply takes."""

    name = "clerk"

    def __init__(self, think: timedelta = timedelta()) -> None:
        self._think = think
        self._calls = count()

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        on_text("Let me see")
        await asyncio.sleep(self._think.total_seconds())
        if request.system.startswith((summaries.TASK, handoff.TASK)):
            return ModelReply(record(request.turns[0].text), (), self._spent())
        if is_judging(request.turns[0].text):
            return ModelReply(verdict(request.turns[0].text), (), self._spent())
        if wanted := list(calls(request.turns)):
            return ModelReply("", tuple(wanted), self._spent())
        last = SECOND_TRY if CRITIQUE in request.turns[0].text else ""
        return ModelReply("\n".join([*told(request.turns), last]).strip() or NOTHING, (), self._spent())

    def _spent(self) -> Usage:
        """Each call costs another sum, so that none can stand for another."""
        return Usage(self.name, 1, 1, 1_000 + next(self._calls))


def asked(turns: Sequence[Turn]) -> Iterator[Asked]:
    for turn in turns:
        if isinstance(turn, UserTurn):
            before, begins, after = turn.text.partition(RECORD_BEGINS)
            said = after if begins else before  # requests that stand before a record stand in it too
            for tag, want, slowly, length in LINE.findall(said):
                yield tag, Want(want), bool(slowly), int(length or 0)


def calls(turns: Sequence[Turn]) -> Iterator[Call]:
    """For each thing asked for, as often as it was, the call that was not made yet."""
    made = {call.id for turn in turns if isinstance(turn, AssistantTurn) for call in turn.calls}
    made.update(name for turn in turns if isinstance(turn, UserTurn) for name in MADE.findall(turn.text))
    seen: Counter[str] = Counter()
    for tag, want, slowly, _ in asked(turns):
        seen[tag] += 1
        if want not in SPOKEN and (name := call_id(tag, seen[tag])) not in made:
            yield Call(name, tool_of(want), json.dumps(arguments(tag, slowly, want)))


def told(turns: Sequence[Turn]) -> Iterator[str]:
    """What was heard, and how calls ended, as far as no answer says so."""
    texts = "\n".join(turn.text for turn in turns if not isinstance(turn, ToolTurn))  # in a record, a user's turn
    heard, ended = Counter(HEARD.findall(texts)), set(ENDED.findall(texts))
    for tag, want, _, length in asked(turns):
        if want in SPOKEN:
            heard[tag] -= 1
            if heard[tag] < 0:
                yield answer(tag, length)
    for turn in turns:
        if isinstance(turn, ToolTurn) and turn.call_id not in ended and not turn.text.startswith(WAITS):
            yield f"ended {turn.call_id}: {turn.text}"
    yield from passed_on(turns)


def passed_on(turns: Sequence[Turn]) -> Iterator[str]:
    """What came of work that nobody waited for, as far as no answer says so."""
    told = Counter(tag for turn in turns if isinstance(turn, AssistantTurn) for tag in PASSED.findall(turn.text))
    for turn in turns:
        if isinstance(turn, UserTurn):
            told.update(PASSED.findall(turn.text) if RECORD_BEGINS in turn.text else ())
            for tag, result in overs(turn.text):
                told[tag] -= 1
                if told[tag] < 0:
                    yield f"passed {tag}: {result}"


def overs(text: str) -> Iterator[tuple[str, str]]:
    """(tag, what came of it)."""
    for told, kept, result in OVER.findall(text):
        yield told or kept, result


def verdict(question: str) -> str:
    if SECOND_TRY in question:
        return "**PASS**"
    return json.dumps({"verdict": "FAIL", "score": 5, "critique": CRITIQUE})


def record(told: str) -> str:
    """What was asked, called for and told of in a conversation, or in the record of its beginning."""
    made = dict.fromkeys(MADE.findall(told))
    times = Counter(name.partition("-")[0] for name in made)
    for key, named in CALLED.findall(told):
        tag = named if key in ("tag", "text", "name") else named[:-1]  # a call that hands work on names its first piece
        times[tag] += 1
        made[call_id(tag, times[tag])] = None
    return "\n".join(
        [
            *(found[0] for found in LINE.finditer(told)),
            *(f"heard {tag}" for tag in HEARD.findall(told)),
            *(f"made {name}" for name in made),
            *(f"ended {name}" for name in dict.fromkeys(ENDED.findall(told))),
            *(f"over {tag} {result}" for tag, result in overs(told)),
            *(f"passed {tag}" for tag in PASSED.findall(told)),
        ]
    )


def answer(tag: str, length: int) -> str:
    """What a line of chat is answered with; a long one takes several messages where those are short."""
    return " ".join([f"heard {tag}", *(f"{tag}x{number:02}" for number in range(length))])


def call_id(tag: str, time: int) -> str:
    return f"{tag}-{time}"


def sent(tag: str) -> str:
    """Text of a message that is posted for a line."""
    return f"{tag} was sent"


PROGRAM_TOOLS: Final[Mapping[Want, str]] = {
    Want.TASK: "task_post",
    Want.SEND: "channel_send",
    Want.FLOW: "workflow_start",
    Want.GOAL: "goal_set",
}


def tool_of(want: Want) -> str:
    """The tool by which a want is met."""
    if want in PROGRAM_TOOLS:
        return PROGRAM_TOOLS[want]
    return {Want.SPLIT: "delegate_many"}.get(want, "delegate") if want in HANDED else want


def arguments(tag: str, slowly: bool, want: Want = Want.LOOK) -> dict[str, Any]:
    goals = [piece.text for piece in Line(tag, want, slowly).pieces]
    match want:
        case Want.SPLIT:
            return {"goals": goals}
        case Want.HAND | Want.ERRAND:
            return {"goal": goals[0]}
        case Want.LATER:
            return {"goal": goals[0], "wait": False}
        case Want.TASK:
            return {"title": goals[0].partition(" ")[0], "goal": goals[0], "agent": "me"}
        case Want.SEND:
            return {"text": sent(tag), "to": board_of(tag)}
        case Want.FLOW:
            return {"name": "soak", "inputs": {"tag": tag}}
        case Want.GOAL:
            return {"text": f"For tag: {tag}\n{goals[0]}\nverify: it is done\nturns: 3"}
        case _:
            return {"tag": tag, "slowly": slowly}
