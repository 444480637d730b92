"""The first task: something small that really runs, with a tool, in the process that runs or in one of its own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from bot.node.lock import AlreadyRunning
from bot.operator.client import Gone, connected
from bot.operator.views import View
from bot.settings.settings import Settings
from bot.terminal.conversation import Conversation, new_message, new_room
from bot.terminal.own_process import somebody
from bot.tryouts.causes import CauseWord
from bot.tryouts.model import cause_of_words, fix_of
from runtime.domain.transcript import ERROR
from runtime.errors import BotError
from runtime.text.glyphs import clip
from runtime.text.outside import unfenced

FIRST_TASK: Final = "list the files"
"""It reads and changes nothing. The built-in model knows it, too."""
FIRST_TASK_TRIES: Final = 3
"""Processes that may leave while it is asked: each is asked the same message."""
TOOL_ERROR_MAX_CHARS: Final = 300
TRY_THE_TOOL: Final = "Look at the whole call: signalbox trace --last"
ANSWER_IT: Final = "Answer it: signalbox approvals approve --last"
LOOK_AT_IT: Final = "Look at what happened: signalbox trace --last"
WAIT_OR_LOOK: Final = "The work goes on. Give it longer with --timeout, or look: signalbox trace --last"
ASK_THE_DOCTOR: Final = "Check it: signalbox doctor"


@dataclass(frozen=True, slots=True)
class Tried:
    """Outcome of the first task: `cause` is None where it worked, else `what` happened and the one `fix`."""

    text: str
    room: str
    answer: str = ""
    run: str = ""
    tools: Sequence[str] = ()
    seconds: float = 0.0
    cause: CauseWord | None = None
    what: str = ""
    fix: str = ""


async def try_first_task(settings: Settings, text: str, patience: timedelta) -> Tried:
    """Ask whoever runs; the message keeps its id, so that it is said once however often it is sent."""
    room, message, began = new_room(), new_message(), time.monotonic()
    for last in [False] * (FIRST_TASK_TRIES - 1) + [True]:
        try:
            async with asyncio.timeout(patience.total_seconds()):
                return await _asked(settings, room, message, text, began)
        except TimeoutError:
            what = f"No answer within {patience.total_seconds():g} s."
            return Tried(text, room, cause=CauseWord.NO_ANSWER, what=what, fix=WAIT_OR_LOOK)
        except (AlreadyRunning, Gone) as error:  # it left, or another began just before us
            if last:
                return Tried(text, room, cause=CauseWord.PROCESS, what=str(error), fix=ASK_THE_DOCTOR)
        except BotError as error:
            return Tried(text, room, cause=CauseWord.OTHER, what=str(error), fix=ASK_THE_DOCTOR)
    raise AssertionError  # the last try has returned


async def _asked(settings: Settings, room: str, message: str, text: str, began: float) -> Tried:
    async with somebody(settings) as control, connected(control) as client:
        conversation = Conversation(client, room)
        await conversation.say(text, message)
        view = await conversation.settled()
        run = await client.run(view["run_id"]) if view["run_id"] else {}
    said = conversation.fresh(view)
    answer = "\n\n".join(entry["markdown"] for entry in said)
    return told(Tried(text, room, answer, view["run_id"], seconds=time.monotonic() - began), view, run, settings)


def told(tried: Tried, view: View, run: View, settings: Settings) -> Tried:
    """The task with its outcome, by the rows of its run."""
    calls = [step for step in run.get("steps", ()) if step["kind"] != "model"]
    names = tuple(dict.fromkeys(step["tool"] for step in calls))
    cause, what, fix = _outcome(calls, view, run, settings)
    return Tried(tried.text, tried.room, tried.answer, tried.run, names, tried.seconds, cause, what, fix)


def _outcome(calls: Sequence[View], view: View, run: View, settings: Settings) -> tuple[CauseWord | None, str, str]:
    if view["approvals"]:
        return CauseWord.WAITS, view["approvals"][0]["question"], ANSWER_IT
    if view["run"] in ("failed", "stopped"):
        why = run.get("error") or "It was stopped."
        known = cause_of_words(why)
        fix = fix_of(why, settings.model.name, settings.model.api_base or "")
        return known, why, LOOK_AT_IT if known is CauseWord.OTHER else fix
    for step in calls:
        result = unfenced(step["result"] or "")
        if result.startswith(ERROR):
            what = f"{step['tool']}: {clip(result.removeprefix(ERROR).strip(), TOOL_ERROR_MAX_CHARS)}"
            return CauseWord.TOOL_ERROR, what, TRY_THE_TOOL
    return None, "", ""
