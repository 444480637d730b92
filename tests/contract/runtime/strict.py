"""A model as strict as the strictest provider: it refuses a history with a call, a result or a role out of place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from bot.testing.scripted import Scripted
from runtime.contract import AssistantTurn, Call, ModelReply, ModelRequest, OnText, ToolTurn, Turn, UserTurn


class Strict(Scripted):
    """A scripted model that checks every request it gets."""

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        faults = list(wrong(request.turns))
        assert not faults, f"a strict provider refuses this history: {faults}\n{list(request.turns)}"
        return await super().reply(request, on_text)


def wrong(turns: Sequence[Turn]) -> Iterator[str]:
    """What a strict provider refuses about `turns`."""
    if not turns or not isinstance(turns[0], UserTurn):
        yield "a user does not speak first"
    if turns and isinstance(turns[-1], AssistantTurn):
        yield "the model's own words are last"
    for before, turn in pairwise([None, *turns]):
        if type(turn) is type(before) and not isinstance(turn, ToolTurn):
            yield f"two turns of one role side by side: {turn}"
        if is_empty(turn):
            yield f"an empty turn: {turn}"
    yield from _unpaired(turns)


def is_empty(turn: Turn | None) -> bool:
    match turn:
        case UserTurn(text) | AssistantTurn(text, ()):
            return not text.strip()
        case _:
            return False


def _unpaired(turns: Sequence[Turn]) -> Iterator[str]:
    """Every call has a result at once behind it, and every result a call at once before it."""
    seen: set[str] = set()
    waiting: set[str] = set()
    for turn in [*turns, UserTurn("the end")]:
        if isinstance(turn, ToolTurn):
            if turn.call_id not in waiting:
                yield f"a result for {turn.call_id!r}, which no call before it waits for"
            waiting.discard(turn.call_id)
            continue
        if waiting:
            yield f"no result for {waiting}"
        calls = [call.id for call in turn.calls] if isinstance(turn, AssistantTurn) else []
        waiting = set(calls)
        if "" in waiting or len(waiting) < len(calls) or waiting & seen:
            yield f"call ids are empty or used twice: {calls}"
        seen |= waiting


class Planned(Strict):
    """Makes the planned calls one answer after another, then says the end; it knows where it is from the history.

    So it may be asked again by any number of processes.
    """

    def __init__(self, *plan: Call | tuple[Call, ...], end: str = "done") -> None:
        super().__init__([])
        self._plan = plan
        self._end = end

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        self._answers = [self._next(request.turns)]
        return await super().reply(request, on_text)

    def _next(self, turns: Sequence[Turn]) -> Call | tuple[Call, ...] | str:
        since = max(n for n, turn in enumerate(turns) if isinstance(turn, UserTurn))
        made = sum(isinstance(turn, AssistantTurn) for turn in turns[since:])
        return self._plan[made] if made < len(self._plan) else self._end
