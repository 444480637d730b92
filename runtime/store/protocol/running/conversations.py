"""Conversations as runs know them: their turns, what was condensed, and what else is so there."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from runtime.chat.views.context import Remembered
from runtime.contract import Address, Person, RunId, SessionKey, SignalId, Turn
from runtime.policy.modes import Mode


class SummaryKind(StrEnum):
    MODEL = "model"  # written by one
    EXTRACT = "extract"  # a line a turn: the model's was of no use
    HANDOFF = "handoff"  # the conversation began anew with it


@dataclass(frozen=True, slots=True)
class Summary:
    """Text that a model reads in place of turns up to number `upto`, in a conversation that began with number `since`.

    `request` is the first one of the conversation, and `facts` what must outlive its turns (JSON, see `context.digest`).
    Sizes are in tokens, as estimated: of what was condensed, and of what it became.
    """

    since: int
    upto: int
    kind: SummaryKind
    text: str
    request: str
    facts: str
    model: str = ""
    tokens_before: int = 0
    tokens_after: int = 0

    @property
    def open(self) -> list[tuple[int, int]]:
        """Numbers of calls behind it that waited when it was made, and of their results: they are read as they are now."""
        return [(call, result) for call, result in json.loads(self.facts or "{}").get("open", ())]


@dataclass(frozen=True, slots=True)
class History:
    """A conversation as a run knows it, from turn `since` on: what was condensed, and the turns after. `numbers` are theirs.

    The first `carried` turns are calls from further back, with their results, that waited when that was condensed, or that the
    model of their run had yet to read. `open` are the numbers of turns whose content may still change, since a call waits
    there, and `unread` those of live runs behind the last words of their own model: others may have spoken since. `runs` and
    `at` tell the run of each turn and when it was said, in microseconds; `before_at` when the one before was that follows those
    carried, 0 for none.
    """

    turns: Sequence[Turn]
    since: int = 0
    numbers: Sequence[int] = ()
    summary: Summary | None = None
    open: frozenset[int] = frozenset()
    runs: Sequence[str] = ()
    at: Sequence[int] = ()
    before_at: int = 0
    carried: int = 0
    unread: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Heard:
    """Words of a conversation that decide about its calls: `outside` are the beginnings of turns that hold a text from
    outside, and `approved` the arguments of calls that people approved."""

    outside: Sequence[str] = ()
    approved: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Counted:
    """Tokens that a vendor counted for a request, and the number of the turn that answered it."""

    tokens: int
    answered_by: int


@dataclass(frozen=True, slots=True)
class WaitingCall:
    """A question that waits, for a line in the agent's dashboard. `whom`: those who alone may decide, where a rule says so."""

    tool: str
    arguments: str
    at: datetime
    requester: str = ""
    whom: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SettledCall:
    """A question that was settled: `state` is the word of what became of it, `by` who said so and `reason` why."""

    tool: str
    arguments: str
    state: str
    at: datetime
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Board:
    """Questions of a conversation: those that wait, oldest first, and the last that were settled, newest first."""

    waiting: tuple[WaitingCall, ...] = ()
    settled: tuple[SettledCall, ...] = ()


NO_BOARD: Final = Board()


@dataclass(frozen=True, slots=True)
class Around:
    """Facts around a run, as of its claim: the zones of its requester and its room, the mode of its conversation, whether
    the room is a private one of somebody, and how many other runs of the session wait for people or go on after that."""

    zone: str = ""
    room_zone: str = ""
    mode: Mode = Mode.NORMAL
    private: bool = False
    parked: int = 0


NOTHING_AROUND: Final = Around()


@dataclass(frozen=True, slots=True)
class Conversed:
    """A conversation as its next message will find it, by the person for whom its newest run worked. `names` are theirs."""

    session: SessionKey
    agent: str
    address: Address
    history: History
    remembered: Remembered
    requester: Person | None
    names: frozenset[str]
    around: Around


@dataclass(frozen=True, slots=True)
class Compacting:
    """A conversation that a person wants condensed, by the command's signal. `run` is where its cost belongs; None without one.

    `asker` is None where nobody knows them any more.
    """

    signal: SignalId
    session: SessionKey
    agent: str
    address: Address
    since: int
    run: RunId | None
    asker: Person | None = None
