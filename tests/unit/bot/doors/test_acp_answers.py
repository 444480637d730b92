"""Words of an editor that answer a question: they count once, whatever is cut in between."""

from __future__ import annotations

from typing import Any, cast

import pytest

from bot.doors.acp.blocks import Spoken
from bot.doors.acp.prompting import Prompt
from bot.doors.acp.serving import Serving
from bot.operator.client import Gone
from bot.terminal.room_wire import RoomWire
from runtime.http.errors import Refusal


class Wire:
    """A Signalbox with one question, whose first reply is cut off. `first` is what somebody else answered before."""

    def __init__(self, first: str = "", *, arrives: bool = True) -> None:
        self.answer, self.arrives = first, arrives
        self.said: list[str] = []
        self.cut = False
        self.operator = self

    async def room(self, name: str) -> dict[str, Any]:
        return {"entries": [], "approvals": [{"id": "q"}]}

    async def decide(self, question: str, choice: str, text: str) -> None:
        was, is_first, self.cut = self.answer, not self.cut, True
        if self.arrives or not is_first:
            self.answer = self.answer or text
        if is_first:
            raise Gone("cut")
        if was:
            raise Refusal(409, "It was answered already.")

    async def approval(self, question: str) -> dict[str, Any]:
        return {"state": "answered", "reason": self.answer}

    async def upload(self, room: str, name: str, data: bytes) -> str:
        return f"files/{name}"

    async def say(self, room: str, text: str, message: str, files: list[str]) -> str:
        self.said.append(text)
        return "s"


@pytest.mark.parametrize(
    ("wire", "answer", "said"),
    [
        (Wire(), "blue", []),
        (Wire(arrives=False), "blue", []),
        (Wire("red"), "red", ["blue"]),
    ],
    ids=["it arrived", "it was lost", "others were first"],
)
async def test_an_answer_whose_reply_was_cut_off_is_no_second_message(wire: Wire, answer: str, said: list[str]) -> None:
    prompt = Prompt(cast(Serving, None), cast(Any, None), "room")
    prompt._hears.set()
    with pytest.raises(Gone):
        await prompt._say(cast(RoomWire, wire), Spoken("blue"), "q")
    await prompt._say(cast(RoomWire, wire), Spoken("blue"), "q")
    assert (wire.answer, wire.said) == (answer, said)


async def test_the_files_of_an_answer_come_with_it() -> None:
    wire = Wire()
    wire.cut = True
    prompt = Prompt(cast(Serving, None), cast(Any, None), "room")
    await prompt._say(cast(RoomWire, wire), Spoken("this one", [("plan.txt", b"x")]), "q")
    assert (wire.answer, wire.said) == ("this one\n[attached: files/plan.txt]", [])
