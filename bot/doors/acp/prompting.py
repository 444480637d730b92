"""One prompt of an editor: said once, told as it's worked on, and answered once, whatever is cut in between."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final, Literal
from uuid import uuid4

from acp import RequestError, helpers, schema
from acp.interfaces import Client as Editor
from pydantic import ValidationError

from bot.doors.acp.blocks import Spoken
from bot.doors.acp.serving import Serving
from bot.doors.acp.telling import Telling
from bot.operator.client import Gone
from bot.operator.views import View
from bot.terminal.room_wire import RoomWire, wired
from runtime.http.errors import Refusal
from runtime.text.retold import retold
from runtime.text.words import marked, say

StopReason = Literal["end_turn", "cancelled"]

HEARS_WITHIN: Final = timedelta(seconds=2)
"""Time to begin to hear before anything is said; without, the answer comes as a whole."""
HEAR_AGAIN: Final = timedelta(seconds=1)
TEXT_CHOICE: Final = "text"
ALWAYS_CHOICE: Final = "always"
ALLOW_KINDS: Final[Mapping[str, Literal["allow_once", "allow_always", "reject_once"]]] = {
    "approve": "allow_once",
    "conversation": "allow_always",
    ALWAYS_CHOICE: "allow_always",
    "deny": "reject_once",
}
STAYS_OPEN: Final = marked(
    "This question stays open: {question} Answer it on the page, or with `signalbox approvals`. The work goes on then."
)
ATTACHED: Final = "[attached: {path}]"
ANSWER_NEXT: Final = marked("Your next message is the answer.")


class Prompt:
    """Said in the room of its session. `asks` is the question that it left for the next prompt to answer."""

    def __init__(self, serving: Serving, editor: Editor, room: str) -> None:
        self._serving = serving
        self._editor = editor
        self._room = room
        self._message = uuid4().hex
        self._telling = Telling(f"call-{self._message[:8]}")
        self._known: set[tuple[str, int]] | None = None
        self._before: set[str] = set()
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._is_said = self._is_saying = self._is_begun = False
        self._hears = asyncio.Event()
        self._files: list[str] = []
        self._left_open = False
        self._wire: RoomWire | None = None
        self._waiting: asyncio.Timeout | None = None
        self.is_cancelled = False
        self.asks = ""

    async def run(self, spoken: Spoken, answers: str = "") -> StopReason:
        """`answers` is the question that it answers. Errors: BotError, Refusal; with the words of why nothing came of it."""
        control = await self._serving.now()
        while True:
            async with wired(control) as wire:
                self._wire = wire
                if reason := await self._through(wire, spoken, answers):
                    return reason
            control = await self._serving.back()

    async def cancel(self) -> None:
        """Stop the work, now or as soon as it's said."""
        self.is_cancelled = True
        if self._wire and self._is_said:
            with suppress(Gone, Refusal):
                await self._wire.stop(self._room, uuid4().hex)

    async def _through(self, wire: RoomWire, spoken: Spoken, answers: str) -> StopReason | None:
        """The end of it; None where Signalbox went away in between."""
        failed: Exception | None = None
        async with asyncio.TaskGroup() as group:
            hearing = group.create_task(self._hear(wire))
            try:
                await self._say(wire, spoken, answers)
                await self._follow(wire, group)
            except Gone:
                return None
            except (Refusal, RequestError, ConnectionError) as error:
                failed = error
            finally:
                hearing.cancel()
                for task in self._asking.values():
                    task.cancel()
                self._asking.clear()
        if failed:
            raise failed
        return "cancelled" if self.is_cancelled else "end_turn"

    async def _say(self, wire: RoomWire, spoken: Spoken, answers: str) -> None:
        if self._known is None:
            view = await wire.operator.room(self._room)
            self._known = {(entry["id"], entry["version"]) for entry in view["entries"]}
            self._before = {question["id"] for question in view["approvals"]} - {answers}
        if self._is_said:
            if self.is_cancelled:  # perhaps it went away before it heard so
                await self.cancel()
            return
        if answers and spoken.text:
            await self._upload(wire, spoken)  # an answer is words alone: they tell where its files are
            text = "\n".join([spoken.text, *(ATTACHED.format(path=path) for path in self._files)])
            if await self._answers(wire, answers, text):
                self._is_said = True
                return
        with suppress(TimeoutError):
            async with asyncio.timeout(HEARS_WITHIN.total_seconds()):
                await self._hears.wait()
        await self._upload(wire, spoken)
        self._is_saying = True
        await wire.say(self._room, spoken.text, self._message, self._files)
        self._is_said = True
        if self.is_cancelled:
            await self.cancel()

    async def _upload(self, wire: RoomWire, spoken: Spoken) -> None:
        for name, data in spoken.files[len(self._files) :]:
            self._files.append(await wire.upload(self._room, name, data))

    async def _answers(self, wire: RoomWire, question: str, text: str) -> bool:
        """True once the question has this answer; False where it was answered elsewhere: then these are words as any others."""
        is_repeat, self._is_saying = self._is_saying, True
        try:
            await wire.operator.decide(question, TEXT_CHOICE, text)
        except Refusal:  # after a cut, perhaps since it has it already
            return is_repeat and (await wire.operator.approval(question))["reason"] == text.strip()
        return True

    async def _hear(self, wire: RoomWire) -> None:
        """Tell what is at work. Some of it may be missed: the answer has all of it."""
        while True:
            with suppress(Gone):
                async for event in wire.progress(self._room):
                    self._hears.set()
                    # What was said before is told again to whoever comes: ours begins with a thought.
                    self._is_begun |= self._is_saying and event["kind"] == "thinking"
                    for update in self._telling.progress(event) if self._is_begun else ():
                        await self._tell(update)
            await asyncio.sleep(HEAR_AGAIN.total_seconds())

    async def _follow(self, wire: RoomWire, group: asyncio.TaskGroup) -> None:
        """Until nothing is worked on, and nobody here is asked. Errors: Gone."""
        view = await wire.operator.room(self._room)
        while True:
            await self._tell_answers(wire, view)
            self._ask_open(wire, view, group)
            if self._is_over(view):
                break
            view = await self._changed(wire, view)
        for update in self._telling.over():
            await self._tell(update)

    async def _changed(self, wire: RoomWire, view: View) -> View:
        """The room once it's another, or the same one as soon as something changed here."""
        with suppress(TimeoutError):
            async with asyncio.timeout(None) as self._waiting:
                view = await wire.operator.change(self._room, view["version"])
        return view

    def _look_again(self) -> None:
        if self._waiting and not self._waiting.expired():
            with suppress(RuntimeError):  # it isn't waiting just now, and looks anyway
                self._waiting.reschedule(0)

    def _is_over(self, view: View) -> bool:
        if view["busy"]:
            return False
        return self.is_cancelled or self._left_open or bool(self.asks) or not self._asking

    async def _tell_answers(self, wire: RoomWire, view: View) -> None:
        known = self._known if self._known is not None else set()
        for entry in view["entries"]:
            key = (entry["id"], entry["version"])
            if entry["author"] != "agent" or entry.get("kind") == "approval" or key in known:
                continue
            known.add(key)
            if entry.get("thought"):
                for thought in await wire.thoughts(self._room, entry["id"]):
                    await self._tell(helpers.update_agent_thought_text(thought))
            for update in self._telling.answer(entry):
                await self._tell(update)

    # ------------------------------------------------------------------------------------------------ questions

    def _ask_open(self, wire: RoomWire, view: View, group: asyncio.TaskGroup) -> None:
        """Ask what waits for people, and stop asking what was decided elsewhere."""
        waiting = {question["id"]: question for question in view["approvals"] if question["id"] not in self._before}
        for gone in self._asking.keys() - waiting.keys():
            self._asking.pop(gone).cancel()
        for name in waiting.keys() - self._asking.keys():
            self._asking[name] = group.create_task(self._ask(wire, waiting[name]))

    async def _ask(self, wire: RoomWire, question: View) -> None:
        options = options_of(question)
        if not options:
            self.asks = question["id"]
            await self._tell(helpers.update_agent_message_text(f"\n\n{question['words']}\n\n{say(ANSWER_NEXT)}"))
        else:
            picked = await self._permission(question, options)
            try:
                if picked and await self._decided(wire, question, picked):
                    return
            except Gone:  # it's asked once more when Signalbox is back
                self._asking.pop(question["id"], None)
                self._look_again()
                return
            if self.is_cancelled:
                return
            self._left_open = True
            await self._tell(
                helpers.update_agent_message_text(f"\n\n{say(STAYS_OPEN, question=retold(question['question']))}")
            )
        self._before.add(question["id"])
        self._asking.pop(question["id"], None)
        self._look_again()

    async def _permission(self, question: View, options: list[schema.PermissionOption]) -> str:
        """The button that the editor's user picked; empty where they picked none, or it can't ask."""
        told, call = self._telling.question(question)
        await self._tell(told)
        with suppress(RequestError, ConnectionError, ValidationError):
            outcome = (await self._editor.request_permission(self._room, call, options)).outcome
            return outcome.option_id if isinstance(outcome, schema.AllowedOutcome) else ""
        return ""

    async def _decided(self, wire: RoomWire, question: View, choice: str) -> bool:
        """True if it needs no answer any more. Errors: Gone."""
        allowed = ALLOW_KINDS.get(choice, "allow_once") != "reject_once"
        self._telling.picked(question["id"], allowed=allowed)
        try:
            if choice == ALWAYS_CHOICE:
                await wire.operator.always(question["id"], {one["name"]: one["text"] for one in question["always"]})
            else:
                await wire.operator.decide(question["id"], choice)
        except Refusal:
            self._telling.refused(question["id"])
            return bool((await wire.operator.approval(question["id"]))["state"] != "pending")
        for update in self._telling.settled(question["id"], allowed=allowed):
            await self._tell(update)
        return True

    async def _tell(self, update: Any) -> None:
        with suppress(ConnectionError):  # the editor has left: the work goes on all the same
            await self._editor.session_update(self._room, update)


def options_of(question: View) -> list[schema.PermissionOption]:
    """Buttons for a question; none for one that only words answer."""
    choices: dict[str, str] = {choice: label for choice, label in question["choices"].items() if choice != TEXT_CHOICE}
    if question["always"]:
        choices[ALWAYS_CHOICE] = "Always"
    return [
        schema.PermissionOption(option_id=choice, name=label, kind=ALLOW_KINDS.get(choice, "allow_once"))
        for choice, label in choices.items()
    ]
