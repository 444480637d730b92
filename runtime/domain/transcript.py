"""A transcript that any provider accepts, made from whatever a kill, a cut or a changed setting left behind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Final

from runtime.contract import AssistantTurn, Call, ToolTurn, Turn, UserTurn

WAITING_FOR_APPROVAL: Final = "waiting for approval"
"""The result of a call that people have not decided yet."""

WAITING_FOR_ANSWER: Final = "waiting for an answer"
"""The result of a call that asks a person, until they answer."""

DENIED: Final = "denied: "
ERROR: Final = "error: "
"""How a result begins that says the call did not do what was asked."""

NOT_FINISHED: Final = "Not finished: "
"""How the result of a call begins that was open when its run ended: what goes on after that makes it anew."""

STILL_AT_WORK: Final = "still at work: "
"""How the result of a call begins that is in the hands of other agents."""

YET_TO_READ: Final = "its result follows whole behind this record"
"""Stands in the record of a conversation for the result of a call that the model of its run has not read yet."""

TOLD_LATER: Final = "[from Signalbox] Work that was handed on is over"
"""How a user turn begins that brings what came of work for which nobody waited, behind an empty line."""

NO_ANSWER: Final = "no answer: "
"""How the result of a call begins that asked a person in vain."""

NOT_RUN: Final = " It was not run; do not try the same call again unless you are asked to."
"""How the result of a call ends that a person did not allow: said to the model, not to people."""

CHANGED: Final = "\n\n[from Signalbox] An approver changed this call before it ran: "
"""Stands behind a result, before the name of whoever changed the arguments and the arguments that ran."""

OURS: Final = "[from Signalbox] "
"""How a line in a user turn begins that no person wrote."""

CHANGED_BY: Final = "Changed by "
"""Begins the line of a card for a call with other arguments than its model gave it."""

RECORD_BEGINS: Final = "<record>"
RECORD_ENDS: Final = "</record>"
"""Marks around what is to be summarised, and around the summary."""

NO_RESULT: Final = f"{ERROR}no result was recorded"
EARLIER: Final = UserTurn(f"{OURS}The conversation before this point is not here.")


def repair(turns: Sequence[Turn]) -> list[Turn]:
    """`turns` such that a strict provider accepts them; turns that are right already stay the same objects.

    Each call is followed at once by exactly one result: the first that came for it, wherever it stood, or else
    NO_RESULT. Results of no call and empty turns are dropped, neighbours of one role become one turn, call ids are
    unique, and a user speaks first. Repairing twice changes nothing more.
    """
    spoken = [turn for turn in turns if not _is_empty(turn)]
    if _only_talk(spoken):
        return spoken
    whole = _merged(_paired(spoken))
    return whole if not whole or isinstance(whole[0], UserTurn) else [EARLIER, *whole]


def _only_talk(turns: Sequence[Turn]) -> bool:
    """User and assistant in turns, and no calls: as most conversations are, and nothing to repair."""
    for index, turn in enumerate(turns):
        match turn:
            case UserTurn() if index % 2 == 0:
                continue
            case AssistantTurn(calls=()) if index % 2 == 1:
                continue
            case _:
                return False
    return True


def not_seen(turns: Sequence[Turn]) -> Iterator[UserTurn]:
    """Words of people since the model spoke last, oldest first."""
    since = list(takewhile(lambda turn: not isinstance(turn, AssistantTurn), reversed(turns)))
    return (turn for turn in reversed(since) if isinstance(turn, UserTurn))


def named(turn: UserTurn) -> str:
    """The text with its author in front, for a conversation of several people."""
    name = " ".join(turn.author.translate({ord("["): None, ord("]"): None}).split())
    return f"[{name}] {turn.text}" if name else turn.text


def _is_empty(turn: Turn) -> bool:
    match turn:
        case UserTurn(text):
            return not text.strip()
        case AssistantTurn(text, calls):
            return not calls and not text.strip()
        case ToolTurn():
            return False


# ----------------------------------------------------------------------------------------------- calls and results


@dataclass(slots=True)
class _Asked:
    """An assistant turn, the ids its calls shall have, and the results that came for it, in their order."""

    turn: AssistantTurn
    ids: list[str]
    results: dict[int, ToolTurn] = field(default_factory=dict)

    def take(self, result: ToolTurn) -> bool:
        """Keep `result` for the first of our calls with its id that has none yet."""
        for index, call in enumerate(self.turn.calls):
            if call.id == result.call_id and index not in self.results:
                self.results[index] = result
                return True
        return False

    def turns(self) -> Iterator[Turn]:
        if self.ids == [call.id for call in self.turn.calls]:
            yield self.turn
        else:
            renamed = (replace(call, id=new) for call, new in zip(self.turn.calls, self.ids, strict=True))
            yield replace(self.turn, calls=tuple(renamed))
        for index, result in self.results.items():
            yield result if result.call_id == self.ids[index] else replace(result, call_id=self.ids[index])
        for index, call in enumerate(self.turn.calls):
            if index not in self.results:
                yield ToolTurn(self.ids[index], call.tool, NO_RESULT)


def _paired(turns: Sequence[Turn]) -> Iterator[Turn]:
    """`turns` with every result right behind its call, and no other results."""
    names = _Names(call for turn in turns if isinstance(turn, AssistantTurn) for call in turn.calls)
    kept: list[UserTurn | _Asked] = []
    asked_by_id: dict[str, list[_Asked]] = defaultdict(list)
    for turn in turns:
        match turn:
            case UserTurn():
                kept.append(turn)
            case AssistantTurn():
                asked = _Asked(turn, [names.unique(call.id) for call in turn.calls])
                kept.append(asked)
                for call_id in {call.id for call in turn.calls}:
                    asked_by_id[call_id].append(asked)
            case ToolTurn():
                # The latest turn first: where a provider counts its ids anew each time, a result is for that one.
                any(asked.take(turn) for asked in reversed(asked_by_id[turn.call_id]))
    for item in kept:
        if isinstance(item, UserTurn):
            yield item
        else:
            yield from item.turns()


class _Names:
    """Call ids given out once each; the first call with an id keeps it."""

    def __init__(self, calls: Iterable[Call]) -> None:
        self._taken = {call.id for call in calls}
        self._given: set[str] = set()

    def unique(self, call_id: str) -> str:
        name = call_id
        if not name.strip() or name in self._given:
            name = self._new(name.strip() or "call")
        self._given.add(name)
        return name

    def _new(self, stem: str) -> str:
        number = 2
        while (name := f"{stem}-{number}") in self._taken:
            number += 1
        self._taken.add(name)
        return name


# -------------------------------------------------------------------------------------------------------- neighbours


def _merged(turns: Iterable[Turn]) -> list[Turn]:
    merged: list[Turn] = []
    for turn in turns:
        match merged[-1] if merged else None, turn:
            case UserTurn() as before, UserTurn():
                merged[-1] = _both_said(before, turn)
            case AssistantTurn(calls=()) as before, AssistantTurn():
                merged[-1] = replace(turn, text=_joined(before.text, turn.text))
            case _:
                merged.append(turn)
    return merged


def _both_said(before: UserTurn, after: UserTurn) -> UserTurn:
    """One turn of two. What we add of our own, which has no author, stays with whoever spoke before."""
    files = before.files + after.files
    if before.author == after.author or not after.author:
        return UserTurn(_joined(before.text, after.text), before.author, files)
    return UserTurn(_joined(named(before), named(after)), files=files)


def _joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text.strip())


def changed_before(by: str) -> str:
    """Words behind the result of a call that somebody changed before it was made."""
    return f"{OURS}Before this call was made it was changed by {by}"


def told_as_changed(caution: str) -> str:
    """The same of a call that people were asked about, as its card said it; empty where nobody changed it."""
    return next(
        (changed_before(one.removeprefix(CHANGED_BY)) for one in caution.split("\n\n") if one.startswith(CHANGED_BY)),
        "",
    )
