"""A model behind the leak guard: it reads nothing that must not leave, and nothing of the kind comes from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from runtime.contract import (
    AssistantTurn,
    Call,
    Model,
    ModelReply,
    ModelRequest,
    OnText,
    Reasoning,
    ToolTurn,
    Turn,
    UserTurn,
)
from runtime.guard.door import Door
from runtime.guard.findings import Gate

GATE_OF_TURN: Final = {
    UserTurn: Gate.MESSAGE_IN,
    AssistantTurn: Gate.MODEL_REPLY,
    ToolTurn: Gate.TOOL_RESULT,
}


class GuardedModel:
    """Implements `contract.Model`. What flows is clean already, but rows of before the guard may hold anything."""

    def __init__(self, model: Model, door: Door) -> None:
        self.name = model.name
        self.model = model
        self._door = door

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        shown = self._door.preview(request.room)
        reply = await self.model.reply(self._asked(request), lambda text: on_text(shown(text)))
        text = self._door.clean(reply.text, Gate.MODEL_REPLY, request.room)
        calls = tuple(self._door.call(call, request.room) for call in reply.calls)
        return replace(reply, text=text, calls=calls, reasoning=self._thought(reply.reasoning, request.room))

    def _asked(self, request: ModelRequest) -> ModelRequest:
        system = self._door.known(request.system, Gate.HANDED_ON, request.room)
        working = self._door.known(request.working, Gate.HANDED_ON, request.room)
        turns = [self._turn(turn, request.room) for turn in request.turns]
        return replace(request, system=system, working=working, turns=turns)

    def _turn(self, turn: Turn, room: str) -> Turn:
        text = self._door.known(turn.text, GATE_OF_TURN[type(turn)], room)
        if isinstance(turn, AssistantTurn) and turn.calls:
            calls = tuple(self._call(call, room) for call in turn.calls)
            return turn if (text, calls) == (turn.text, turn.calls) else replace(turn, text=text, calls=calls)
        return turn if text == turn.text else replace(turn, text=text)

    def _call(self, call: Call, room: str) -> Call:
        arguments = self._door.known(call.arguments, Gate.TOOL_ARGUMENTS, room)
        return call if arguments == call.arguments else replace(call, arguments=arguments)

    def _thought(self, thought: Reasoning | None, room: str) -> Reasoning | None:
        """Thinking without what must not stay. The vendor's own form of it cannot be changed: it is given up then."""
        if thought is None:
            return None
        text = self._door.clean(thought.text, Gate.MODEL_REPLY, room)
        blocks = self._door.guard.check(thought.blocks, Gate.MODEL_REPLY, room).text
        return replace(thought, text=text, blocks=thought.blocks if blocks == thought.blocks else "")
